"""Chance without a generator: the same names always give the same number, so a replay jitters as the run did."""

from __future__ import annotations

from hashlib import blake2b


def jitter(seed: int, *names: str | int) -> float:
    """A number in [0, 1) that depends on nothing but its arguments."""
    text = "\x00".join(str(part) for part in (seed, *names))
    return int.from_bytes(blake2b(text.encode(), digest_size=7).digest()) / 2**56
