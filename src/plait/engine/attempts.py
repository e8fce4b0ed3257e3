"""Attempts, from decision to report: start, prepare, launch, watch, capture, report.

`Attempts.start` takes a decision, prepares the workspace in a worker thread and launches the command. While it runs,
its transcript is read in bounded pieces and becomes reports. When it has exited, what it changed is committed, and only
then is its end reported. Every step can be done again after a crash: an attempt's name is its identity.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field
from enum import Enum
from typing import assert_never

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
from plait.agents.prompts import PromptRules
from plait.agents.retry_after import RetryAfter
from plait.core.decisions import AttemptStarted, GateEnding, GateStarted
from plait.core.errors import Fault, PlaitError, describe_error
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
    GateDone,
    GateLost,
    Outcome,
    RateLimited,
    Report,
)
from plait.core.retry_policy import find_verify_command
from plait.core.settings import Isolation
from plait.core.status import Category
from plait.core.task import Attempt, Step
from plait.engine.attempt_inputs import GATE_TASK, JobBuilder
from plait.engine.attempt_workspaces import AttemptWorkspaces, ReadyWorkspace
from plait.engine.context import EngineContext
from plait.engine.transcript_reader import TranscriptReader
from plait.runtime.executor import Executor, ExecutorCallbacks, ExitedProcess, LostProcess, RunningProcess
from plait.store.batch_inputs import BatchInputsError
from plait.system import log

MIN_EXTENSION_SECONDS = 1.0  # a rate limit is reported again only if it was extended by at least this
DEFAULT_WAIT_SECONDS = 30.0  # assumed for a tool that waits by itself and doesn't say how long
ACTIVITY_REPORT_SECONDS = 60.0  # at most one AttemptActive in this time; well within the idle timeout

_GATE_AGENT = "gate"  # in the place of an agent's name


class AttemptKind(Enum):
    """Where an attempt works, and what its end means."""

    IN_PLACE = "in place"  # in the checkout
    WORKTREE = "worktree"  # in the task's own workspace
    GATE = "gate"  # the batch's command, on exactly the commit that would be pushed


@dataclass(slots=True)
class WatchedAttempt:
    """An attempt that runs or is about to. Times are monotonic, except `rate_limited_until`."""

    order: AttemptStarted
    kind: AttemptKind
    workspace: str
    transcript: TranscriptReader
    activity_reported_at: float
    peak_memory: int = 0
    rate_limited_until: float = 0.0
    last_signals: dict[type[AgentEvent], AgentEvent] = field(default_factory=dict)


class Attempts:
    """The attempts that this engine started or adopted. It is its executor's ExecutorCallbacks."""

    def __init__(
        self,
        context: EngineContext,
        jobs: JobBuilder,
        workspaces: AttemptWorkspaces,
        open_executor: Callable[[ExecutorCallbacks], Executor],
    ) -> None:
        self._state = context.state
        self._emit = context.emit
        self._inputs = context.inputs
        self._jobs = jobs
        self._workspaces = workspaces
        self._watched: dict[Attempt, WatchedAttempt] = {}
        self.executor = open_executor(self)

    @property
    def running(self) -> list[WatchedAttempt]:
        return list(self._watched.values())

    def is_isolated(self, batch: str) -> bool:
        """Whether the tasks of a batch have workspaces of their own."""
        known = self._state.batches.get(batch)
        return known is not None and known.settings.isolation is Isolation.WORKTREE

    def start(self, decision: AttemptStarted | GateStarted) -> None:
        order, kind = self._identify(decision)
        with self._reporting_failures(order, kind):
            self._watch(order, kind, self._jobs.create_parser(order))
            if kind is AttemptKind.IN_PLACE:
                self._launch(order, ReadyWorkspace(self._inputs.get_inputs(order.attempt.batch).top))
            else:
                self._workspaces.prepare(
                    order,
                    self._find_first_base(order.attempt),
                    lambda workspace: self._on_workspace_ready(order, kind, workspace),
                    lambda error: self._on_workspace_failed(order, kind, error),
                )

    def adopt(self, decision: AttemptStarted | GateStarted) -> bool:
        """Find out what became of an attempt that an earlier engine was to start. True: it is running."""
        order, kind = self._identify(decision)
        self._watch(order, kind, self._create_parser_or_default(order))
        found = self.executor.adopt(order.attempt)
        match found:
            case RunningProcess(pid):
                self.on_launched(order.attempt, pid)
                return True
            case ExitedProcess(code):
                self.on_exited(order.attempt, code)
            case LostProcess(why):
                self.on_lost(order.attempt, why)
            case None:
                self.start(decision)
            case _:
                assert_never(found)
        return False

    def end_gate(self, decision: GateEnding) -> None:
        self.executor.terminate(_gate_attempt(decision), at_once=False)

    def on_launched(self, attempt: Attempt, pid: int) -> None:
        watched = self._watched.get(attempt)
        if watched is None or watched.kind is not AttemptKind.GATE:
            self._emit(AttemptLaunched(attempt, pid, watched.workspace if watched else ""))

    def on_exited(self, attempt: Attempt, code: int) -> None:
        watched = self._watched.pop(attempt, None)
        if watched is not None:
            is_catching_up = watched.transcript.is_catching_up
            signals = watched.transcript.read_remaining()
            for signal in keep_latest(list(signals)) if is_catching_up else signals:
                self._report_signal(watched, signal)
            self._finish(watched, watched.transcript.build_outcome(code, watched.peak_memory))

    def on_lost(self, attempt: Attempt, why: str) -> None:
        watched = self._watched.pop(attempt, None)
        if watched is not None and watched.kind is AttemptKind.GATE:
            self._emit(GateLost(attempt.batch, attempt.n, why))
        else:
            self._emit(AttemptLost(attempt, why))

    def poll_transcripts(self, now: float) -> None:
        """Report what running attempts printed since the last call, of each one piece at most."""
        for watched in self._watched.values():
            if watched.transcript.check_growth():
                interval = min(ACTIVITY_REPORT_SECONDS, watched.order.idle_timeout / 4)
                if watched.kind is not AttemptKind.GATE and now - watched.activity_reported_at >= interval:
                    watched.activity_reported_at = now
                    self._emit(AttemptActive(watched.order.attempt))  # first: it closes an open question
                is_catching_up = watched.transcript.is_catching_up
                signals = watched.transcript.read_signals()
                for signal in keep_latest(signals) if is_catching_up else signals:
                    self._report_signal(watched, signal)

    def record_memory(self, attempt: Attempt, size: int) -> None:
        watched = self._watched.get(attempt)
        if watched is not None:
            watched.peak_memory = max(watched.peak_memory, size)

    def _identify(self, decision: AttemptStarted | GateStarted) -> tuple[AttemptStarted, AttemptKind]:
        if isinstance(decision, GateStarted):
            return _gate_order(decision), AttemptKind.GATE
        isolated = self.is_isolated(decision.attempt.batch)
        return decision, AttemptKind.WORKTREE if isolated else AttemptKind.IN_PLACE

    def _watch(self, order: AttemptStarted, kind: AttemptKind, parser: OutputParser) -> None:
        reader = TranscriptReader(self.executor.open_transcript(order.attempt), parser)
        workspace = self._find_workspace(order, kind)
        self._watched[order.attempt] = WatchedAttempt(order, kind, workspace, reader, time.monotonic())

    def _create_parser_or_default(self, order: AttemptStarted) -> OutputParser:
        """Without the batch's inputs, at least the exit status of an adopted attempt is understood."""
        try:
            return self._jobs.create_parser(order)
        except PlaitError as error:
            log.write_line(f"warning: can't parse the output of {order.attempt}: {error.message}")
            return self._jobs.create_check_parser(order.attempt.batch)

    def _find_workspace(self, order: AttemptStarted, kind: AttemptKind) -> str:
        if kind is not AttemptKind.IN_PLACE:
            return self._workspaces.path(order)
        with suppress(PlaitError):
            return self._inputs.get_inputs(order.attempt.batch).top
        return ""

    def _find_first_base(self, attempt: Attempt) -> str:
        """The commit that the task's change is made on, if one is known."""
        batch = self._state.batches.get(attempt.batch)
        task = batch.find_task(attempt.task) if batch is not None else None
        return (task.base or "") if task is not None else ""

    def _on_workspace_ready(self, order: AttemptStarted, kind: AttemptKind, workspace: ReadyWorkspace) -> None:
        if order.attempt in self._watched:  # else it was cancelled meanwhile
            with self._reporting_failures(order, kind):
                self._launch(order, workspace)

    def _on_workspace_failed(self, order: AttemptStarted, kind: AttemptKind, error: Exception) -> None:
        if order.attempt in self._watched:  # else it was cancelled meanwhile
            self._report_start_failure(order, kind, error)

    def _launch(self, order: AttemptStarted, workspace: ReadyWorkspace) -> None:
        batch = self._state.batches.get(order.attempt.batch)
        task = batch.find_task(order.attempt.task) if batch is not None else None
        verify = find_verify_command(batch, task) if batch is not None and task is not None else None
        rules = PromptRules(self.is_isolated(order.attempt.batch), verify)
        self.executor.start(self._jobs.build_job(order, workspace.path, rules, needs_setup=workspace.needs_setup))

    @contextmanager
    def _reporting_failures(self, order: AttemptStarted, kind: AttemptKind) -> Iterator[None]:
        """One task's defect must not end the engine: the next engine would fail in the same way."""
        try:
            yield
        except Exception as error:  # noqa: BLE001
            self._report_start_failure(order, kind, error)

    def _report_start_failure(self, order: AttemptStarted, kind: AttemptKind, error: Exception) -> None:
        """A failure of the system may be temporary; any other would happen again, so the attempt has failed."""
        if not isinstance(error, PlaitError | OSError):
            log.write_traceback(error)
        message = self._inputs.get_redactor(order.attempt.batch)(describe_error(error))
        log.write_line(f"{order.attempt} could not be started: {message}")
        is_temporary = isinstance(error, OSError) or (
            isinstance(error, PlaitError) and error.fault is Fault.WORLD and not isinstance(error, BatchInputsError)
        )
        if is_temporary or kind is AttemptKind.GATE:
            self.on_lost(order.attempt, f"it could not be started: {message}")
        else:
            self._watched.pop(order.attempt, None)
            self._emit(AttemptExited(order.attempt, Outcome(Category.USAGE, detail=message)))

    def _finish(self, watched: WatchedAttempt, outcome: Outcome) -> None:
        """Report the end of an attempt; of one with a workspace, after its result was committed."""
        attempt = watched.order.attempt
        setup_failure = self._jobs.find_setup_failure(attempt) if outcome.exit_code else None
        match watched.kind:
            case AttemptKind.GATE if setup_failure is not None:  # not the fault of a task's change
                self._emit(GateLost(attempt.batch, attempt.n, setup_failure))
            case AttemptKind.GATE:
                passed = outcome.category is Category.OK
                self._emit(GateDone(attempt.batch, attempt.n, passed, "" if passed else outcome.detail))
            case AttemptKind.WORKTREE if setup_failure is None:
                self._workspaces.finish(watched.order, outcome, lambda final: self._emit(AttemptExited(attempt, final)))
            case AttemptKind.WORKTREE:
                self._emit(AttemptExited(attempt, Outcome(Category.USAGE, outcome.exit_code, setup_failure or "")))
            case AttemptKind.IN_PLACE:
                self._emit(AttemptExited(attempt, outcome))

    def _report_signal(self, watched: WatchedAttempt, signal: AgentEvent) -> None:
        """Nothing is reported twice, except a wait: said again, it counts from now."""
        if isinstance(signal, Activity) or watched.kind is AttemptKind.GATE:
            return
        if isinstance(signal, ProviderRefused):
            until = _find_wait_end(signal.wait)
            if until >= watched.rate_limited_until + MIN_EXTENSION_SECONDS:
                watched.rate_limited_until = until
                self._emit(RateLimited(watched.order.provider, until))
        elif watched.last_signals.get(type(signal)) != signal:
            watched.last_signals[type(signal)] = signal
            self._emit(_to_report(watched.order.attempt, signal))


def _gate_attempt(gate: GateStarted | GateEnding) -> Attempt:
    return Attempt(gate.batch, GATE_TASK, Step.VERIFY, gate.n)


def _gate_order(gate: GateStarted) -> AttemptStarted:
    return AttemptStarted(
        _gate_attempt(gate),
        _GATE_AGENT,
        _GATE_AGENT,
        gate.timeout,
        gate.timeout,
        base=gate.commit,
        command=gate.command,
    )


def keep_latest(signals: Sequence[AgentEvent]) -> list[AgentEvent]:
    """Of what was printed before this engine started, what still holds.

    A provider that refused has accepted work since, or the tool has ended; a question is open only if at most the line
    that reports it came after.
    """
    last = {
        type(signal): signal for signal in signals if not isinstance(signal, Activity | ProviderRefused | QuestionAsked)
    }
    return [*last.values(), *(signal for signal in signals[-2:] if isinstance(signal, QuestionAsked))]


def _to_report(attempt: Attempt, signal: PhaseStarted | SessionStarted | SpendUpdated | QuestionAsked) -> Report:
    match signal:
        case PhaseStarted():
            return AttemptPhase(attempt, signal.name)
        case SessionStarted():
            return AttemptSession(attempt, signal.session)
        case SpendUpdated():
            return AttemptUsed(attempt, signal.spend)
        case QuestionAsked():
            return AttemptAsked(attempt, signal.question)


def _find_wait_end(wait: RetryAfter) -> float:
    """Counted from now: the tool says it while it runs."""
    now = time.time()
    return max(now + (wait.after or (0.0 if wait.at else DEFAULT_WAIT_SECONDS)), wait.at or 0.0)
