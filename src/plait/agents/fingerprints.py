"""Fingerprints: they recognise a secret in a text, but it can't be read from them.

They replace a batch's secrets when it has ended. They are made with a key that is stored elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from struct import Struct

from plait.agents.redaction import MIN_SECRET_CHARS, REDACTED
from plait.core.fast_dataclass import dataclass

KEY_BYTES = 32
_START = Struct("I")  # as an integer of a memoryview
_START_BYTES = _START.size
_START_DIGEST_BYTES = 2  # enough to rule out nearly every place in a text
_DIGEST_BYTES = 16
_MAX_REMEMBERED = 1 << 18  # beginnings that were looked up


@dataclass(frozen=True, slots=True, order=True)
class Fingerprint:
    """Hexadecimal digests of a secret of `length` bytes: of its beginning (`start`) and of all of it."""

    length: int
    start: str
    digest: str


def make_fingerprints(secrets: Iterable[str], key: bytes) -> tuple[Fingerprint, ...]:
    made = set()
    for secret in secrets:
        if len(secret) >= MIN_SECRET_CHARS:
            data = _encode(secret)
            start = _digest(data[:_START_BYTES], key, _START_DIGEST_BYTES)
            made.add(Fingerprint(len(data), start, _digest(data, key, _DIGEST_BYTES)))
    return tuple(sorted(made))


class FingerprintRedactor:
    """Removes the secrets with these fingerprints from a text."""

    def __init__(self, fingerprints: Iterable[Fingerprint], key: bytes) -> None:
        self._key = key
        self._by_start: dict[str, list[Fingerprint]] = {}
        for fingerprint in sorted(fingerprints, reverse=True):  # the longest first
            self._by_start.setdefault(fingerprint.start, []).append(fingerprint)
        self._unknown: set[int] = set()  # beginnings of no secret

    def __call__(self, text: str) -> str:
        if not self._by_start:
            return text
        data = _encode(text)
        parts, at = [], 0
        for start, end in self._find(data):
            if start >= at:
                parts += [data[at:start], REDACTED.encode()]
                at = end
        return b"".join([*parts, data[at:]]).decode("utf-8", "surrogatepass") if parts else text

    def _find(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Yield the positions of secrets: where a known beginning occurs, the whole is compared."""
        beginnings: set[int] = set()
        for shift in range(_START_BYTES):  # as integers, which is several times faster than slices
            size = (len(data) - shift) // _START_BYTES * _START_BYTES
            beginnings.update(memoryview(data)[shift : shift + max(size, 0)].cast("I"))
        candidates = {}
        for number in beginnings - self._unknown:
            beginning = _START.pack(number)
            if known := self._by_start.get(_digest(beginning, self._key, _START_DIGEST_BYTES)):
                candidates[beginning] = known
            elif len(self._unknown) < _MAX_REMEMBERED:
                self._unknown.add(number)
        if not candidates:
            return
        places = re.compile(b"(?=" + b"|".join(map(re.escape, candidates)) + b")")
        for found in places.finditer(data):
            at = found.start()
            for fingerprint in candidates[data[at : at + _START_BYTES]]:
                end = at + fingerprint.length
                if end <= len(data) and _digest(data[at:end], self._key, _DIGEST_BYTES) == fingerprint.digest:
                    yield at, end
                    break


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _digest(data: bytes, key: bytes, size: int) -> str:
    return blake2b(data, digest_size=size, key=key).hexdigest()
