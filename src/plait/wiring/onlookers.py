"""Who else is told what an engine does: messengers and tracers, as the settings say."""

from __future__ import annotations

from collections.abc import Iterator

from plait.config.model import Config
from plait.ports import Onlooker
from plait.wiring import Place


def onlookers(place: Place, config: Config) -> Iterator[Onlooker]:  # noqa: ARG001
    """Those that somebody asked for."""
    yield from ()
