"""From a decision to a running attempt, and from its end to a report: in the checkout, or in a workspace of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from plait.agents.prompts import PromptRules
from plait.core.decisions import AttemptStarted, GateStarted
from plait.core.errors import Fault, PlaitError, describe_error
from plait.core.reports import AttemptExited, AttemptLost, Outcome, Report
from plait.core.retry_policy import find_verify_command
from plait.core.settings import Isolation
from plait.core.state import State
from plait.core.status import Category
from plait.engine import attempts__gates
from plait.engine.attempt_inputs import GATE_TASK, JobBuilder
from plait.engine.attempt_workspaces import AttemptWorkspaces, ReadyWorkspace
from plait.engine.attempts import AttemptWatcher, ExitHandler
from plait.store.batch_inputs import BatchInputsError
from plait.store.interfaces import Executor
from plait.system import log


class AttemptStarter:
    """`state` is read only."""

    def __init__(  # noqa: PLR0913, PLR0917 - its parts
        self,
        state: State,
        executor: Executor,
        launcher: JobBuilder,
        watch: AttemptWatcher,
        grounds: AttemptWorkspaces,
        emit: Callable[[Report], None],
    ) -> None:
        self._state = state
        self._executor = executor
        self._job_builder = launcher
        self._watcher = watch
        self._workspaces = grounds
        self._emit = emit

    def is_isolated(self, batch: str) -> bool:
        """Whether its tasks have workspaces of their own."""
        known = self._state.batches.get(batch)
        return known is not None and known.settings.isolation is Isolation.WORKTREE

    def start(self, order: AttemptStarted) -> None:
        batch = order.attempt.batch
        with self._reporting_failures(order):
            listener = self._job_builder.open_listener(order)
            self._watcher.expect(order, self._find_path(order), listener, self._build_exit_handler(order))
            if self.is_isolated(batch):
                self._prepare(order)
            else:
                job = self._job_builder.build_job(
                    order, self._job_builder.find_checkout(batch), self._build_prompt_rules(order)
                )
                self._executor.start(job)

    def start_gate(self, gate: GateStarted) -> None:
        self.expect(gate)
        self._prepare(attempts__gates.build_gate_order(gate))

    def expect(self, order: AttemptStarted | GateStarted) -> AttemptWatcher:
        """Make ready to hear of what is about to be started, or of what an earlier engine started."""
        if isinstance(order, GateStarted):
            gate = attempts__gates.build_gate_order(order)
            sequel = attempts__gates.build_gate_exit_handler(
                order, self._emit, lambda: self._job_builder.find_setup_failure(gate.attempt)
            )
            self._watcher.expect(
                gate, self._workspaces.path(gate), self._job_builder.open_check_listener(order.batch), sequel
            )
        else:
            self._watcher.expect(
                order,
                self._find_path(order),
                self._job_builder.open_listener_or_default(order),
                self._build_exit_handler(order),
            )
        return self._watcher

    def _find_path(self, order: AttemptStarted) -> str:
        """Where it works; nowhere, if nobody knows any more."""
        if self.is_isolated(order.attempt.batch):
            return self._workspaces.path(order)
        with suppress(PlaitError):
            return self._job_builder.find_checkout(order.attempt.batch)
        return ""

    def _prepare(self, order: AttemptStarted) -> None:
        self._workspaces.prepare(
            order,
            lambda ground: self._run(order, ground),
            lambda error: self._handle_preparation_failure(order, error),
        )

    def _run(self, order: AttemptStarted, ground: ReadyWorkspace) -> None:
        """Its workspace is ready; somebody may have thought better of it meanwhile."""
        if self._watcher.is_expected(order.attempt):
            with self._reporting_failures(order):
                job = self._job_builder.build_job(
                    order, ground.path, self._build_prompt_rules(order), needs_setup=ground.needs_setup
                )
                self._executor.start(job)

    def _build_prompt_rules(self, order: AttemptStarted) -> PromptRules:
        batch = self._state.batches.get(order.attempt.batch)
        task = batch.find_task(order.attempt.task) if batch is not None else None
        verify = find_verify_command(batch, task) if batch is not None and task is not None else None
        return PromptRules(self.is_isolated(order.attempt.batch), verify)

    def _build_exit_handler(self, order: AttemptStarted) -> ExitHandler | None:
        """What an attempt left in a workspace of its own is seen to before anybody is told of its end."""
        attempt = order.attempt
        if not self.is_isolated(attempt.batch):
            return None

        def told(outcome: Outcome) -> None:
            self._emit(AttemptExited(attempt, outcome))

        def lost(why: str) -> None:
            self._emit(AttemptLost(attempt, why))

        def exited(outcome: Outcome) -> None:
            why = self._job_builder.find_setup_failure(attempt) if outcome.exit_code else None
            if why is not None:
                told(Outcome(Category.USAGE, outcome.exit_code, why))
            else:
                self._workspaces.finish(order, outcome, told)

        return ExitHandler(exited, lost)

    @contextmanager
    def _reporting_failures(self, order: AttemptStarted) -> Iterator[None]:
        """One task's defect must not end all others: each engine would meet it again."""
        try:
            yield
        except Exception as error:  # noqa: BLE001
            self._report_failure(order, error)

    def _handle_preparation_failure(self, order: AttemptStarted, error: Exception) -> None:
        """Its workspace can't be had; whoever ended it meanwhile does not mind."""
        if self._watcher.is_expected(order.attempt):
            self._report_failure(order, error)

    def _report_failure(self, order: AttemptStarted, error: Exception) -> None:
        """What is the world's fault may pass; what is anybody else's would be refused again."""
        if not isinstance(error, PlaitError | OSError):
            log.write_traceback(error)
        message = self._job_builder.get_redactor(order.attempt.batch)(describe_error(error))
        log.write_line(f"{order.attempt} could not be started: {message}")
        passing = isinstance(error, OSError) or (
            isinstance(error, PlaitError)
            and error.fault is Fault.WORLD
            and not isinstance(error, BatchInputsError)
        )
        if passing or order.attempt.task == GATE_TASK:
            self._watcher.on_lost(order.attempt, f"it could not be started: {message}")
        else:
            self._watcher.forget(order.attempt)
            self._emit(AttemptExited(order.attempt, Outcome(Category.USAGE, detail=message)))
