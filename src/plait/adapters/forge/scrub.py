"""What must not be told: secrets, and whatever would steer the place where a message is shown."""

from __future__ import annotations

import re
from collections.abc import Iterable

_USERINFO = re.compile(r"(?<=://)[^/@\s]*(?:@[^/@\s]*)*@")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]+")
_LONGEST = 300
STARS = "***"


def bare(text: str) -> str:
    """Without the names and passwords that URLs may hold."""
    return _USERINFO.sub("", text)


def scrubbed(text: str, secrets: Iterable[str] = ()) -> str:
    """One line of reasonable length, without any of the secrets."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, STARS)
    told = " ".join(_CONTROL.sub(" ", bare(text)).split())
    return told if len(told) <= _LONGEST else f"{told[: _LONGEST - 1]}…"
