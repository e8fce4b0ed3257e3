"""Export spans over OTLP with OpenTelemetry's SDK."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    SpanContext,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from plait.observe.spans import Span

NAME = "plait"
_SAMPLED = TraceFlags(TraceFlags.SAMPLED)
_LOGGER = "opentelemetry"


class OtlpExporter:
    """Sends spans. `url` None: OpenTelemetry's variables say where to send, with which headers and certificates."""

    def __init__(self, url: str | None, version: str, about: Mapping[str, str]) -> None:
        self._last_warning = _capture_warnings()
        self._exporter = OTLPSpanExporter(endpoint=url)
        self._ids = _FixedIds()
        self._made: list[ReadableSpan] = []
        provider = TracerProvider(
            sampler=ALWAYS_ON,
            resource=_build_resource({**about, "service.version": version}),
            id_generator=self._ids,
            shutdown_on_exit=False,
        )
        provider.add_span_processor(_SpanCollector(self._made))
        self._tracer = provider.get_tracer(NAME, version)

    def send(self, spans: Sequence[Span]) -> str | None:
        """Send spans; return None if they were delivered, else why not."""
        self._made.clear()
        for span in spans:
            self._make_span(span)
        self._last_warning.last = ""
        if self._exporter.export(self._made) is SpanExportResult.SUCCESS:
            return None
        return self._last_warning.last or "they were refused"

    def close(self) -> None:
        """Make a running `send` give up soon."""
        self._exporter.shutdown()  # type: ignore[no-untyped-call]  # the SDK says no types here

    def _make_span(self, span: Span) -> None:
        self._ids.trace, self._ids.span = span.trace, span.id
        parent = Context() if span.parent is None else _build_parent_context(span.trace, span.parent)
        made = self._tracer.start_span(
            span.name,
            parent,
            attributes=dict(span.attributes),
            links=[Link(_build_span_context(span.trace, link)) for link in span.links],
            start_time=_to_nanoseconds(span.start),
        )
        if span.error is not None:
            made.set_status(Status(StatusCode.ERROR, span.error))
        made.end(_to_nanoseconds(span.end))


class _FixedIds(IdGenerator):
    """Derives ids from names: a span that is sent twice is the same span."""

    trace = span = 1

    def generate_trace_id(self) -> int:
        return self.trace

    def generate_span_id(self) -> int:
        return self.span


class _SpanCollector(SpanProcessor):
    def __init__(self, made: list[ReadableSpan]) -> None:
        self._made = made

    def on_end(self, span: ReadableSpan) -> None:
        self._made.append(span)


class _LastWarning(logging.Handler):
    """Keeps the last warning, because the SDK reports errors only to its logger."""

    last = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.last = record.getMessage()


def _capture_warnings() -> _LastWarning:
    """Capture the SDK's warnings, which would go to standard error, the engine's log."""
    handler = _LastWarning(logging.WARNING)
    logger = logging.getLogger(_LOGGER)
    logger.handlers, logger.propagate = [handler], False
    return handler


def _build_resource(about: Mapping[str, str]) -> Resource:
    """Build the resource; OpenTelemetry's variables take precedence over plait's own attributes."""
    configured = Resource.create()
    unnamed = str(configured.attributes.get(SERVICE_NAME, "")).startswith("unknown_service")
    resource = Resource({**about, SERVICE_NAME: NAME}).merge(configured)
    return resource.merge(Resource({SERVICE_NAME: NAME})) if unnamed else resource


def _build_span_context(trace: int, span: int) -> SpanContext:
    return SpanContext(trace, span, is_remote=True, trace_flags=_SAMPLED)


def _build_parent_context(trace: int, span: int) -> Context:
    return set_span_in_context(NonRecordingSpan(_build_span_context(trace, span)), Context())


def _to_nanoseconds(at: float) -> int:
    return max(0, round(at * 1e9))
