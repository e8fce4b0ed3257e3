"""The proxy against real sockets: a server that answers with what it got, and raw requests."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from plait.runtime.sandbox.hosts import parse_host_rule
from plait.runtime.sandbox.proxy import MAX_REPORTED_HOSTS, FilteringProxy

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Address = tuple[str, int]
Send = Callable[[bytes], Awaitable[bytes]]


class Setting:
    """A server, and a proxy that may reach it; `blocked` is what the proxy reported."""

    def __init__(self, port: int, proxy: Address, forward: Address, blocked: list[str]) -> None:
        self.port, self.proxy, self.blocked = port, proxy, blocked
        self.send, self.forward = make_send(proxy), make_send(forward)


def run(check: Callable[[Setting], Awaitable[None]], handler: Handler | None = None, *rules: str) -> None:
    async def main() -> None:
        blocked: list[str] = []
        server = await asyncio.start_server(handler or answer_with_request, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        proxy = FilteringProxy([parse_host_rule(rule) for rule in (f"127.0.0.1:{port}", *rules)], blocked.append)
        listener, forward = socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))
        addresses = [each.getsockname() for each in (listener, forward)]
        async with asyncio.timeout(60), server, proxy.serve(listener, {port: forward}):
            await check(Setting(port, addresses[0], addresses[1], blocked))

    asyncio.run(main())


def make_send(address: Address) -> Send:
    async def send(data: bytes) -> bytes:
        reader, writer = await asyncio.open_connection(*address)
        writer.write(data)
        with suppress(OSError):
            writer.write_eof()
        answer = await reader.read()
        writer.close()
        return answer

    return send


async def answer_with_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
    body = head + await reader.readexactly(length)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nKeep-Alive: 5\r\n\r\n%s" % (len(body), body))
    writer.close()


def test_a_plain_request_reaches_a_listed_host_as_if_sent_directly() -> None:
    async def check(at: Setting) -> None:
        answer = await at.send(
            b"POST http://user:pw@127.0.0.1:%d/a//b?c=1 HTTP/1.1\r\nHost: other.example\r\nContent-Length: 5\r\n"
            b"Proxy-Authorization: x\r\nX-Drop: 1\r\nConnection: x-drop\r\nX-Keep: yes\r\n\r\nhello" % at.port
        )
        assert answer.startswith(b"HTTP/1.1 200 ")
        head, body = answer.partition(b"\r\n\r\n")[2].split(b"\r\n\r\n")
        assert head.startswith(b"POST /a//b?c=1 HTTP/1.1\r\n")
        assert b"Host: 127.0.0.1:%d" % at.port in head
        assert b"X-Keep: yes" in head
        assert not any(word in head for word in (b"other.example", b"Proxy-", b"X-Drop: 1", b"pw"))
        assert body == b"hello"

    run(check)


def test_a_request_with_two_ends_has_one_for_the_host() -> None:
    """Else a host that goes by the other one would take the rest for a second request, which nobody checked."""

    async def check(at: Setting) -> None:
        answer = await at.send(
            b"POST http://127.0.0.1:%d/ HTTP/1.1\r\nHost: x\r\nContent-Length: 60\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"0\r\n\r\nGET / HTTP/1.1\r\nHost: other.example\r\n\r\n" % at.port
        )
        assert b"Transfer-Encoding: chunked" in answer
        assert b"Content-Length: 60" not in answer
        assert b"other.example" not in answer

    run(check)


def test_an_answer_is_passed_on_while_it_is_made() -> None:
    more = asyncio.Event()

    async def stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
        await more.wait()
        writer.write(b"3\r\ntwo\r\n0\r\n\r\n")
        writer.close()

    async def check(at: Setting) -> None:
        reader, writer = await asyncio.open_connection(*at.proxy)
        writer.write(b"GET http://127.0.0.1:%d/ HTTP/1.1\r\nHost: x\r\n\r\n" % at.port)
        await reader.readuntil(b"one")
        more.set()
        assert b"two" in await reader.read()
        writer.close()

    run(check, stream)


def test_a_tunnel_passes_bytes_both_ways() -> None:
    async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.read()).upper())
        writer.close()

    async def check(at: Setting) -> None:
        tunnel = b"CONNECT 127.0.0.1:%d HTTP/1.1\r\nHost: x\r\n\r\n" % at.port
        answer = await at.send(tunnel + b"a tunnel")
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert answer.endswith(b"\r\n\r\nA TUNNEL")
        assert await at.forward(b"a forward") == b"A FORWARD"

    run(check, shout)


@pytest.mark.parametrize(
    ("request_", "host"),
    [
        (b"CONNECT evil.example:443 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "evil.example:443"),
        (b"GET http://evil.example/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "evil.example:80"),
        (b"CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: x\r\n\r\n", "127.0.0.1:1"),
        (b"CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: x\r\n\r\n", "169.254.169.254:80"),
        (b"CONNECT localhost:443 HTTP/1.1\r\nHost: x\r\n\r\n", "localhost:443"),
    ],
)
def test_a_host_that_is_not_listed_is_blocked_and_reported_once(request_: bytes, host: str) -> None:
    async def check(at: Setting) -> None:
        for _ in range(2):
            answer = await at.send(request_)
            assert answer.startswith(b"HTTP/1.1 403 ")
            assert b"blocked: " + host.encode() in answer
        assert at.blocked == [host]

    run(check)


def find_own_address() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect(("192.0.2.1", 9))
        return str(probe.getsockname()[0])
    return "127.0.0.1"  # it has no other


@pytest.mark.parametrize("address", ["127.0.0.1", find_own_address()])
def test_a_listed_name_that_resolves_to_this_machine_is_blocked(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    real = socket.getaddrinfo

    def resolve(host: str, *args: object, **options: object) -> object:
        return real(address if host == "rebound.example" else host, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)

    async def check(at: Setting) -> None:
        answer = await at.send(b"GET http://rebound.example:%d/ HTTP/1.1\r\nHost: x\r\n\r\n" % at.port)
        assert answer.startswith(b"HTTP/1.1 403 ")
        answer = await at.send(b"GET http://rebound.example/ HTTP/1.1\r\nHost: x\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 403 ")
        assert at.blocked[-1] == "rebound.example:80"

    run(check, None, "rebound.example")


def test_reports_of_blocked_hosts_are_limited() -> None:
    async def check(at: Setting) -> None:
        for number in range(MAX_REPORTED_HOSTS + 5):
            await at.send(b"CONNECT h%d.example:443 HTTP/1.1\r\nHost: x\r\n\r\n" % number)
        assert len(at.blocked) == MAX_REPORTED_HOSTS

    run(check)


@pytest.mark.parametrize(
    "request_",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET ftp://a.example/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http://[::1/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT :443 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT a.example:99999 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
        b"GET " + b"a" * 70_000,
    ],
)
def test_what_is_no_request_to_a_proxy_is_answered_with_400(request_: bytes) -> None:
    async def check(at: Setting) -> None:
        assert (await at.send(request_)).startswith(b"HTTP/1.1 4")
        assert at.blocked == []

    run(check)


def test_a_host_that_does_not_answer_is_a_bad_gateway() -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.close()

    async def check(at: Setting) -> None:
        answer = await at.send(b"GET http://127.0.0.1:%d/ HTTP/1.1\r\nHost: x\r\n\r\n" % at.port)
        assert answer.startswith(b"HTTP/1.1 502 ")

    run(check, hang_up)
