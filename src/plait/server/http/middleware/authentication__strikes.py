"""How often each address was wrong of late. Whoever is right is never counted, and never kept waiting."""

from __future__ import annotations

import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable

from starlette.types import Scope

from plait.server.http.middleware.policy import RequestPolicy
from plait.server.http.middleware.rejections import Rejection

_MAX_ADDRESSES = 1024  # remembered at once; the one that was wrong longest ago is forgotten first


class AuthRateLimiter:
    def __init__(self, policy: RequestPolicy, now: Callable[[], float] = time.monotonic) -> None:
        self._limit, self._seconds = policy.max_auth_failures, policy.auth_failure_seconds
        self._now = now
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()

    def record_failure(self, scope: Scope) -> Rejection | None:
        """Somebody was wrong. Too often by now: how long they have to leave it."""
        address, now = _client_address(scope), self._now()
        times = self._failures.setdefault(address, deque())
        self._failures.move_to_end(address)
        while len(self._failures) > _MAX_ADDRESSES:
            self._failures.popitem(last=False)
        while times and times[0] <= now - self._seconds:
            times.popleft()
        if len(times) < self._limit:
            times.append(now)
            return None
        return _too_many_failures(times[0] + self._seconds - now)

    def __len__(self) -> int:
        return len(self._failures)


def _client_address(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


def _too_many_failures(seconds: float) -> Rejection:
    wait = max(1, math.ceil(seconds))
    return Rejection(
        429,
        "too many wrong tokens came from this address",
        hint=f"Wait {wait} s. The right one is let in at any time: plait token.",
        headers=((b"retry-after", str(wait).encode("ascii")),),
    )
