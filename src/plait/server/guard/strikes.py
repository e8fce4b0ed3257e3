"""How often each address was wrong of late. Whoever is right is never counted, and never kept waiting."""

from __future__ import annotations

import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable

from starlette.types import Scope

from plait.server.guard.refusal import Refusal
from plait.server.guard.rules import Rules

_ADDRESSES = 1024  # remembered at once; the one that was wrong longest ago is forgotten first


class Strikes:
    def __init__(self, rules: Rules, now: Callable[[], float] = time.monotonic) -> None:
        self._most, self._seconds = rules.wrong, rules.wrong_seconds
        self._now = now
        self._known: OrderedDict[str, deque[float]] = OrderedDict()

    def strike(self, scope: Scope) -> Refusal | None:
        """Somebody was wrong. Too often by now: how long they have to leave it."""
        address, now = _address(scope), self._now()
        times = self._known.setdefault(address, deque())
        self._known.move_to_end(address)
        while len(self._known) > _ADDRESSES:
            self._known.popitem(last=False)
        while times and times[0] <= now - self._seconds:
            times.popleft()
        if len(times) < self._most:
            times.append(now)
            return None
        return _too_often(times[0] + self._seconds - now)

    def __len__(self) -> int:
        return len(self._known)


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


def _too_often(seconds: float) -> Refusal:
    wait = max(1, math.ceil(seconds))
    return Refusal(
        429,
        "too many wrong tokens came from this address",
        hint=f"Wait {wait} s. The right one is let in at any time: plait token.",
        headers=((b"retry-after", str(wait).encode("ascii")),),
    )
