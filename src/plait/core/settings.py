"""Settings of a batch and of the engine with their defaults, and settings saved by the page or the API as JSON texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from enum import StrEnum
from typing import Self

from plait.core.fast_dataclass import dataclass


class Mode(StrEnum):
    PARALLEL = "parallel"
    QUEUE = "queue"


class Order(StrEnum):
    CRITICAL_PATH = "critical-path"
    QUICK_FIRST = "quick-first"
    FIFO = "fifo"


class SandboxMode(StrEnum):
    """What confines an attempt. AUTO occurs only as a setting: the strongest mode that works on the machine, or none."""

    OFF = "off"
    AUTO = "auto"
    WORKTREE = "worktree"
    STRICT = "strict"
    CONTAINER = "container"


class ExecutorKind(StrEnum):
    """Where attempts run: on this machine, or on the nodes of a Ray cluster."""

    LOCAL = "local"
    RAY = "ray"


class OnConflict(StrEnum):
    SKIP = "skip"
    FAIL = "fail"
    REPAIR = "repair"


class Isolation(StrEnum):
    WORKTREE = "worktree"
    IN_PLACE = "in-place"


class WriteBack(StrEnum):
    """Where a batch's statuses are written into its sources: the user's checkout, the batch branch, both, or nowhere."""

    CHECKOUT = "checkout"
    BRANCH = "branch"
    BOTH = "both"
    OFF = "off"


class Publish(StrEnum):
    """What happens to the batch branch at the end: nothing, a push, a pull request, or a draft pull request."""

    OFF = "off"
    PUSH = "push"
    PR = "pr"
    DRAFT = "draft"


class FileConflicts(StrEnum):
    """Which files keep tasks apart: those declared or named in the text, the declared ones only, or none."""

    INFERRED = "inferred"
    DECLARED = "declared"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Spend:
    """Money in millionths of a dollar (whole numbers add up exactly) and tokens."""

    microusd: int = 0
    tokens: int = 0

    def __add__(self, other: Spend) -> Spend:
        return Spend(self.microusd + other.microusd, self.tokens + other.tokens)

    def __sub__(self, other: Spend) -> Spend:
        return Spend(self.microusd - other.microusd, self.tokens - other.tokens)

    def __bool__(self) -> bool:
        return bool(self.microusd or self.tokens)

    @property
    def is_valid(self) -> bool:
        return self.microusd >= 0 and self.tokens >= 0

    def at_least(self, other: Spend) -> Spend:
        return Spend(max(self.microusd, other.microusd), max(self.tokens, other.tokens))

    def __str__(self) -> str:
        parts = []
        if self.microusd or not self.tokens:
            parts.append(f"${self.microusd / 1e6:.2f}")
        if self.tokens:
            parts.append(f"{self.tokens:,} tokens")
        return " and ".join(parts)


NO_SPEND = Spend()


@dataclass(frozen=True, slots=True)
class Budget:
    """An upper bound; None leaves that side unbounded."""

    microusd: int | None = None
    tokens: int | None = None

    def allows(self, spend: Spend) -> bool:
        money_fits = self.microusd is None or spend.microusd <= self.microusd
        return money_fits and (self.tokens is None or spend.tokens <= self.tokens)

    @property
    def is_valid(self) -> bool:
        return (self.microusd or 0) >= 0 and (self.tokens or 0) >= 0

    def bounded_part(self, spend: Spend) -> Spend:
        """Return the part of a spend that this budget bounds."""
        return Spend(spend.microusd if self.microusd is not None else 0, spend.tokens if self.tokens is not None else 0)

    def __str__(self) -> str:
        return str(Spend(self.microusd or 0, self.tokens or 0))


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long to wait before retrying a transient failure: base x factor^(tries so far), never over cap."""

    base: float = 10.0
    factor: float = 2.0
    cap: float = 900.0
    jitter: float = 0.25

    def delay(self, tries: int, sample: float) -> float:
        """Return the seconds to wait; `sample` in [0, 1) spreads them over [1 - jitter, 1 + jitter) of the plain delay."""
        exponent = min(max(tries, 1) - 1, 64)
        plain = min(self.cap, self.base * self.factor**exponent)
        return plain * (1 + self.jitter * (2 * sample - 1))


class _Patchable:
    __slots__ = ()

    def with_fields(self, other: Self, names: tuple[str, ...]) -> Self:
        """Return these settings with the named fields taken from `other`; names that no longer exist are ignored."""
        unknown = self.unknown_fields(names)
        known = {name: getattr(other, name) for name in names if name not in unknown}
        return replace(self, **known)  # type: ignore[type-var]

    @classmethod
    def unknown_fields(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        known = {field.name for field in fields(cls)}  # type: ignore[arg-type]
        return tuple(name for name in names if name not in known)


@dataclass(frozen=True, slots=True)
class Settings(_Patchable):
    """One batch's settings. `Config.batch_settings` fills the fields by name, from the keys that are spelled alike.

    `agents` serve the tasks that name none; `max_parallel = 0` means no limit.

    `fallback` are the agents that take over while the provider of a task's own ones refuses.
    """

    agents: tuple[str, ...] = ("shell",)
    providers: tuple[tuple[str, str], ...] = ()
    max_parallel: int = 4
    mode: Mode = Mode.PARALLEL
    auto_approve: bool = False
    order: Order = Order.CRITICAL_PATH
    isolation: Isolation = Isolation.WORKTREE
    verify: str | None = None
    gate: str | None = None
    timeout: float = 3600.0
    idle_timeout: float = 1800.0
    verify_timeout: float = 1800.0
    gate_timeout: float = 3600.0
    retries: int = 2
    repairs: int = 2
    backoff: Backoff = Backoff()
    stop_on_fail: bool = False
    on_conflict: OnConflict = OnConflict.SKIP
    phase_gate: float = 0.8
    budget: Budget | None = None
    task_budget: Budget | None = None
    reserve: Spend | None = None
    fallback: tuple[str, ...] = ()
    write_back: WriteBack = WriteBack.CHECKOUT
    publish: Publish = Publish.OFF
    file_conflicts: FileConflicts = FileConflicts.INFERRED
    sandbox: SandboxMode = SandboxMode.OFF  # never AUTO
    executor: ExecutorKind = ExecutorKind.LOCAL

    def provider(self, agent: str) -> str:
        return next((provider for name, provider in self.providers if name == agent), agent)

    def problem(self) -> str | None:
        """Return the first problem of these settings, as a message for people; None if there is none."""
        checks = (
            (bool(self.agents), "agents must name at least one agent"),
            (self.max_parallel >= 0, f"max_parallel must be 0 (no limit) or more, not {self.max_parallel}"),
            (self.retries >= 0, f"retries must be 0 or more, not {self.retries}"),
            (self.repairs >= 0, f"repairs must be 0 or more, not {self.repairs}"),
            (self.timeout > 0, f"timeout must be more than 0, not {self.timeout:g}"),
            (self.idle_timeout > 0, f"idle_timeout must be more than 0, not {self.idle_timeout:g}"),
            (self.verify_timeout > 0, f"verify_timeout must be more than 0, not {self.verify_timeout:g}"),
            (self.gate_timeout > 0, f"gate_timeout must be more than 0, not {self.gate_timeout:g}"),
            (
                self.backoff.base >= 0 and self.backoff.factor >= 1,
                "a backoff must not become shorter each time",
            ),
            (self.budget is None or self.budget.is_valid, "a budget must not be negative"),
            (self.task_budget is None or self.task_budget.is_valid, "a task's budget must not be negative"),
            (self.reserve is None or self.reserve.is_valid, "a reserve must not be negative"),
            (
                self.reserve is None or self.task_budget is None or self.task_budget.allows(self.reserve),
                "a reserve must not be more than a task's budget: no task could start",
            ),
            (0 <= self.phase_gate <= 1, f"phase_gate must lie between 0 and 1, not {self.phase_gate:g}"),
            (
                self.gate is None or self.isolation is Isolation.WORKTREE,
                "a gate runs on the merged result, and in-place batches merge nothing: use worktrees or drop the gate",
            ),
            (
                self.executor is ExecutorKind.LOCAL or self.isolation is Isolation.WORKTREE,
                "an in-place batch works in the checkout of this machine, so it can't run on a cluster: use worktrees",
            ),
        )
        return next((message for holds, message in checks if not holds), None)


@dataclass(frozen=True, slots=True)
class MachineLimits:
    """Limits at which the machine counts as short of something. `max_load`: runnable processes per core; `free_memory`:
    bytes, None for a share of the machine's; `max_memory_stall`: share of the time that work stalls. 0 (and 1 for a
    share): no limit.
    """

    max_load: float = 8.0
    free_memory: int | None = None
    max_memory_stall: float = 0.4


@dataclass(frozen=True, slots=True)
class EngineSettings(_Patchable):
    """Limits over all batches of one engine; 0 means no limit."""

    parallel_limit: int = 4
    agent_limits: tuple[tuple[str, int], ...] = ()

    def agent_limit(self, agent: str) -> int:
        return next((limit for name, limit in self.agent_limits if name == agent), 0)

    def problem(self) -> str | None:
        if self.parallel_limit < 0:
            return f"parallel_limit must be 0 (no limit) or more, not {self.parallel_limit}"
        bad = next(((name, limit) for name, limit in self.agent_limits if limit < 0), None)
        return f"the limit of agent {bad[0]} must be 0 (no limit) or more, not {bad[1]}" if bad else None


MAX_SAVED_SETTINGS = 256  # names
MAX_SAVED_NAME_CHARS = 100  # characters
MAX_SAVED_TEXT_CHARS = 16_384  # characters of one text

# A name and its text; None forgets it.
SavedChanges = Iterable[tuple[str, str | None]]


def merge_saved_settings(saved: Mapping[str, str], changes: SavedChanges) -> dict[str, str]:
    """Return the saved settings after these changes."""
    merged: dict[str, str | None] = {**saved, **dict(changes)}
    return {name: text for name, text in merged.items() if text is not None}


def why_not_save(saved: Mapping[str, str], changes: SavedChanges) -> str | None:
    """Say why these can't be saved: the journal keeps them forever, so their size is limited."""
    wanted = tuple(changes)
    if len(wanted) > MAX_SAVED_SETTINGS or len(merge_saved_settings(saved, wanted)) > MAX_SAVED_SETTINGS:
        return f"no more than {MAX_SAVED_SETTINGS} settings can be saved"
    for name, text in wanted:
        if not 0 < len(name) <= MAX_SAVED_NAME_CHARS:
            return f"the name of a saved setting must have from 1 to {MAX_SAVED_NAME_CHARS} characters"
        if text is not None and len(text) > MAX_SAVED_TEXT_CHARS:
            return f"{name} is too long to be saved: {len(text)} characters, the limit is {MAX_SAVED_TEXT_CHARS}"
    return None


class NotificationKind(StrEnum):
    """What a notification is about. The values are public: `notify.on` and webhooks use them."""

    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TASK_FAILED = "task_failed"
    NEEDS_PERSON = "needs_person"
    LIMIT = "limit"
    UNPUBLISHED = "unpublished"


DEFAULT_NOTIFICATION_KINDS = (
    NotificationKind.FINISHED,
    NotificationKind.FAILED,
    NotificationKind.NEEDS_PERSON,
    NotificationKind.LIMIT,
    NotificationKind.UNPUBLISHED,
)
