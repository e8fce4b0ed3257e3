"""Foresight: which tasks at work would conflict, so that people are warned while there is time. Nothing is decided by it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

from plait.core.errors import WorldError
from plait.core.frozen import dataclass
from plait.core.reports import ConflictCleared, ConflictForeseen, Report
from plait.core.settings import Isolation
from plait.core.state import BatchState, State
from plait.core.task import Step
from plait.engine import log
from plait.engine.hands import Hands
from plait.kit import Kit
from plait.ports import Foreseen, Integrator, Workspaces

PACE = 30.0  # seconds between two looks at a batch
REST = 30  # … or so many times as long as the last look took


@dataclass(frozen=True, slots=True)
class AtWork:
    """A task whose change is not merged yet. `tip` None: its attempt is still writing."""

    task: str
    base: str
    tip: str | None


class Foresight:
    """`state` is read only."""

    def __init__(  # noqa: PLR0913, PLR0917 - its parts
        self,
        state: State,
        workspaces: Callable[[], Workspaces],
        integrator: Callable[[], Integrator],
        hands: Hands,
        kits: Callable[[str], Kit],
        news: Callable[[Report], None],
    ) -> None:
        self._state = state
        self._workspaces = workspaces
        self._integrator = integrator
        self._hands = hands
        self._kits = kits
        self._news = news
        self._next: dict[str, float] = {}

    def look(self, now: float) -> None:
        """Look at each batch that has something to foresee, now and then."""
        self._next = {batch: at for batch, at in self._next.items() if batch in self._state.open}
        for batch in self._state.open.values():
            if batch.settings.isolation is not Isolation.WORKTREE:
                continue
            due = self._next.setdefault(batch.id, now + PACE)
            if now >= due:
                self._next[batch.id] = now + PACE
                self._begin(batch)

    def _begin(self, batch: BatchState) -> None:
        at_work = list(_at_work(batch))
        known = any(task.foreseen for task in batch.tasks)
        moved = any(each.base != batch.head for each in at_work)
        if len(at_work) > 1 or (at_work and moved) or known:
            self._hands.give(
                ("foresight", batch.id),
                partial(self._foresee, batch.id, batch.head, at_work),
                partial(self._tell, batch.id),
                lambda error: log.say(f"warning: conflicts of batch {batch.id} can't be foreseen: {error}"),
            )

    def _foresee(self, batch: str, head: str, at_work: list[AtWork]) -> tuple[float, list[Foreseen]]:
        began = time.monotonic()
        tips = {each.task: (each.base, tip) for each in at_work if (tip := self._tip(batch, each))}
        found = self._integrator().foresee(head, tips, self._kits(batch).gear.blending) if tips else []
        return time.monotonic() - began, found

    def _tip(self, batch: str, each: AtWork) -> str | None:
        """None: it has changed nothing yet, or can't be seen just now."""
        try:
            return each.tip or self._workspaces().glance(batch, each.task, each.base)
        except WorldError:
            return None

    def _tell(self, batch: str, come: tuple[float, list[Foreseen]]) -> None:
        """What is new, and what is over; what is known already is not told again."""
        took, found = come
        self._next[batch] = time.monotonic() + max(PACE, REST * took)
        known = self._state.open.get(batch)
        if known is None:
            return
        now = {(each.left, each.right): each.files for each in found}
        for pair, files in now.items():
            if _known(known, *pair) != files:
                self._news(ConflictForeseen(batch, *pair, files))
        for pair in _pairs(known):
            if pair not in now and pair[::-1] not in now:
                self._news(ConflictCleared(batch, *pair))


def _at_work(batch: BatchState) -> Iterator[AtWork]:
    for place in batch.active:
        task = batch.tasks[place]
        writing = any(name.step is Step.WRITE for name in task.alive)
        to_merge = task.task.entrant is None and task.status is None and not task.merged
        if to_merge and task.base and (writing or task.tip):
            yield AtWork(task.task.id, task.base, None if writing else task.tip)


def _known(batch: BatchState, left: str, right: str) -> tuple[str, ...] | None:
    task = batch.task(left)
    return task.foreseen.get(right) if task is not None else None


def _pairs(batch: BatchState) -> Iterator[tuple[str, str]]:
    """Each once."""
    for task in batch.tasks:
        for other in task.foreseen:
            if not other or task.task.id < other:
                yield task.task.id, other
