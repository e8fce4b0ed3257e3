"""One connection: requests are read, recorded and answered, or meet their fault."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from itertools import chain, islice
from typing import TYPE_CHECKING, assert_never
from urllib.parse import parse_qs, urlsplit

from tests.support.model_server.faults import Fault, FaultKind, make_refusal
from tests.support.model_server.messages import Json, ReceivedRequest, Reply, Usage
from tests.support.model_server.protocols import find_protocol
from tests.support.model_server.protocols.base import Protocol
from tests.support.model_server.server__addresses import Address, describe_provider, parse_address

from plait.core.fast_dataclass import dataclass

if TYPE_CHECKING:  # it imports this module
    from tests.support.model_server.server__server import _HttpServer

_PIECES_BEFORE_STALL = 3  # pieces of a stream before it stalls


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and what it is answered with."""

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
            case (
                None
                | FaultKind.STATUS
                | FaultKind.LONG
                | FaultKind.QUOTA
                | FaultKind.EMPTY
                | FaultKind.ENDLESS
            ):
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
        """The beginning of an answer; then nothing more, or the end of the connection."""
        if exchange.request.parsed.stream:
            pieces = chain(islice(exchange.pieces(), _PIECES_BEFORE_STALL), self._stall_or_drop(kind))
            self._stream(exchange, pieces)
            return
        whole = exchange.whole()
        self._head(200, "application/json", {"Content-Length": str(len(whole))})
        self.wfile.write(whole[: len(whole) // 2])
        self._hang() if kind is FaultKind.STALL else self._drop()

    def _stall_or_drop(self, kind: FaultKind) -> Iterator[str]:
        """No more pieces, and no end either."""
        self._hang() if kind is FaultKind.STALL else self._drop()
        yield from ()

    def _stream(self, exchange: Exchange, pieces: Iterable[str]) -> None:
        self._head(
            200, exchange.protocol.streams, {"Transfer-Encoding": "chunked", "Cache-Control": "no-cache"}
        )
        for piece in pieces:
            data = piece.encode()
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
            self.wfile.flush()
            if exchange.reply.endless and self.server.closing.wait(self.server.pace):
                return
        if not self.close_connection:
            self.wfile.write(b"0\r\n\r\n")

    def _hang(self) -> None:
        """Until the client or the server leaves."""
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
    """Raises ValueError: a client that sends no JSON is hung up on."""
    found = json.loads(raw or b"{}")
    return found if isinstance(found, dict) else {}


def _read_api_key(headers: Mapping[str, str], path: str) -> str:
    """Each provider's clients have a place of their own for it."""
    bearer = headers.get("authorization", "").removeprefix("Bearer ")
    asked = parse_qs(urlsplit(path).query).get("key", [""])[0]
    return headers.get("x-api-key") or headers.get("x-goog-api-key") or bearer or asked
