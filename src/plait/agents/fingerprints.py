"""Fingerprints: they recognise a secret in a text, but it can't be read from them.

They are what is kept of a batch's secrets when it has ended. They are made with a key that is stored elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b

from plait.agents.redaction import MIN_SECRET_CHARS, REDACTED
from plait.core.fast_dataclass import dataclass

KEY_BYTES = 32
_START_CHARS = MIN_SECRET_CHARS // 2
_START_BYTES = 2  # enough to rule out nearly every place in a text
_DIGEST_BYTES = 16


@dataclass(frozen=True, slots=True, order=True)
class Fingerprint:
    """Of a text of `length` characters: digests of its beginning and of all of it, in hexadecimal."""

    length: int
    start: str
    digest: str


def make_fingerprints(secrets: Iterable[str], key: bytes) -> tuple[Fingerprint, ...]:
    made = {
        Fingerprint(len(secret), _digest(secret[:_START_CHARS], key, _START_BYTES), _digest(secret, key, _DIGEST_BYTES))
        for secret in secrets
        if len(secret) >= MIN_SECRET_CHARS
    }
    return tuple(sorted(made))


class FingerprintRedactor:
    """Removes the secrets with these fingerprints from a text."""

    def __init__(self, fingerprints: Iterable[Fingerprint], key: bytes) -> None:
        self._key = key
        self._by_start: dict[str, list[Fingerprint]] = {}
        for fingerprint in sorted(fingerprints, reverse=True):  # the longest first
            self._by_start.setdefault(fingerprint.start, []).append(fingerprint)

    def __call__(self, text: str) -> str:
        parts, at = [], 0
        for start, end in self._find(text) if self._by_start else ():
            if start >= at:
                parts += [text[at:start], REDACTED]
                at = end
        return "".join([*parts, text[at:]]) if parts else text

    def _find(self, text: str) -> Iterator[tuple[int, int]]:
        """Every distinct beginning is looked up once; then only places with a known one are compared."""
        beginnings = {text[at : at + _START_CHARS] for at in range(len(text) - MIN_SECRET_CHARS + 1)}
        candidates = {}
        for beginning in beginnings:
            if known := self._by_start.get(_digest(beginning, self._key, _START_BYTES)):
                candidates[beginning] = known
        if not candidates:
            return
        places = re.compile(f"(?={'|'.join(map(re.escape, candidates))})")
        for found in places.finditer(text):
            at = found.start()
            for fingerprint in candidates[text[at : at + _START_CHARS]]:
                end = at + fingerprint.length
                if end <= len(text) and _digest(text[at:end], self._key, _DIGEST_BYTES) == fingerprint.digest:
                    yield at, end
                    break


def _digest(text: str, key: bytes, size: int) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size, key=key).hexdigest()
