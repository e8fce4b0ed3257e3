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
from plait.core.errors import AgentError, PlaitError, WorldError, describe_error
from plait.core.fast_dataclass import dataclass
from plait.core.reports import Outcome
from plait.core.settings import Isolation
from plait.core.state import BatchState, State
from plait.core.status import Category
from plait.core.task import Attempt, Step
from plait.engine.attempt_inputs import GATE_TASK
from plait.engine.commit_contents import build_author, build_status_restorer
from plait.engine.context import EngineContext
from plait.git.interfaces import CapturedChange, Workspaces
from plait.store.batch_inputs import BatchInputs
from plait.system import log

DISK_CHECK_SECONDS = 60.0  # seconds between two looks at what workspaces take
COMMIT_RETRY_PAUSES = (
    0.5,
    2.0,
    5.0,
    15.0,
)  # seconds before a result that could not be committed is tried again


@dataclass(frozen=True, slots=True)
class ReadyWorkspace:
    """A workspace that is ready. `bare`: it has not been fitted out yet, which its first attempt does."""

    path: str
    needs_setup: bool = False


T = TypeVar("T")
OnReady = Callable[[ReadyWorkspace], None]
OnFailure = Callable[[Exception], None]


class AttemptWorkspaces:
    def __init__(
        self,
        context: EngineContext,
        open_workspaces: Callable[[], Workspaces],
        write_conflict_file: Callable[[AttemptStarted], None],
        *,
        disk_cap: int,
    ) -> None:
        """The workspaces are opened when the first batch needs them. `disk_cap`: bytes that all of them may take."""
        self._open_workspaces = open_workspaces
        self._write_conflict_file = write_conflict_file
        self._cap = disk_cap
        self._measured_at = 0.0
        self.disk_full_reason: str | None = None  # why no more workspaces may be made
        self._workers = context.workers
        self._load_inputs = context.inputs.get_inputs

    @cached_property
    def workspaces(self) -> Workspaces:
        return self._open_workspaces()

    def check_disk_usage(self, now: float) -> None:
        """See what the workspaces take, now and then, if there are any."""
        if "workspaces" in self.__dict__ and now - self._measured_at >= DISK_CHECK_SECONDS:
            self._measured_at = now
            self._workers.submit("disk", self._measure_usage, self._record_usage, _log_failure("any task"))

    def _measure_usage(self) -> int:
        """Those that only wait to be used again go first."""
        if (used := self.workspaces.measure_disk_usage()) > self._cap:
            self.workspaces.trim_pool()
            used = self.workspaces.measure_disk_usage()
        return used

    def _record_usage(self, used: int) -> None:
        mb = 1_000_000
        self.disk_full_reason = (
            f"worktrees take {used // mb:,} of {self._cap // mb:,} MB (workspace.disk_cap); plait gc shows what can go"
            if used > self._cap
            else None
        )

    def path(self, order: AttemptStarted) -> str:
        return self.workspaces.path(order.attempt.batch, order.attempt.task)

    def prepare(self, order: AttemptStarted, begun: str, ready: OnReady, failed: OnFailure) -> None:
        """`begun` is the commit that the task's change is made on."""
        attempt = order.attempt
        self._submit(attempt.batch, attempt.task, lambda: self._prepare_workspace(order, begun), ready, failed)

    def finish(
        self,
        order: AttemptStarted,
        outcome: Outcome,
        report: Callable[[Outcome], None],
    ) -> None:
        """What an attempt left becomes a commit, whatever its end was; what a check left is put back."""
        attempt = order.attempt
        if attempt.step is Step.WRITE:
            self._submit(
                attempt.batch,
                attempt.task,
                lambda: self._capture_result(order, outcome),
                report,
                lambda error: report(_mark_uncommitted(outcome, error)),
            )
        else:
            self._submit(
                attempt.batch,
                attempt.task,
                lambda: self.workspaces.reset(attempt, order.base),
                lambda _: report(outcome),
                lambda error: self._report_despite_error(attempt, error, outcome, report),
            )

    def release_leftovers(self, state: State) -> None:
        """What an earlier engine did not come to give back is given back now."""
        for batch in state.batches.values():
            if batch.settings.isolation is Isolation.WORKTREE:
                self.release_ended(batch)

    def release_ended(self, batch: BatchState) -> None:
        """Whatever the ended tasks of a batch still have, and the batch itself if it has ended too.

        One by one: a task that is taken up again meanwhile waits for its own only, and loses nothing.
        """
        if not Path(self.workspaces.path(batch.id, GATE_TASK)).parent.is_dir():
            return
        for task in batch.tasks:
            if task.status is not None and Path(self.workspaces.path(batch.id, task.task.id)).is_dir():
                self.release(batch.id, task.task.id)
        if batch.ended is not None:
            self._submit(
                batch.id,
                GATE_TASK,
                lambda: self.workspaces.release_gate(batch.id),
                _ignore,
                _log_failure(f"batch {batch.id}"),
            )

    def release(self, batch: str, task: str) -> None:
        self._submit(
            batch,
            task,
            lambda: self.workspaces.release(batch, task),
            _ignore,
            _log_failure(f"{batch} {task}"),
        )

    def _submit(
        self, batch: str, task: str, errand: Callable[[], T], then: Callable[[T], None], failed: OnFailure
    ) -> None:
        self._workers.submit(("workspace", batch, task), errand, then, failed)

    def _prepare_workspace(self, order: AttemptStarted, begun: str) -> ReadyWorkspace:
        """`begun` is the base that the task's change is made on."""
        if order.attempt.task == GATE_TASK:
            return self._prepare_for_gate(order)
        return (
            self._prepare_for_check(order, begun)
            if order.attempt.step is Step.VERIFY
            else self._prepare_for_writing(order)
        )

    def _prepare_for_writing(self, order: AttemptStarted) -> ReadyWorkspace:
        attempt, kit = order.attempt, self._load_inputs(order.attempt.batch)
        self._write_conflict_file(order)
        path = self.workspaces.prepare(attempt.batch, attempt.task, order.base, kit.gear.outfit, top=kit.top)
        return ReadyWorkspace(path, needs_setup=_needs_setup(path, kit))

    def _prepare_for_check(self, order: AttemptStarted, begun: str) -> ReadyWorkspace:
        """The same folder, with exactly what was captured in it; made again if somebody took it away."""
        if not Path(self.path(order)).is_dir():
            self._prepare_for_writing(replace(order, base=begun or order.base))
        self.workspaces.reset(order.attempt, order.base)
        # What its agent changed may ask for another setup.
        return ReadyWorkspace(
            self.path(order),
            needs_setup=_needs_setup(self.path(order), self._load_inputs(order.attempt.batch)),
        )

    def _prepare_for_gate(self, order: AttemptStarted) -> ReadyWorkspace:
        kit = self._load_inputs(order.attempt.batch)
        path = self.workspaces.checkout(order.attempt.batch, order.base, kit.gear.outfit, top=kit.top)
        return ReadyWorkspace(path, needs_setup=_needs_setup(path, kit))

    def _capture_result(self, order: AttemptStarted, outcome: Outcome) -> Outcome:
        kit = self._load_inputs(order.attempt.batch)
        try:
            captured = self._capture_with_retries(order, kit)
        except AgentError as error:  # it left something that is no result, and is told so, as after a check
            if outcome.category is not Category.OK:
                return outcome
            return replace(outcome, category=Category.VERIFY, detail=error.message)
        for path in captured.reverted_sources:
            log.write_line(f"{order.attempt} changed only statuses in {path}: they are plait's to write")
        told = replace(outcome, files=captured.files, diffstat=captured.diffstat)
        if outcome.category is not Category.OK:
            return told
        if captured.empty and not kit.tasks_by_id[order.attempt.task].allow_empty:
            return replace(told, category=Category.EMPTY)
        return replace(told, tip=captured.tip)

    def _capture_with_retries(self, order: AttemptStarted, kit: BatchInputs) -> CapturedChange:
        from plait.git.worktrees.agent_worktree import WorktreeError  # only where there are workspaces
        from plait.git.worktrees.attempt_commit import SigningError  # only where there are workspaces

        take = partial(
            self.workspaces.capture,
            order.attempt,
            order.base,
            build_author(kit, order.attempt),
            build_status_restorer(kit),
            hooks=kit.gear.hooks,
            largest=kit.gear.largest_file,
        )
        for pause in COMMIT_RETRY_PAUSES:
            try:
                return take()
            except (SigningError, WorktreeError):
                raise  # the next try would end as this one
            except WorldError as error:
                log.write_line(f"warning: the result of {order.attempt} can't be committed: {error.message}")
                time.sleep(pause)  # in a thread of its own
        return take()

    def _report_despite_error(
        self, attempt: Attempt, error: Exception, outcome: Outcome, told: Callable[[Outcome], None]
    ) -> None:
        log.write_line(f"warning: what the check {attempt} left can't be put away: {describe_error(error)}")
        told(outcome)


def _needs_setup(path: str, kit: BatchInputs) -> bool:
    from plait.runtime.setup import preparation  # only where there are workspaces

    return preparation.is_setup_needed(Path(path), Path(kit.top), kit.gear.outfit)


def _mark_uncommitted(outcome: Outcome, error: Exception) -> Outcome:
    """The agent did its work, and would be paid for it again: whatever keeps it from being committed is for a person."""
    if outcome.category is not Category.OK:
        log.write_line(f"warning: what a failed attempt left is not committed: {describe_error(error)}")
        return outcome
    way_out = error.hint if isinstance(error, PlaitError) else ""
    said = f"its result could not be committed: {describe_error(error)}; plait gc --list has what is saved of it. {way_out}".strip()
    return replace(outcome, category=Category.USAGE, detail=said)


def _ignore(_: object) -> None:
    pass


def _log_failure(what: str) -> OnFailure:
    return lambda error: log.write_line(
        f"warning: the workspace of {what} stays where it is: {describe_error(error)} (plait gc removes it later)"
    )
