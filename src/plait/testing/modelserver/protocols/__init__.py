"""The protocols, by the address that is asked."""

from __future__ import annotations

import re

from plait.testing.modelserver.protocols.anthropic import Anthropic
from plait.testing.modelserver.protocols.chat import Chat
from plait.testing.modelserver.protocols.gemini import Gemini
from plait.testing.modelserver.protocols.ollama import OllamaChat, OllamaGenerate
from plait.testing.modelserver.protocols.protocol import Protocol
from plait.testing.modelserver.protocols.responses import Responses

__all__ = ["Protocol", "protocol_of"]

_PLACES: tuple[tuple[re.Pattern[str], Protocol], ...] = (
    (re.compile(r"(/v1)*/messages"), Anthropic()),
    (re.compile(r"(/v1)*/chat/completions"), Chat()),
    (re.compile(r"(/v1)*/responses"), Responses()),
    (re.compile(r"/v1(beta|alpha)?/models/[^/]+:(stream)?[gG]enerateContent"), Gemini()),
    (re.compile(r"/api/chat"), OllamaChat()),
    (re.compile(r"/api/generate"), OllamaGenerate()),
)


def protocol_of(path: str) -> Protocol | None:
    """`path` is without tag, faults and query."""
    return next((protocol for place, protocol in _PLACES if place.fullmatch(path)), None)
