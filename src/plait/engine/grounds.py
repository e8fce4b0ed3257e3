"""Where attempts of batches with worktrees work: prepared before they start, captured when they have ended.

All of it is done by hands, and all of it again after a crash: what was done is found, and not done twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

from plait.core.decisions import AttemptStarted
from plait.core.errors import AgentError, PlaitError, WorldError, in_words
from plait.core.frozen import dataclass
from plait.core.reports import Outcome
from plait.core.settings import Isolation
from plait.core.state import BatchState, State
from plait.core.status import Category
from plait.core.task import Attempt, Step
from plait.engine import log
from plait.engine.hands import Hands
from plait.engine.launch import GATE
from plait.engine.words import author, restore
from plait.kit import Kit
from plait.ports import Captured, Workspaces

MEASURED = 60.0  # seconds between two looks at what workspaces take
PAUSES = (0.5, 2.0, 5.0, 15.0)  # seconds before a result that could not be committed is tried again


@dataclass(frozen=True, slots=True)
class Ground:
    """A workspace that is ready. `bare`: it has not been fitted out yet, which its first attempt does."""

    path: str
    bare: bool = False


T = TypeVar("T")
Kits = Callable[[str], Kit]
Ready = Callable[[Ground], None]
Failed = Callable[[Exception], None]


class Grounds:
    def __init__(  # noqa: PLR0913, PLR0917 - its parts
        self,
        workspaces: Callable[[], Workspaces],
        hands: Hands,
        kits: Kits,
        tell_conflict: Callable[[AttemptStarted], None],
        base_of: Callable[[Attempt], str],
        cap: int,
    ) -> None:
        """`workspaces` are made when the first batch needs them. `cap` is what all of them may take on the disk."""
        self._make = workspaces
        self._cap = cap
        self._measured = 0.0
        self.crowded: str | None = None  # why no other one may be made
        self._tell_conflict = tell_conflict
        self._base_of = base_of
        self._hands = hands
        self._kits = kits

    @cached_property
    def workspaces(self) -> Workspaces:
        return self._make()

    def measure(self, now: float) -> None:
        """See what the workspaces take, now and then, if there are any."""
        if "workspaces" in self.__dict__ and now - self._measured >= MEASURED:
            self._measured = now
            self._hands.give("disk", self._used, self._weigh, _say("any task"))

    def _used(self) -> int:
        """Those that only wait to be used again go first."""
        if (used := self.workspaces.usage()) > self._cap:
            self.workspaces.shrink()
            used = self.workspaces.usage()
        return used

    def _weigh(self, used: int) -> None:
        mb = 1_000_000
        self.crowded = (
            f"worktrees take {used // mb:,} of {self._cap // mb:,} MB (workspace.disk_cap); plait gc shows what can go"
            if used > self._cap
            else None
        )

    def path(self, order: AttemptStarted) -> str:
        return self.workspaces.path(order.attempt.batch, order.attempt.task)

    def prepare(self, order: AttemptStarted, ready: Ready, failed: Failed) -> None:
        attempt = order.attempt
        begun = self._base_of(attempt)
        self._give(attempt.batch, attempt.task, lambda: self._prepared(order, begun), ready, failed)

    def finish(
        self,
        order: AttemptStarted,
        outcome: Outcome,
        told: Callable[[Outcome], None],
    ) -> None:
        """What an attempt left becomes a commit, whatever its end was; what a check left is put back."""
        attempt = order.attempt
        if attempt.step is Step.WRITE:
            self._give(
                attempt.batch,
                attempt.task,
                lambda: self._captured(order, outcome),
                told,
                lambda error: told(_uncommitted(outcome, error)),
            )
        else:
            self._give(
                attempt.batch,
                attempt.task,
                lambda: self.workspaces.put_back(attempt, order.base),
                lambda _: told(outcome),
                lambda error: self._told_anyway(attempt, error, outcome, told),
            )

    def take_over(self, state: State) -> None:
        """What an earlier engine did not come to give back is given back now."""
        for batch in state.batches.values():
            if batch.settings.isolation is Isolation.WORKTREE:
                self.release_ended(batch)

    def release_ended(self, batch: BatchState) -> None:
        """Whatever the ended tasks of a batch still have, and the batch itself if it has ended too.

        One by one: a task that is taken up again meanwhile waits for its own only, and loses nothing.
        """
        if not Path(self.workspaces.path(batch.id, GATE)).parent.is_dir():
            return
        for task in batch.tasks:
            if task.status is not None and Path(self.workspaces.path(batch.id, task.task.id)).is_dir():
                self.release(batch.id, task.task.id)
        if batch.ended is not None:
            self._give(
                batch.id,
                GATE,
                lambda: self.workspaces.release_gate(batch.id),
                _nothing,
                _say(f"batch {batch.id}"),
            )

    def release(self, batch: str, task: str) -> None:
        self._give(
            batch, task, lambda: self.workspaces.release(batch, task), _nothing, _say(f"{batch} {task}")
        )

    def _give(
        self, batch: str, task: str, errand: Callable[[], T], then: Callable[[T], None], failed: Failed
    ) -> None:
        self._hands.give(("workspace", batch, task), errand, then, failed)

    def _prepared(self, order: AttemptStarted, begun: str) -> Ground:
        """`begun` is the base that the task's change is made on."""
        if order.attempt.task == GATE:
            return self._for_gate(order)
        return (
            self._for_check(order, begun) if order.attempt.step is Step.VERIFY else self._for_writing(order)
        )

    def _for_writing(self, order: AttemptStarted) -> Ground:
        attempt, kit = order.attempt, self._kits(order.attempt.batch)
        self._tell_conflict(order)
        path = self.workspaces.prepare(attempt.batch, attempt.task, order.base, kit.gear.outfit, top=kit.top)
        return Ground(path, bare=_bare(path, kit))

    def _for_check(self, order: AttemptStarted, begun: str) -> Ground:
        """The same folder, with exactly what was captured in it; made again if somebody took it away."""
        if not Path(self.path(order)).is_dir():
            self._for_writing(replace(order, base=begun or order.base))
        self.workspaces.put_back(order.attempt, order.base)
        # What its agent changed may ask for another setup.
        return Ground(self.path(order), bare=_bare(self.path(order), self._kits(order.attempt.batch)))

    def _for_gate(self, order: AttemptStarted) -> Ground:
        kit = self._kits(order.attempt.batch)
        path = self.workspaces.checkout(order.attempt.batch, order.base, kit.gear.outfit, top=kit.top)
        return Ground(path, bare=_bare(path, kit))

    def _captured(self, order: AttemptStarted, outcome: Outcome) -> Outcome:
        kit = self._kits(order.attempt.batch)
        try:
            captured = self._capture(order, kit)
        except AgentError as error:  # it left something that is no result, and is told so, as after a check
            if outcome.category is not Category.OK:
                return outcome
            return replace(outcome, category=Category.VERIFY, detail=error.message)
        for path in captured.taken_out:
            log.say(f"{order.attempt} changed only statuses in {path}: they are plait's to write")
        told = replace(outcome, files=captured.files, diffstat=captured.diffstat)
        if outcome.category is not Category.OK:
            return told
        if captured.empty and not kit.by_id[order.attempt.task].allow_empty:
            return replace(told, category=Category.EMPTY)
        return replace(told, tip=captured.tip)

    def _capture(self, order: AttemptStarted, kit: Kit) -> Captured:
        from plait.site.capture import SigningError, WorktreeError  # noqa: PLC0415 - only where there are workspaces

        take = partial(
            self.workspaces.capture,
            order.attempt,
            order.base,
            author(kit, order.attempt),
            restore(kit),
            hooks=kit.gear.hooks,
            largest=kit.gear.largest_file,
        )
        for pause in PAUSES:
            try:
                return take()
            except (SigningError, WorktreeError):
                raise  # the next try would end as this one
            except WorldError as error:
                log.say(f"warning: the result of {order.attempt} can't be committed: {error.message}")
                time.sleep(pause)  # in a thread of its own
        return take()

    def _told_anyway(
        self, attempt: Attempt, error: Exception, outcome: Outcome, told: Callable[[Outcome], None]
    ) -> None:
        log.say(f"warning: what the check {attempt} left can't be put away: {in_words(error)}")
        told(outcome)


def _bare(path: str, kit: Kit) -> bool:
    from plait.site import outfitting  # noqa: PLC0415 - only where there are workspaces

    return outfitting.wanted(Path(path), Path(kit.top), kit.gear.outfit)


def _uncommitted(outcome: Outcome, error: Exception) -> Outcome:
    """The agent did its work, and would be paid for it again: whatever keeps it from being committed is for a person."""
    if outcome.category is not Category.OK:
        log.say(f"warning: what a failed attempt left is not committed: {in_words(error)}")
        return outcome
    way_out = error.hint if isinstance(error, PlaitError) else ""
    said = f"its result could not be committed: {in_words(error)}; plait gc --list has what is saved of it. {way_out}".strip()
    return replace(outcome, category=Category.USAGE, detail=said)


def _nothing(_: object) -> None:
    pass


def _say(what: str) -> Failed:
    return lambda error: log.say(
        f"warning: the workspace of {what} stays where it is: {in_words(error)} (plait gc removes it later)"
    )
