"""A text that only the holder of a token could have made: until when it is good, a random word, and a signature over both."""

from __future__ import annotations

import hashlib
import hmac
import re
from enum import StrEnum
from secrets import token_hex

from plait.core.frozen import dataclass

_SHAPE = re.compile(r"([0-9]{1,12})\.([0-9a-f]{32})\.([0-9a-f]{64})", re.ASCII)


class Purpose(StrEnum):
    """What is sealed for one is worth nothing for the other."""

    COOKIE = "cookie"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Sealed:
    """`until` in seconds since 1970."""

    until: int
    nonce: str


def seal(token: str, purpose: Purpose, until: int) -> str:
    said = f"{until}.{token_hex(16)}"
    return f"{said}.{_signature(token, purpose, said)}"


def unseal(token: str, purpose: Purpose, text: str) -> Sealed | None:
    """None unless it was sealed with this token for this purpose. Whether it is still good is the caller's to say."""
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        return None
    until, nonce, signature = shape.groups()
    if not hmac.compare_digest(signature, _signature(token, purpose, f"{until}.{nonce}")):
        return None
    return Sealed(int(until), nonce)


def _signature(token: str, purpose: Purpose, said: str) -> str:
    """By a key of its own for each purpose, from which nobody gets back to the token."""
    key = hmac.digest(token.encode("ascii"), f"plait {purpose.value}".encode("ascii"), "sha256")
    return hmac.new(key, said.encode("ascii"), hashlib.sha256).hexdigest()
