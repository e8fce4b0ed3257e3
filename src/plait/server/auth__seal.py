"""A text that only the holder of a token could have made: until when it is good, a random word, and a signature over both."""

from __future__ import annotations

import hashlib
import hmac
import re
from enum import StrEnum
from secrets import token_hex

from plait.core.fast_dataclass import dataclass

_TOKEN_PATTERN = re.compile(r"([0-9]{1,12})\.([0-9a-f]{32})\.([0-9a-f]{64})", re.ASCII)


class TokenPurpose(StrEnum):
    """What is sealed for one is worth nothing for the other."""

    COOKIE = "cookie"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class SignedToken:
    """`until` in seconds since 1970."""

    expires_at: int
    nonce: str


def sign_token(token: str, purpose: TokenPurpose, expires_at: int) -> str:
    payload = f"{expires_at}.{token_hex(16)}"
    return f"{payload}.{_signature(token, purpose, payload)}"


def verify_token(token: str, purpose: TokenPurpose, text: str) -> SignedToken | None:
    """None unless it was sealed with this token for this purpose. Whether it is still good is the caller's to say."""
    parsed = _TOKEN_PATTERN.fullmatch(text)
    if parsed is None:
        return None
    expires_at, nonce, signature = parsed.groups()
    if not hmac.compare_digest(signature, _signature(token, purpose, f"{expires_at}.{nonce}")):
        return None
    return SignedToken(int(expires_at), nonce)


def _signature(token: str, purpose: TokenPurpose, payload: str) -> str:
    """By a key of its own for each purpose, from which nobody gets back to the token."""
    key = hmac.digest(token.encode("ascii"), f"plait {purpose.value}".encode("ascii"), "sha256")
    return hmac.new(key, payload.encode("ascii"), hashlib.sha256).hexdigest()
