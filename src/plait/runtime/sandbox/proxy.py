"""The way out of a sandbox without network: a forward proxy that reaches listed hosts only.

It handles `CONNECT` and plain HTTP requests, one per connection, and reports which hosts it refused. It resolves names
itself and connects to the address that it checked. A port of this machine that is listed is also forwarded as it is,
for clients that use no proxy for it.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

import h11

from plait.runtime.sandbox.hosts import DEFAULT_PORTS, Address, HostRule, find_rule, parse_address

MAX_CONNECTIONS = 256
MAX_REPORTED_HOSTS = 100  # an agent could fill its log with them
REQUEST_SECONDS = 30.0
CONNECT_SECONDS = 30.0
_CHUNK = 1 << 16
_HOP_HEADERS = frozenset((b"connection", b"keep-alive", b"proxy-connection", b"te", b"upgrade"))
_PROXY_PREFIX = b"proxy-"

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class RefusedError(Exception):
    """A request that isn't passed on, and the answer to it."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class FilteringProxy:
    """A proxy that reaches listed hosts only. `report_blocked` is called once for each `host:port` that is refused."""

    def __init__(self, rules: Sequence[HostRule], report_blocked: Callable[[str], None]) -> None:
        self._rules = rules
        self._report_blocked = report_blocked
        self._blocked: set[str] = set()
        self._free = asyncio.Semaphore(MAX_CONNECTIONS)

    @asynccontextmanager
    async def serve(self, listener: socket.socket, forwards: Mapping[int, socket.socket]) -> AsyncIterator[None]:
        """Serve the proxy, and ports of this machine on listeners of their own, until the context is left."""
        servers = [await asyncio.start_server(self._accept, sock=listener, limit=_CHUNK)]
        for port, forward in forwards.items():
            servers.append(await asyncio.start_server(self._make_forward(port), sock=forward, limit=_CHUNK))
        try:
            yield
        finally:
            for server in servers:
                server.close()

    async def connect(self, host: str, port: int) -> Stream:
        """Connect to a host. Raises RefusedError if it isn't listed, can't be found or doesn't answer."""
        rule = find_rule(self._rules, host, port)
        if rule is None:
            raise self._block(host, port)
        addresses = await _resolve(host, port)
        allowed = [address for address in addresses if _is_allowed(rule, address)]
        if not allowed:
            raise self._block(host, port)
        error: Exception = OSError("no address")
        for address in allowed:
            try:
                return await asyncio.wait_for(asyncio.open_connection(address, port, limit=_CHUNK), CONNECT_SECONDS)
            except (OSError, TimeoutError) as problem:
                error = problem
        raise RefusedError(502, f"can't connect to {host}:{port}: {error}")

    def _block(self, host: str, port: int) -> RefusedError:
        name = f"{host}:{port}"
        if name not in self._blocked and len(self._blocked) < MAX_REPORTED_HOSTS:
            self._blocked.add(name)
            self._report_blocked(name)
        return RefusedError(403, f"blocked: {name}. The sandbox allows listed hosts only; sandbox.hosts adds some.")

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with self._free, _closing(writer):
            client = _HttpStream(h11.SERVER, reader, writer)
            try:
                async with asyncio.timeout(REQUEST_SECONDS):
                    request = await client.read_event()
                if isinstance(request, h11.Request):
                    await self._answer(client, request)
            except RefusedError as refused:
                await client.refuse(refused)
            except h11.ProtocolError as error:
                await client.refuse(RefusedError(400, f"not a valid request: {error}"))

    async def _answer(self, client: _HttpStream, request: h11.Request) -> None:
        if request.method == b"CONNECT":
            host, port = _split_authority(request.target.decode("ascii"))
            upstream = await self.connect(host, port)
            async with _closing(upstream[1]):
                await client.send(h11.Response(status_code=200, headers=[], reason=b"Connection established"))
                upstream[1].write(client.trailing_data)
                await _relay((client.reader, client.writer), upstream)
            return
        authority, path = _split_url(request.target.decode("ascii"))
        reader, writer = await self.connect(*_split_authority(authority, default=80))
        async with _closing(writer):
            await _exchange(client, _HttpStream(h11.CLIENT, reader, writer), _rewrite(request, authority, path))

    def _make_forward(self, port: int) -> Handler:
        async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            async with self._free, _closing(writer):
                for rule in self._rules:
                    if rule.is_local and rule.port == port:
                        with suppress(RefusedError):
                            upstream = await self.connect(rule.host, port)
                            async with _closing(upstream[1]):
                                await _relay((reader, writer), upstream)
                        return

        return forward


class _HttpStream:
    """HTTP/1.1 on a connection, event by event."""

    def __init__(
        self, role: type[h11.CLIENT | h11.SERVER], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.reader, self.writer = reader, writer
        self._protocol = h11.Connection(role)

    @property
    def trailing_data(self) -> bytes:
        """Return the bytes that came after the request: the beginning of a tunnel."""
        return self._protocol.trailing_data[0]

    async def read_event(self) -> h11.Event:
        while (event := self._protocol.next_event()) is h11.NEED_DATA:
            self._protocol.receive_data(await self.reader.read(_CHUNK))
        assert not isinstance(event, type)  # PAUSED: nothing is read after the end of a message
        return event

    async def send(self, event: h11.Event) -> None:
        data = self._protocol.send(event)
        if data:
            self.writer.write(data)
            await self.writer.drain()

    async def refuse(self, refused: RefusedError) -> None:
        """Answer with an error, if nothing was answered yet."""
        if self._protocol.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:
            return
        body = f"{refused.message}\n".encode()
        headers = [("Content-Type", "text/plain"), ("Content-Length", str(len(body))), ("Connection", "close")]
        with suppress(OSError, h11.LocalProtocolError):
            await self.send(h11.Response(status_code=refused.status, headers=headers))
            await self.send(h11.Data(data=body))
            await self.send(h11.EndOfMessage())


def _split_url(text: str) -> tuple[str, str]:
    """Split the address in a plain request into the host with its port, and the rest."""
    with suppress(ValueError):
        url = urlsplit(text)
        if url.scheme == "http" and url.netloc:
            return url.netloc.rpartition("@")[2], (url.path or "/") + (f"?{url.query}" if url.query else "")
    raise RefusedError(400, "this is a proxy: a request needs the whole address, http://host/path")


def _split_authority(text: str, default: int = 443) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or not text.isascii() or not text.isprintable():
        raise RefusedError(400, "the request names no host")
    return host, port or default


async def _resolve(host: str, port: int) -> list[str]:
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, TimeoutError, UnicodeError) as error:
        raise RefusedError(502, f"can't find {host}: {error}") from None
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def _is_allowed(rule: HostRule, text: str) -> bool:
    address = parse_address(text.partition("%")[0])
    if address is None or not rule.allows_address(address):
        return False
    return rule.is_local or parse_address(rule.host) == address or not _is_own_address(address)


def _is_own_address(address: Address) -> bool:
    """Whether this machine has the address: only then does it reach the address from the same one. Nothing is sent for
    that.
    """
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe, suppress(OSError):
        probe.connect((str(address), DEFAULT_PORTS[0]))
        return str(probe.getsockname()[0]) == str(address)
    return False


def _rewrite(request: h11.Request, authority: str, path: str) -> h11.Request:
    """Return the request as the host itself gets it: `Host` is the one that was checked."""
    listed = {name.strip().lower() for value in _values(request, b"connection") for name in value.split(b",")}
    dropped = (_HOP_HEADERS | listed | {b"host"}) - {b"content-length", b"transfer-encoding"}
    if any(True for _ in _values(request, b"transfer-encoding")):
        dropped |= {
            b"content-length"
        }  # otherwise the host may see another end of the request, and a second one after it
    headers = [
        (name, value)
        for name, value in request.headers.raw_items()
        if name.lower() not in dropped and not name.lower().startswith(_PROXY_PREFIX)
    ]
    headers += [(b"Host", authority.encode()), (b"Connection", b"close")]
    return h11.Request(method=request.method, target=path, headers=headers)


def _values(request: h11.Request, header: bytes) -> Iterable[bytes]:
    return (value for name, value in request.headers if name == header)


async def _exchange(client: _HttpStream, server: _HttpStream, request: h11.Request) -> None:
    """Pass a request on and its response back, at the same time: a server may answer before it has read all."""
    await server.send(request)
    sending = asyncio.create_task(_send_body(client, server))
    try:
        while True:
            event = await server.read_event()
            if isinstance(event, h11.ConnectionClosed):
                raise RefusedError(502, "the host closed the connection without an answer")
            await client.send(_prepare_response(event))
            if isinstance(event, h11.EndOfMessage):
                return
    except h11.RemoteProtocolError as error:
        raise RefusedError(502, f"the host's answer is not valid HTTP: {error}") from None
    finally:
        sending.cancel()
        with suppress(asyncio.CancelledError, OSError, h11.ProtocolError):
            await sending


async def _send_body(client: _HttpStream, server: _HttpStream) -> None:
    while True:
        event = await client.read_event()
        await server.send(event)
        if not isinstance(event, h11.Data):
            return


def _prepare_response(event: h11.Event) -> h11.Event:
    if not isinstance(event, h11.Response):
        return event
    headers = [(name, value) for name, value in event.headers.raw_items() if name.lower() not in _HOP_HEADERS]
    return h11.Response(
        status_code=event.status_code, headers=[*headers, (b"Connection", b"close")], reason=event.reason
    )


async def _relay(one: Stream, other: Stream) -> None:
    """Copy bytes both ways until both sides have ended, or one is closed."""
    async with asyncio.TaskGroup() as group:
        group.create_task(_copy(one[0], other[1]))
        group.create_task(_copy(other[0], one[1]))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
    except OSError:
        writer.close()


@asynccontextmanager
async def _closing(writer: asyncio.StreamWriter) -> AsyncIterator[None]:
    """Close a connection at the end. An error in one connection ends no other; it is cancelled when the sandbox has
    ended.
    """
    try:
        with suppress(OSError, TimeoutError, asyncio.CancelledError):
            yield
    finally:
        writer.close()
        with suppress(OSError, asyncio.CancelledError):
            await writer.wait_closed()
