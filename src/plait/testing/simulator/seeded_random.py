"""Random numbers as a pure function of a seed and a name, so that they depend on neither timing nor crashes."""

from __future__ import annotations

from hashlib import blake2b
from random import Random

_RANGE = float(1 << 64)


class SeededRandom:
    """Random numbers by name: the same name always gives the same number."""

    __slots__ = ("_key",)

    def __init__(self, seed: int, *names: object) -> None:
        self._key = ":".join(map(str, (seed, *names)))

    def roll(self, *names: object) -> float:
        """Return a number in [0, 1)."""
        text = f"{self._key}:{':'.join(map(str, names))}"
        return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big") / _RANGE

    def happens(self, odds: float, *names: object) -> bool:
        return odds > 0 and self.roll(*names) < odds

    def stream(self, *names: object) -> Random:
        """Return a generator of its own, for many numbers in a fixed order."""
        return Random(f"{self._key}:{':'.join(map(str, names))}")  # noqa: S311 - repeatable on purpose
