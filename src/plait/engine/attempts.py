"""Watching what runs: exits become reports, and so do the signs of life in transcripts.

A transcript is read in bounded pieces, now and then, and only when it grew: an agent that prints a lot costs as much as
one that prints little.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import field

from plait.agents.interface import (
    Activity,
    AgentEvent,
    OutputParser,
    PhaseStarted,
    ProviderRefused,
    QuestionAsked,
    SessionStarted,
    SpendUpdated,
)
from plait.agents.retry_after__waits import RetryAfter
from plait.core.decisions import AttemptStarted
from plait.core.fast_dataclass import dataclass
from plait.core.reports import (
    AttemptActive,
    AttemptAsked,
    AttemptExited,
    AttemptLaunched,
    AttemptLost,
    AttemptPhase,
    AttemptSession,
    AttemptUsed,
    Outcome,
    RateLimited,
    Report,
)
from plait.core.task import Attempt
from plait.engine.transcript_reader import TranscriptReader
from plait.system.state_paths import StateFolder

MIN_EXTENSION_SECONDS = 1.0  # seconds: a refusal that lasts hardly longer than what was told is no news
DEFAULT_WAIT_SECONDS = 30.0  # seconds: a tool that waits by itself goes on before long
ACTIVITY_REPORT_SECONDS = (
    60.0  # a sign of life is reported at most so often, and well within the idle timeout
)


@dataclass(frozen=True, slots=True)
class ExitHandler:
    """What follows when an attempt is over. `silent`: nobody is told how it is doing until then."""

    on_exit: Callable[[Outcome], None]
    on_lost: Callable[[str], None]
    is_silent: bool = False


@dataclass(slots=True)
class WatchedAttempt:
    """One attempt that runs, or is about to. `told` is when its last sign of life was reported, by a clock nobody sets."""

    order: AttemptStarted
    workspace: str
    transcript: TranscriptReader
    exit_handler: ExitHandler
    activity_reported_at: float
    peak_memory: int = 0
    refused_until: float = 0.0  # as it was last told
    last_signals: dict[type[AgentEvent], AgentEvent] = field(default_factory=dict)

    @property
    def name(self) -> Attempt:
        return self.order.attempt


class AttemptWatcher:
    """A Witness. `news` takes reports, in the loop's thread."""

    def __init__(self, folder: StateFolder, emit: Callable[[Report], None], *, cap: int) -> None:
        self._folder = folder
        self._emit = emit
        self._cap = cap
        self._running: dict[Attempt, WatchedAttempt] = {}

    @property
    def running(self) -> list[WatchedAttempt]:
        return list(self._running.values())

    def expect(
        self,
        order: AttemptStarted,
        workspace: str,
        listener: OutputParser,
        sequel: ExitHandler | None = None,
    ) -> None:
        """It is about to be started, or was found running: hear its transcript from the beginning."""
        path = self._folder.attempt(order.attempt).transcript
        self._running[order.attempt] = WatchedAttempt(
            order,
            workspace,
            TranscriptReader(path, listener, cap=self._cap),
            sequel or self._build_default_handler(order.attempt),
            time.monotonic(),
        )

    def is_expected(self, attempt: Attempt) -> bool:
        return attempt in self._running

    def on_launched(self, attempt: Attempt, pid: int) -> None:
        watched = self._running.get(attempt)
        if watched is None or not watched.exit_handler.is_silent:
            self._emit(AttemptLaunched(attempt, pid, watched.workspace if watched else ""))

    def on_exited(self, attempt: Attempt, code: int) -> None:
        watched = self._running.pop(attempt, None)
        if watched is not None:
            watched.exit_handler.on_exit(self._read_outcome(watched, code))

    def on_lost(self, attempt: Attempt, why: str) -> None:
        watched = self._running.pop(attempt, None)
        (watched.exit_handler if watched else self._build_default_handler(attempt)).on_lost(why)

    def forget(self, attempt: Attempt) -> None:
        """It is not to be started after all."""
        self._running.pop(attempt, None)

    def poll_transcripts(self, now: float) -> None:
        """Hear what came since the last time."""
        for watched in self._running.values():
            if watched.transcript.check_growth():
                lively = now - watched.activity_reported_at >= min(
                    ACTIVITY_REPORT_SECONDS, watched.order.idle_timeout / 4
                )
                if lively and not watched.exit_handler.is_silent:
                    watched.activity_reported_at = now
                    self._emit(AttemptActive(watched.name))  # first: it means that no question is open
                past = watched.transcript.is_catching_up
                heard = watched.transcript.read_signals()
                for signal in keep_latest(heard) if past else heard:
                    self._report_signal(watched, signal)

    def record_memory(self, attempt: Attempt, size: int) -> None:
        watched = self._running.get(attempt)
        if watched is not None:
            watched.peak_memory = max(watched.peak_memory, size)

    def _build_default_handler(self, attempt: Attempt) -> ExitHandler:
        return ExitHandler(
            lambda outcome: self._emit(AttemptExited(attempt, outcome)),
            lambda why: self._emit(AttemptLost(attempt, why)),
        )

    def _read_outcome(self, watched: WatchedAttempt, code: int) -> Outcome:
        past = watched.transcript.is_catching_up
        heard = watched.transcript.read_remaining()
        for signal in keep_latest(list(heard)) if past else heard:
            self._report_signal(watched, signal)
        return watched.transcript.build_outcome(code, watched.peak_memory)

    def _report_signal(self, watched: WatchedAttempt, signal: AgentEvent) -> None:
        """What was told already is not told again. A wait that is said again is another one: it counts from now."""
        if isinstance(signal, Activity) or watched.exit_handler.is_silent:
            return
        if isinstance(signal, ProviderRefused):
            self._report_rate_limit(watched, _find_wait_end(signal.wait))
        elif watched.last_signals.get(type(signal)) != signal:
            watched.last_signals[type(signal)] = signal
            self._emit(_to_report(watched, signal))

    def _report_rate_limit(self, watched: WatchedAttempt, until: float) -> None:
        if until >= watched.refused_until + MIN_EXTENSION_SECONDS:
            watched.refused_until = until
            self._emit(RateLimited(watched.order.provider, until))


def keep_latest(heard: Sequence[AgentEvent]) -> list[AgentEvent]:
    """Of what was said before this engine came, how things stand now: who refused has taken work since, or the tool has
    ended, and a question is open only if nothing but the line that tells of it came after.
    """
    last = {
        type(signal): signal
        for signal in heard
        if not isinstance(signal, Activity | ProviderRefused | QuestionAsked)
    }
    return [*last.values(), *(signal for signal in heard[-2:] if isinstance(signal, QuestionAsked))]


def _to_report(
    watched: WatchedAttempt, signal: PhaseStarted | SessionStarted | SpendUpdated | QuestionAsked
) -> Report:
    name = watched.name
    match signal:
        case PhaseStarted():
            return AttemptPhase(name, signal.name)
        case SessionStarted():
            return AttemptSession(name, signal.session)
        case SpendUpdated():
            return AttemptUsed(name, signal.spend)
        case QuestionAsked():
            return AttemptAsked(name, signal.question)


def _find_wait_end(wait: RetryAfter) -> float:
    """Counted from now: it is said while the tool runs."""
    now = time.time()
    return max(now + (wait.after or (0.0 if wait.at else DEFAULT_WAIT_SECONDS)), wait.at or 0.0)
