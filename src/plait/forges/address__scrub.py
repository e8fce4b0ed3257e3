"""What must not be told: secrets, and whatever would steer the place where a message is shown."""

from __future__ import annotations

import re
from collections.abc import Iterable

_USERINFO = re.compile(r"(?<=://)[^/@\s]*(?:@[^/@\s]*)*@")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]+")
_MAX_LENGTH = 300
MASK = "***"


def strip_userinfo(text: str) -> str:
    """Without the names and passwords that URLs may hold."""
    return _USERINFO.sub("", text)


def redact_line(text: str, secrets: Iterable[str] = ()) -> str:
    """One line of reasonable length, without any of the secrets."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, MASK)
    told = " ".join(_CONTROL.sub(" ", strip_userinfo(text)).split())
    return told if len(told) <= _MAX_LENGTH else f"{told[: _MAX_LENGTH - 1]}…"
