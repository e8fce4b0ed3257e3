"""The server: listens on this machine only, on a port that was free."""

from __future__ import annotations

import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from http.server import ThreadingHTTPServer
from typing import Self

from tests.support.model_server.directives import follow_directives
from tests.support.model_server.faults import Fault, FaultKind, FaultPlan, parse_faults
from tests.support.model_server.messages import ReceivedRequest, Reply, Usage
from tests.support.model_server.server import Handler
from tests.support.model_server.server__addresses import Address, client_prefix

ReplyScript = Callable[[ReceivedRequest], Reply | str]

TIMEOUT_SECONDS = 60.0  # seconds: nothing that comes takes that long
ENDLESS_SECONDS = 0.01  # seconds between two pieces of a text without an end
ANY_CLIENT = ""


class _HttpServer(ThreadingHTTPServer):
    """What the connections of a ModelServer share."""

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
        """By its tag a client meets the faults of its address; by tag, key or as anybody those that were said."""
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
        """A client that goes in the middle is what is tried here; anything else is a defect of this server's."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]  # as it came

    def hang_up(self) -> None:
        """Nobody is left waiting for something that does not come."""
        self.closing.set()
        with self.changed:
            left = list(self._connections)
        for connection in left:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class ModelServer:
    """A scripted provider, from `with` to its end. See the package for how to use it."""

    def __init__(
        self,
        script: ReplyScript = follow_directives,
        *,
        models: Sequence[str] = ("scripted",),
        usage: Usage | None = None,
        port: int = 0,
    ) -> None:
        self._listening = _HttpServer(script, models, usage or Usage(), port)
        # Connections come when threads are there to take them, hence not before `with`.
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
        """All so far, as they came; what a provider says of itself is no request."""
        with self._listening.changed:
            return list(self._listening.requests)

    def requests_from(self, client: str) -> list[ReceivedRequest]:
        """Those with this tag or API key."""
        return [request for request in self.requests if client in {request.tag, request.key}]

    def queue_replies(self, *replies: Reply | str, of: str = ANY_CLIENT) -> None:
        """Queue replies: of a tag or API key, or of whoever asks next and has none of its own."""
        with self._listening.changed:
            self._listening.queues.setdefault(of, deque()).extend(replies)

    def set_faults(self, faults: str, *, of: str = ANY_CLIENT) -> None:
        """From now on this client, or everybody, meets these faults; an empty text ends them."""
        with self._listening.changed:
            self._listening.faults.set_faults(of, parse_faults(faults))

    def wait_until(self, met: Callable[[], bool], patience: float = TIMEOUT_SECONDS) -> None:
        """Wait for requests to come. Raises TimeoutError."""
        deadline = time.monotonic() + patience
        with self._listening.changed:
            while not met():
                if not self._listening.changed.wait(deadline - time.monotonic()):
                    raise TimeoutError(f"waited {patience:.0f} s for a request that did not come")
