"""A web server that records webhooks, and can be down, slow or refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, Event, Thread
from typing import Any

from tests.support.waiting import TIMEOUT_SECONDS


@dataclass(frozen=True)
class WebhookRequest:
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class WebhookReceiver:
    """It answers with `status` once `open` is set. After `down`, `up` uses the same port."""

    port: int = 0
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    requests: list[WebhookRequest] = field(default_factory=list)
    open: Event = field(default_factory=Event)
    _changed: Condition = field(default_factory=Condition)
    _server: _Server | None = None

    def __post_init__(self) -> None:
        self.open.set()
        self.up()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    def up(self) -> None:
        self._server = _Server(("127.0.0.1", self.port), _Handler)
        self._server.receiver = self
        self.port = self._server.server_address[1]
        Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def down(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def close(self) -> None:
        self.open.set()
        self.down()

    def add(self, request: WebhookRequest) -> None:
        with self._changed:
            self.requests.append(request)
            self._changed.notify_all()

    def wait_until(self, found: Callable[[list[WebhookRequest]], bool]) -> list[WebhookRequest]:
        with self._changed:
            assert self._changed.wait_for(lambda: found(self.requests), TIMEOUT_SECONDS), self.requests
            return list(self.requests)

    def wait_for_count(self, count: int) -> list[WebhookRequest]:
        return self.wait_until(lambda requests: len(requests) >= count)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    receiver: WebhookReceiver

    # Any: as in the standard library.
    def handle_error(self, *_: Any) -> None:
        """The sender did not wait for the answer."""


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, _Server)
        receiver, length = self.server.receiver, int(self.headers["Content-Length"])
        receiver.add(WebhookRequest(self.path, dict(self.headers.items()), self.rfile.read(length)))
        receiver.open.wait(TIMEOUT_SECONDS)
        self.send_response(receiver.status)
        for name, value in receiver.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None: ...


@contextmanager
def webhook_receiver() -> Iterator[WebhookReceiver]:
    made = WebhookReceiver()
    try:
        yield made
    finally:
        made.close()
