"""Tells tracers what an engine does, as OpenTelemetry spans. Needs the extra plait[otel]."""

from plait.adapters.tracer.tracer import open_tracer

__all__ = ["open_tracer"]
