"""The server: it listens on this machine only, and records and answers requests, or lets them fail.

The address of a client begins with its tag and its faults: `/as/TAG/with/FAULTS/v1/…`.
"""

from __future__ import annotations

import gzip
import json
import re
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, islice
from typing import Self, assert_never
from urllib.parse import parse_qs, quote, unquote, urlsplit

from plait.core.fast_dataclass import dataclass
from tests.support.model_server.directives import follow_directives
from tests.support.model_server.faults import Fault, FaultKind, FaultPlan, make_refusal, parse_faults
from tests.support.model_server.messages import Json, ReceivedRequest, Reply, Usage
from tests.support.model_server.protocols import find_protocol
from tests.support.model_server.protocols.base import Protocol
from tests.support.waiting import TIMEOUT_SECONDS

ReplyScript = Callable[[ReceivedRequest], Reply | str]


ENDLESS_SECONDS = 0.01  # between two pieces of a text without an end
ANY_CLIENT = ""


class _HttpServer(ThreadingHTTPServer):
    """The state that all connections of a ModelServer share."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, script: ReplyScript, models: Sequence[str], usage: Usage, port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.script, self.models, self.usage, self.pace = script, tuple(models), usage, ENDLESS_SECONDS
        self.closing = threading.Event()
        self.changed = threading.Condition()
        self.faults = FaultPlan()
        self.requests: list[ReceivedRequest] = []
        self.queues: dict[str, deque[Reply | str]] = {}
        self._connections: set[socket.socket] = set()

    def next_fault(self, place: Address, key: str) -> Fault | None:
        """The fault of a request: by the client's tag, else by its key, else that of any client."""
        with self.changed:
            by_tag = self.faults.next_fault(place.tag, place.faults) if place.tag else None
            by_key = self.faults.next_fault(key) if key else None
            return by_tag or by_key or self.faults.next_fault(ANY_CLIENT)

    def record(self, request: ReceivedRequest) -> None:
        with self.changed:
            self.requests.append(request)
            self.changed.notify_all()

    def reply_to(self, request: ReceivedRequest, fault: Fault | None) -> Reply:
        if fault and fault.kind is FaultKind.EMPTY:
            return Reply()
        if fault and fault.kind is FaultKind.ENDLESS:
            return Reply("It goes on ", endless=True)
        found = self._queued(request)
        said = self.script(request) if found is None else found
        return Reply(said) if isinstance(said, str) else said

    def _queued(self, request: ReceivedRequest) -> Reply | str | None:
        with self.changed:
            for client in (request.tag or request.key, request.key, ANY_CLIENT):
                if queue := self.queues.get(client):
                    return queue.popleft()
        return None

    def get_request(self) -> tuple[socket.socket, object]:
        connection, peer = super().get_request()
        with self.changed:
            self._connections.add(connection)
        return connection, peer

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        with self.changed:
            self._connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients may disconnect at any time; other errors are defects of this server."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]  # typeshed is narrower

    def hang_up(self) -> None:
        """Close all connections, so that no client or handler keeps waiting."""
        self.closing.set()
        with self.changed:
            left = list(self._connections)
        for connection in left:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class ModelServer:
    """A scripted provider that runs inside a `with` block. The package says how to use it."""

    def __init__(
        self,
        script: ReplyScript = follow_directives,
        *,
        models: Sequence[str] = ("scripted",),
        usage: Usage | None = None,
        port: int = 0,
    ) -> None:
        self._listening = _HttpServer(script, models, usage or Usage(), port)
        # Started in `with`, when there are threads to take connections.
        self._thread = threading.Thread(target=self._listening.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._listening.shutdown()
        self._thread.join()
        self._listening.hang_up()
        self._listening.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listening.server_address[1]}"

    def client_url(self, tag: str, faults: str = "") -> str:
        """The base address of one client. Its faults are counted by its tag."""
        return self.url + client_prefix(tag, faults)

    @property
    def requests(self) -> list[ReceivedRequest]:
        """All requests to models so far, in order."""
        with self._listening.changed:
            return list(self._listening.requests)

    def requests_from(self, client: str) -> list[ReceivedRequest]:
        """The requests with this tag or API key."""
        return [request for request in self.requests if client in {request.tag, request.key}]

    def queue_replies(self, *replies: Reply | str, of: str = ANY_CLIENT) -> None:
        """Queue replies for a tag or API key, or for any client that has none of its own."""
        with self._listening.changed:
            self._listening.queues.setdefault(of, deque()).extend(replies)

    def set_faults(self, faults: str, *, of: str = ANY_CLIENT) -> None:
        """Let the next requests of this client, or of any client, fail; an empty text ends the faults."""
        with self._listening.changed:
            self._listening.faults.set_faults(of, parse_faults(faults))

    def wait_until(self, met: Callable[[], bool], patience: float = TIMEOUT_SECONDS) -> None:
        """Wait for requests until this holds. Raises TimeoutError."""
        deadline = time.monotonic() + patience
        with self._listening.changed:
            while not met():
                if not self._listening.changed.wait(deadline - time.monotonic()):
                    raise TimeoutError(f"waited {patience:.0f} s for a request that did not come")


_CLIENT_PREFIX = re.compile(r"/as/(?P<tag>[^/]+)(?:/with/(?P<faults>[^/]+))?(?P<rest>/.*|)")


@dataclass(frozen=True, slots=True)
class Address:
    tag: str
    faults: tuple[Fault, ...]
    path: str


def parse_address(asked: str) -> Address:
    """Raises ValueError for an unknown fault."""
    path = urlsplit(asked).path.rstrip("/")
    found = _CLIENT_PREFIX.fullmatch(path)
    if found is None:
        return Address("", (), path)
    faults = parse_faults(unquote(found["faults"])) if found["faults"] else ()
    return Address(unquote(found["tag"]), faults, found["rest"])


def client_prefix(tag: str, faults: str) -> str:
    """The first part of a client's own address."""
    parse_faults(faults)
    return f"/as/{quote(tag, safe='')}" + (f"/with/{quote(faults, safe=':,;=')}" if faults else "")


def describe_provider(path: str, models: Sequence[str], size: int = 0) -> dict[str, object] | str | None:
    """The answer to requests that need no model. `size` is that of a text whose tokens are counted."""
    match re.sub(r"^/v1(?=/)", "", path):
        case "":
            return "Ollama is running"
        case "/models":
            return {"object": "list", "data": [_model_entry(model) for model in models], "has_more": False}
        case "/v1beta/models":
            return {"models": [{"name": f"models/{model}"} for model in models]}
        case "/api/tags":
            return {"models": [{"name": model, "model": model, "size": 1, "details": {}} for model in models]}
        case "/api/version":
            return {"version": "0.12.0"}
        case "/api/ps":
            return {"models": []}
        case "/api/show":
            return {
                "details": {"family": "scripted"},
                "model_info": {},
                "capabilities": ["completion", "tools"],
            }
        case "/messages/count_tokens":
            return {"input_tokens": size // 4 + 1}
        case other if other.endswith(":countTokens"):
            return {"totalTokens": size // 4 + 1}
        case _:
            return None


def _model_entry(model: str) -> dict[str, object]:
    return {
        "id": model,
        "object": "model",
        "type": "model",
        "display_name": model,
        "created": 1_767_225_600,
        "owned_by": "plait",
    }


_PIECES_BEFORE_STALL = 3


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its reply."""

    protocol: Protocol
    request: ReceivedRequest
    reply: Reply
    usage: Usage

    def pieces(self) -> Iterable[str]:
        return self.protocol.stream_reply(self.request, self.reply, self.usage)

    def whole(self) -> bytes:
        return json.dumps(self.protocol.format_reply(self.request, self.reply, self.usage)).encode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _HttpServer

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is http.server's
        """Requests are recorded, not printed."""

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except (OSError, ValueError):  # the client has gone, or the server is being closed
            self.close_connection = True

    def do_HEAD(self) -> None:
        self._send(200, b"", "application/json")

    def do_GET(self) -> None:
        found = describe_provider(parse_address(self.path).path, self.server.models)
        if isinstance(found, str):
            self._send(200, found.encode(), "text/plain")
        else:
            self._json(404 if found is None else 200, found or {"error": f"nothing is at {self.path}"})

    def do_POST(self) -> None:
        raw = self._body()
        place = parse_address(self.path)
        protocol = find_protocol(place.path)
        found = describe_provider(place.path, self.server.models, len(raw))
        if protocol is None:
            known = isinstance(found, dict)
            self._json(
                200 if known else 404,
                found if isinstance(found, dict) else {"error": f"nothing is at {self.path}"},
            )
            return
        self._answer(protocol, place, _parse_object(raw))

    def _answer(self, protocol: Protocol, place: Address, body: Json) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        key = _read_api_key(headers, self.path)
        fault = self.server.next_fault(place, key)
        request = ReceivedRequest(
            protocol=protocol.name,
            path=place.path,
            tag=place.tag,
            key=key,
            parsed=protocol.parse_request(place.path, body),
            body=body,
            headers=headers,
            fault=fault.name if fault else "",
        )
        self.server.record(request)
        refused = make_refusal(fault) if fault else None
        if refused is not None:
            self._json(refused.status, protocol.format_refusal(refused), refused.headers)
            return
        reply = self.server.reply_to(request, fault)
        self._send_exchange(Exchange(protocol, request, reply, reply.usage or self.server.usage), fault)

    def _send_exchange(self, exchange: Exchange, fault: Fault | None) -> None:
        match fault.kind if fault else None:
            case None | FaultKind.STATUS | FaultKind.LONG | FaultKind.QUOTA | FaultKind.EMPTY | FaultKind.ENDLESS:
                self._reply(exchange)
            case FaultKind.HANG:
                self._hang()
            case FaultKind.RESET:
                self._drop()
            case FaultKind.GARBAGE:
                self._send(200, b"<html>this is no answer</html>", "text/html")
            case FaultKind.BROKEN:
                self._stream(exchange, [exchange.protocol.failed_chunk()])
            case FaultKind.CUT | FaultKind.STALL as kind:
                self._send_half(exchange, kind)
            case other:
                assert_never(other)

    def _reply(self, exchange: Exchange) -> None:
        if exchange.request.parsed.stream:
            self._stream(exchange, exchange.pieces())
        elif exchange.reply.endless:
            self._hang()
        else:
            self._send(200, exchange.whole(), "application/json")

    def _send_half(self, exchange: Exchange, kind: FaultKind) -> None:
        """Send the beginning of a reply; then stall or close the connection."""
        if exchange.request.parsed.stream:
            pieces = chain(islice(exchange.pieces(), _PIECES_BEFORE_STALL), self._stall_or_drop(kind))
            self._stream(exchange, pieces)
            return
        whole = exchange.whole()
        self._head(200, "application/json", {"Content-Length": str(len(whole))})
        self.wfile.write(whole[: len(whole) // 2])
        self._hang() if kind is FaultKind.STALL else self._drop()

    def _stall_or_drop(self, kind: FaultKind) -> Iterator[str]:
        """Stall or close the connection instead of sending more pieces."""
        self._hang() if kind is FaultKind.STALL else self._drop()
        yield from ()

    def _stream(self, exchange: Exchange, pieces: Iterable[str]) -> None:
        self._head(200, exchange.protocol.streams, {"Transfer-Encoding": "chunked", "Cache-Control": "no-cache"})
        for piece in pieces:
            data = piece.encode()
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
            self.wfile.flush()
            if exchange.reply.endless and self.server.closing.wait(self.server.pace):
                return
        if not self.close_connection:
            self.wfile.write(b"0\r\n\r\n")

    def _hang(self) -> None:
        """Wait until the client disconnects or the server closes."""
        self.close_connection = True
        self.connection.settimeout(0.1)
        while not self.server.closing.is_set():
            try:
                if not self.connection.recv(1):
                    return
            except TimeoutError:
                continue

    def _drop(self) -> None:
        self.close_connection = True
        self.wfile.flush()
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _json(self, status: int, data: object, headers: Mapping[str, str] | None = None) -> None:
        self._send(status, json.dumps(data).encode(), "application/json", headers)

    def _send(self, status: int, data: bytes, kind: str, headers: Mapping[str, str] | None = None) -> None:
        self._head(status, kind, {"Content-Length": str(len(data)), **(headers or {})})
        self.wfile.write(data)

    def _head(self, status: int, kind: str, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            raw = b"".join(iter(self._chunk, b""))
        else:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return gzip.decompress(raw) if self.headers.get("Content-Encoding") == "gzip" else raw

    def _chunk(self) -> bytes:
        size = int(self.rfile.readline().split(b";")[0], 16)
        data = self.rfile.read(size)
        self.rfile.readline()
        return data


def _parse_object(raw: bytes) -> Json:
    """Raises ValueError for what is not JSON; the connection is then closed."""
    found = json.loads(raw or b"{}")
    return found if isinstance(found, dict) else {}


def _read_api_key(headers: Mapping[str, str], path: str) -> str:
    """The API key; each provider has another place for it."""
    bearer = headers.get("authorization", "").removeprefix("Bearer ")
    asked = parse_qs(urlsplit(path).query).get("key", [""])[0]
    return headers.get("x-api-key") or headers.get("x-goog-api-key") or bearer or asked
