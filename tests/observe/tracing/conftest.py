from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span


class TraceReceiver:
    """Whoever receives OTLP over HTTP, on this machine. `status` is what it answers; `deaf`: it never does."""

    def __init__(self) -> None:
        self.status = 200
        self.deaf = False
        self.asked = 0
        self.got: list[ResourceSpans] = []
        self.headers: list[dict[str, str]] = []
        self._end = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def spans(self) -> list[Span]:
        return [span for each in self.got for scope in each.scope_spans for span in scope.spans]

    def close(self) -> None:
        self._end.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(receiver) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - `self` is the handler's
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                receiver.asked += 1
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if receiver.deaf:
                    receiver._end.wait(60)
                    return
                if receiver.status == 200:
                    assert self.path == "/v1/traces"
                    data = gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body
                    receiver.got += ExportTraceServiceRequest.FromString(data).resource_spans
                    receiver.headers.append(dict(self.headers))
                self.send_response(receiver.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        return Handler


@pytest.fixture
def receiver() -> Iterator[TraceReceiver]:
    made = TraceReceiver()
    yield made
    made.close()
