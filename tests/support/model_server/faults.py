"""Faults of a provider, and which clients they affect.

A fault is written `KIND[:TIMES][;after=SECONDS]`: `429:2` refuses twice, `401` always, `429;after=5` with a Retry-After.
Several in a row: `429:2,500:1`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from http import HTTPStatus

from plait.core.fast_dataclass import dataclass


class FaultKind(StrEnum):
    STATUS = "status"  # an HTTP status
    LONG = "long"  # the prompt is too long
    QUOTA = "quota"  # the quota is used up
    HANG = "hang"  # no reply
    STALL = "stall"  # a reply that stops in the middle, with the connection open
    CUT = "cut"  # the connection is closed in the middle of a reply
    RESET = "reset"  # the connection is closed without a reply
    EMPTY = "empty"  # a reply without text
    GARBAGE = "garbage"  # a reply that is no JSON
    BROKEN = "broken"  # a stream that reports an error
    ENDLESS = "endless"  # a reply that never ends


@dataclass(frozen=True, slots=True)
class Fault:
    """`times` None: always. `after`: the seconds of a Retry-After."""

    kind: FaultKind
    status: int = 0
    times: int | None = None
    after: float | None = None

    @property
    def name(self) -> str:
        return str(self.status) if self.kind is FaultKind.STATUS else self.kind.value


_SPEC = re.compile(r"(?P<kind>\d{3}|[a-z]+)(?::(?P<times>\d+))?(?:;after=(?P<after>[\d.]+))?")
_STATUSES = {FaultKind.LONG: HTTPStatus.BAD_REQUEST, FaultKind.QUOTA: HTTPStatus.TOO_MANY_REQUESTS}
_MESSAGES = {
    400: "this request can't be understood",
    401: "Incorrect API key provided",
    403: "this key may not use this model",
    404: "there is no such model",
    429: "Rate limit reached for requests",
    500: "the server had an error",
    503: "the service is unavailable",
    529: "Overloaded",
}


def parse_faults(text: str) -> tuple[Fault, ...]:
    """Raises ValueError."""
    return tuple(_parse_fault(part) for part in text.split(",") if part)


def _parse_fault(text: str) -> Fault:
    found = _SPEC.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no fault; write KIND[:TIMES][;after=SECONDS]")
    said = found["kind"]
    kind = FaultKind.STATUS if said.isdigit() else FaultKind(said)
    times = int(found["times"]) if found["times"] else None
    after = float(found["after"]) if found["after"] else None
    return Fault(kind, int(said) if kind is FaultKind.STATUS else _STATUSES.get(kind, 0), times, after)


class FaultPlan:
    """Faults by client. Each client has its own count."""

    def __init__(self) -> None:
        self._planned: dict[str, tuple[Fault, ...]] = {}
        self._counts: dict[str, int] = {}

    def set_faults(self, client: str, faults: tuple[Fault, ...]) -> None:
        """Set the faults of a client and restart its count."""
        self._planned[client] = faults
        self._counts.pop(client, None)

    def next_fault(self, client: str, faults: tuple[Fault, ...] = ()) -> Fault | None:
        """The fault of this client's next request; `faults` of its address apply if none were set."""
        row = self._planned.get(client, faults)
        met = self._counts.get(client, 0)
        self._counts[client] = met + 1
        for fault in row:
            if fault.times is None or met < fault.times:
                return fault
            met -= fault.times
        return None


@dataclass(frozen=True, slots=True)
class Refusal:
    """The error response to a request."""

    status: int
    message: str
    kind: FaultKind
    after: float | None

    @property
    def headers(self) -> Mapping[str, str]:
        return {} if self.after is None else {"Retry-After": f"{self.after:g}"}


def make_refusal(fault: Fault) -> Refusal | None:
    """None: this fault is no refusal."""
    if not fault.status:
        return None
    return Refusal(fault.status, _message(fault), fault.kind, fault.after)


def _message(fault: Fault) -> str:
    match fault.kind:
        case FaultKind.LONG:
            return "prompt is too long: 250011 tokens > 200000 maximum context length"
        case FaultKind.QUOTA:
            return "You exceeded your current quota, please check your plan and billing details"
        case _:
            return _MESSAGES.get(fault.status, f"scripted status {fault.status}")
