"""Who else is told what an engine does: messengers and tracers, as the settings say."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from plait import __version__
from plait.config.model import Config
from plait.engine import log
from plait.ports import Onlooker
from plait.wiring import Place
from plait.wiring.messages import messenger, somebody

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


def onlookers(place: Place, config: Config, journal: str) -> Iterator[Onlooker]:
    """Those that somebody asked for. `journal` is the journal's id."""
    if config.engine.traces or _standard_traces(os.environ):
        yield _tracer(place, config.engine.traces, journal)
    if somebody(config):
        yield messenger(place, config, journal, log.say)


def _tracer(place: Place, url: str | None, journal: str) -> Onlooker:
    from plait.adapters.tracer import open_tracer  # noqa: PLC0415 - few engines have one

    return open_tracer(place.state, journal, url, __version__, log.say)


def _standard_traces(variables: Mapping[str, str]) -> bool:
    """Whether OpenTelemetry's own variables ask for traces."""
    off = variables.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    none = variables.get("OTEL_TRACES_EXPORTER", "").strip().lower() == "none"
    named = any(variables.get(name, "").strip() for name in _ENDPOINTS)
    return named and not (off or none)
