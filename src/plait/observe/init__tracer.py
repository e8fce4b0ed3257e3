"""Tells tracers what an engine does, as OpenTelemetry spans. Needs the extra plait[otel]."""

from plait.observe.tracing__tracer import open_tracer

__all__ = ["open_tracer"]
