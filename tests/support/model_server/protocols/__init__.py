"""The protocols, by the address that is asked."""

from __future__ import annotations

import re

from tests.support.model_server.protocols.anthropic import Anthropic
from tests.support.model_server.protocols.base import Protocol
from tests.support.model_server.protocols.chat import Chat
from tests.support.model_server.protocols.gemini import Gemini
from tests.support.model_server.protocols.ollama import OllamaChat, OllamaGenerate
from tests.support.model_server.protocols.responses import Responses

__all__ = ["Protocol", "find_protocol"]

_ROUTES: tuple[tuple[re.Pattern[str], Protocol], ...] = (
    (re.compile(r"(/v1)*/messages"), Anthropic()),
    (re.compile(r"(/v1)*/chat/completions"), Chat()),
    (re.compile(r"(/v1)*/responses"), Responses()),
    (re.compile(r"/v1(beta|alpha)?/models/[^/]+:(stream)?[gG]enerateContent"), Gemini()),
    (re.compile(r"/api/chat"), OllamaChat()),
    (re.compile(r"/api/generate"), OllamaGenerate()),
)


def find_protocol(path: str) -> Protocol | None:
    """`path` is without tag, faults and query."""
    return next((protocol for place, protocol in _ROUTES if place.fullmatch(path)), None)
