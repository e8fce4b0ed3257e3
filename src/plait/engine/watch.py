"""Watching what runs: exits become reports, and so do the signs of life in transcripts.

A transcript is read in bounded pieces, now and then, and only when it grew: an agent that prints a lot costs as much as
one that prints little.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import field

from plait.agents.model import Activity, Asked, Listener, PhaseBegun, Refused, SessionKnown, Signal, Used
from plait.agents.waits import Wait
from plait.core.decisions import AttemptStarted
from plait.core.frozen import dataclass
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
from plait.engine.hearing import Hearing
from plait.site.folder import StateFolder

LATER = 1.0  # seconds: a refusal that lasts hardly longer than what was told is no news
UNSAID = 30.0  # seconds: a tool that waits by itself goes on before long
LIVELY = 60.0  # a sign of life is reported at most so often, and well within the idle timeout


@dataclass(frozen=True, slots=True)
class Sequel:
    """What follows when an attempt is over. `silent`: nobody is told how it is doing until then."""

    exited: Callable[[Outcome], None]
    lost: Callable[[str], None]
    silent: bool = False


@dataclass(slots=True)
class Watched:
    """One attempt that runs, or is about to. `told` is when its last sign of life was reported, by a clock nobody sets."""

    order: AttemptStarted
    workspace: str
    hearing: Hearing
    sequel: Sequel
    told: float
    peak: int = 0
    refused_until: float = 0.0  # as it was last told
    last: dict[type[Signal], Signal] = field(default_factory=dict)

    @property
    def name(self) -> Attempt:
        return self.order.attempt


class Watch:
    """A Witness. `news` takes reports, in the loop's thread."""

    def __init__(self, folder: StateFolder, news: Callable[[Report], None], *, cap: int) -> None:
        self._folder = folder
        self._news = news
        self._cap = cap
        self._running: dict[Attempt, Watched] = {}

    @property
    def running(self) -> list[Watched]:
        return list(self._running.values())

    def expect(
        self,
        order: AttemptStarted,
        workspace: str,
        listener: Listener,
        sequel: Sequel | None = None,
    ) -> None:
        """It is about to be started, or was found running: hear its transcript from the beginning."""
        path = self._folder.attempt(order.attempt).transcript
        self._running[order.attempt] = Watched(
            order,
            workspace,
            Hearing(path, listener, cap=self._cap),
            sequel or self._plain(order.attempt),
            time.monotonic(),
        )

    def expects(self, attempt: Attempt) -> bool:
        return attempt in self._running

    def launched(self, attempt: Attempt, pid: int) -> None:
        watched = self._running.get(attempt)
        if watched is None or not watched.sequel.silent:
            self._news(AttemptLaunched(attempt, pid, watched.workspace if watched else ""))

    def exited(self, attempt: Attempt, code: int) -> None:
        watched = self._running.pop(attempt, None)
        if watched is not None:
            watched.sequel.exited(self._outcome(watched, code))

    def lost(self, attempt: Attempt, why: str) -> None:
        watched = self._running.pop(attempt, None)
        (watched.sequel if watched else self._plain(attempt)).lost(why)

    def drop(self, attempt: Attempt) -> None:
        """It is not to be started after all."""
        self._running.pop(attempt, None)

    def listen(self, now: float) -> None:
        """Hear what came since the last time."""
        for watched in self._running.values():
            if watched.hearing.grew():
                lively = now - watched.told >= min(LIVELY, watched.order.idle_timeout / 4)
                if lively and not watched.sequel.silent:
                    watched.told = now
                    self._news(AttemptActive(watched.name))  # first: it means that no question is open
                past = watched.hearing.past
                heard = watched.hearing.hear()
                for signal in standing(heard) if past else heard:
                    self._tell(watched, signal)

    def weigh(self, attempt: Attempt, size: int) -> None:
        watched = self._running.get(attempt)
        if watched is not None:
            watched.peak = max(watched.peak, size)

    def _plain(self, attempt: Attempt) -> Sequel:
        return Sequel(
            lambda outcome: self._news(AttemptExited(attempt, outcome)),
            lambda why: self._news(AttemptLost(attempt, why)),
        )

    def _outcome(self, watched: Watched, code: int) -> Outcome:
        past = watched.hearing.past
        heard = watched.hearing.hear_the_rest()
        for signal in standing(list(heard)) if past else heard:
            self._tell(watched, signal)
        return watched.hearing.end(code, watched.peak)

    def _tell(self, watched: Watched, signal: Signal) -> None:
        """What was told already is not told again. A wait that is said again is another one: it counts from now."""
        if isinstance(signal, Activity) or watched.sequel.silent:
            return
        if isinstance(signal, Refused):
            self._refuse(watched, _until(signal.wait))
        elif watched.last.get(type(signal)) != signal:
            watched.last[type(signal)] = signal
            self._news(_report(watched, signal))

    def _refuse(self, watched: Watched, until: float) -> None:
        if until >= watched.refused_until + LATER:
            watched.refused_until = until
            self._news(RateLimited(watched.order.provider, until))


def standing(heard: Sequence[Signal]) -> list[Signal]:
    """Of what was said before this engine came, how things stand now: who refused has taken work since, or the tool has
    ended, and a question is open only if nothing but the line that tells of it came after.
    """
    last = {type(signal): signal for signal in heard if not isinstance(signal, Activity | Refused | Asked)}
    return [*last.values(), *(signal for signal in heard[-2:] if isinstance(signal, Asked))]


def _report(watched: Watched, signal: PhaseBegun | SessionKnown | Used | Asked) -> Report:
    name = watched.name
    match signal:
        case PhaseBegun():
            return AttemptPhase(name, signal.name)
        case SessionKnown():
            return AttemptSession(name, signal.session)
        case Used():
            return AttemptUsed(name, signal.spend)
        case Asked():
            return AttemptAsked(name, signal.question)


def _until(wait: Wait) -> float:
    """Counted from now: it is said while the tool runs."""
    now = time.time()
    return max(now + (wait.after or (0.0 if wait.at else UNSAID)), wait.at or 0.0)
