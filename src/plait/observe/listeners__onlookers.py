"""Who else is told what an engine does: messengers and tracers, as the settings say."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from plait import __version__
from plait.config.config import Config
from plait.git.location import RepoLocation
from plait.observe.listeners import has_receivers, open_notifier
from plait.store.interfaces import RecordListener
from plait.system import log

_OTEL_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


def open_listeners(place: RepoLocation, config: Config, journal: str) -> Iterator[RecordListener]:
    """Those that somebody asked for. `journal` is the journal's id."""
    if config.engine.traces or _is_otel_enabled(os.environ):
        yield _open_configured_tracer(place, config.engine.traces, journal)
    if has_receivers(config):
        yield open_notifier(place, config, journal, log.write_line)


def _open_configured_tracer(place: RepoLocation, url: str | None, journal: str) -> RecordListener:
    from plait.observe.tracing__tracer import open_tracer  # noqa: PLC0415 - few engines have one

    return open_tracer(place.state, journal, url, __version__, log.write_line)


def _is_otel_enabled(variables: Mapping[str, str]) -> bool:
    """Whether OpenTelemetry's own variables ask for traces."""
    off = variables.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    none = variables.get("OTEL_TRACES_EXPORTER", "").strip().lower() == "none"
    named = any(variables.get(name, "").strip() for name in _OTEL_ENDPOINTS)
    return named and not (off or none)
