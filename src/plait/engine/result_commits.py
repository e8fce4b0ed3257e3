"""Committing what finished attempts left in their workspaces.

The end of an attempt is reported with the commit of its result. If committing fails or takes long, the end is reported
without it; then the core decides when to commit, and the commit is reported on its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from plait.core import reports
from plait.core.decisions import AttemptStarted, CommitStarted
from plait.core.errors import AgentError, PlaitError, describe_error, format_with_hint
from plait.core.fast_dataclass import dataclass
from plait.core.status import Category
from plait.core.task import Attempt
from plait.engine.context import EngineContext
from plait.engine.merge_queue import build_commit_info
from plait.git.interfaces import CapturedChange
from plait.runtime.executor import AttemptWorkspaces, CaptureSpec
from plait.system import log

MAX_EXIT_DELAY_SECONDS = 5.0  # an exit is reported after this time, whether or not its result is committed


@dataclass(slots=True)
class Capture:
    """A result that is being committed. `outcome` is the agent's.

    `is_exit_reported`: the core knows that the attempt has ended. `n` is then the number of the commit that the core
    decided on (None until that is performed), and `report` makes the report to send then. `began` is monotonic.
    """

    decision: AttemptStarted
    outcome: reports.Outcome
    began: float
    is_exit_reported: bool = False
    n: int | None = None
    awaited_program: str = ""
    report: Callable[[int], reports.CommitReport] | None = None


class ResultCommits:
    """The results that are being committed. `workspaces_of` returns the workspaces of a batch; `on_lost` is called for
    an attempt whose result is gone.
    """

    def __init__(
        self,
        context: EngineContext,
        workspaces_of: Callable[[str], AttemptWorkspaces],
        on_lost: Callable[[Attempt, str], None],
    ) -> None:
        self._state = context.state
        self._emit = context.emit
        self._inputs = context.inputs
        self._workspaces_of = workspaces_of
        self._on_lost = on_lost
        self._captures: dict[Attempt, Capture] = {}

    def capture(self, decision: AttemptStarted, outcome: reports.Outcome) -> None:
        """Commit what an attempt left, however it ended; then report it."""
        self._submit_capture(Capture(decision, outcome, time.monotonic()))

    def commit(self, decision: CommitStarted) -> None:
        """Commit what a finished attempt left. If a commit of it is running already, that one's result counts."""
        attempt = decision.attempt
        capture = self._captures.get(attempt)
        if capture is None:
            _, task = self._state.find_task(attempt.batch, attempt.task)
            ended = task.uncommitted if task is not None else None
            if ended is None or ended.name != attempt or ended.outcome is None:
                return  # the task has ended since, or feedback was given
            outcome = replace(ended.outcome, uncommitted=False)
            capture = Capture(ended.decision, outcome, time.monotonic(), is_exit_reported=True)
            self._submit_capture(capture)
        capture.n = decision.n
        if capture.report is not None:
            self._end_capture(capture, capture.report)
        elif capture.awaited_program:
            self._emit(reports.CommitWaiting(attempt, decision.n, capture.awaited_program))

    def cancel(self, batch: str, task: str) -> None:
        """Stop committing what a task's attempts left; it stays in the workspace."""
        for attempt in [each for each in self._captures if (each.batch, each.task) == (batch, task)]:
            del self._captures[attempt]
            self._workspaces_of(batch).cancel_capture(attempt)

    def report_late_exits(self, now: float) -> None:
        """Report the ends of attempts whose results take long to commit. `now` is monotonic."""
        for capture in list(self._captures.values()):
            if now - capture.began > MAX_EXIT_DELAY_SECONDS:
                self._report_uncommitted(capture)

    def _submit_capture(self, capture: Capture) -> None:
        attempt = capture.decision.attempt
        self._captures[attempt] = capture
        try:
            spec = self.build_capture_spec(capture.decision)
            allow_empty = self._inputs.get_inputs(attempt.batch).tasks_by_id[attempt.task].allow_empty
        except Exception as error:  # noqa: BLE001 - the engine must not end by it
            self._on_capture_failed(capture, error)
            return
        self._workspaces_of(attempt.batch).capture(
            spec,
            lambda change: self._report_outcome(
                capture, _judge_change(attempt, capture.outcome, change, allow_empty=allow_empty)
            ),
            lambda error: self._on_capture_failed(capture, error),
            lambda program: self._on_capture_waiting(capture, program),
        )

    def build_capture_spec(self, decision: AttemptStarted) -> CaptureSpec:
        attempt = decision.attempt
        inputs = self._inputs.get_inputs(attempt.batch)
        return CaptureSpec(
            attempt,
            decision.base,
            build_commit_info(inputs, attempt),
            inputs.sources,
            inputs.source_files,
            inputs.options.hooks,
            inputs.options.largest_file,
        )

    def _report_outcome(self, capture: Capture, outcome: reports.Outcome) -> None:
        attempt = capture.decision.attempt
        if capture.is_exit_reported:
            self._end_capture(capture, lambda n: reports.CommitDone(attempt, n, outcome))
        elif self._captures.pop(attempt, None) is capture:
            self._emit(reports.AttemptExited(attempt, outcome))

    def _on_capture_failed(self, capture: Capture, error: Exception) -> None:
        """Report a failure: the agent corrects an invalid result; anything else is retried."""
        from plait.git.worktrees.agent_worktree import WorktreeError  # only where there are workspaces

        attempt, outcome = capture.decision.attempt, capture.outcome
        if self._captures.get(attempt) is not capture:
            return  # it was cancelled
        if isinstance(error, AgentError):
            verdict = replace(outcome, category=Category.VERIFY, detail=error.message)
            self._report_outcome(capture, verdict if outcome.category is Category.OK else outcome)
            return
        if not isinstance(error, PlaitError | OSError):
            log.write_traceback(error)
        log.write_line(f"warning: can't commit the result of {attempt}: {describe_error(error)}")
        if outcome.category is not Category.OK:
            self._report_outcome(capture, outcome)
            return
        is_gone = isinstance(error, WorktreeError)
        if is_gone and not capture.is_exit_reported:
            del self._captures[attempt]
            self._on_lost(attempt, describe_error(error))
            return
        self._report_uncommitted(capture)
        why = format_with_hint(error)
        why = why if is_gone else f"{why.removesuffix('.')}. plait retry tries again at once"
        self._end_capture(capture, lambda n: reports.CommitFailed(attempt, n, why, gone=is_gone))

    def _on_capture_waiting(self, capture: Capture, program: str) -> None:
        """Report that a commit waits, perhaps for a person, so it must not hold the slots."""
        capture.awaited_program = program
        self._report_uncommitted(capture)
        if capture.n is not None and self._captures.get(capture.decision.attempt) is capture:
            self._emit(reports.CommitWaiting(capture.decision.attempt, capture.n, program))

    def _report_uncommitted(self, capture: Capture) -> None:
        """Report that the agent has finished and its result is not committed yet. The core decides on the commit next."""
        attempt = capture.decision.attempt
        if self._captures.get(attempt) is capture and not capture.is_exit_reported:
            capture.is_exit_reported = True
            is_finished = capture.outcome.category is Category.OK  # else it is made again
            self._emit(reports.AttemptExited(attempt, replace(capture.outcome, uncommitted=is_finished)))

    def _end_capture(self, capture: Capture, report: Callable[[int], reports.CommitReport]) -> None:
        """Report the result for the commit that the core decided on, as soon as that decision is performed."""
        attempt = capture.decision.attempt
        if self._captures.get(attempt) is not capture:
            return  # it was cancelled
        capture.report = report
        if capture.n is not None:
            del self._captures[attempt]
            self._emit(report(capture.n))


def _judge_change(
    attempt: Attempt, outcome: reports.Outcome, change: CapturedChange, *, allow_empty: bool
) -> reports.Outcome:
    for path in change.reverted_sources:
        log.write_line(f"{attempt} changed only statuses in {path}, which plait writes; they were restored")
    outcome = replace(outcome, files=change.files, diffstat=change.diffstat)
    if outcome.category is not Category.OK:
        return outcome
    if change.empty and not allow_empty:
        return replace(outcome, category=Category.EMPTY)
    return replace(outcome, tip=change.tip)
