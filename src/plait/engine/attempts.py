"""Attempts, from decision to report: start, prepare, launch, watch, capture, report.

`Attempts.start` takes a decision and gives the executor a spec; the executor prepares the workspace and launches the
command. While it runs, its transcript is read in bounded pieces and becomes reports. When it has exited, what it changed
is committed (`result_commits`), and its end is reported with the commit. Every step can be done again after a crash: an
attempt's name is its identity.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field, replace
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
from plait.agents.prompts import PriorFeedback, PromptRules
from plait.agents.retry_after import RetryAfter
from plait.core import reports
from plait.core.decisions import AttemptStarted, GateStarted
from plait.core.errors import Fault, PlaitError, describe_error, format_with_hint
from plait.core.fast_dataclass import dataclass
from plait.core.retry_policy import find_verify_command
from plait.core.settings import Isolation, SandboxMode
from plait.core.state import TaskState
from plait.core.status import Category
from plait.core.task import Attempt, Step, make_gate_attempt
from plait.engine.attempt_inputs import CHECK_TAIL_BYTES, AttemptSpecBuilder
from plait.engine.context import EngineContext
from plait.engine.executors import BatchExecutors
from plait.engine.result_commits import ResultCommits
from plait.engine.secret_masking import SecretMasker
from plait.engine.transcript_reader import TranscriptReader
from plait.runtime.executor import (
    AttemptKind,
    AttemptSpec,
    ExecutorCallbacks,
    ExitedProcess,
    LostProcess,
    RunningProcess,
)
from plait.store.batch_files import BatchInputsError
from plait.system import log

MIN_EXTENSION_SECONDS = 1.0  # a rate limit is reported again only if it was extended by at least this
DEFAULT_WAIT_SECONDS = 30.0  # assumed for a tool that waits by itself and doesn't say how long
ACTIVITY_REPORT_SECONDS = 60.0  # at most one AttemptActive in this time; well within the idle timeout

# Without its workspace every attempt fails in one of these ways.
_FAILURES = frozenset({Category.TASK, Category.USAGE, Category.KILLED, Category.VERIFY})
_GATE_AGENT = "gate"  # in the place of an agent's name


@dataclass(slots=True)
class WatchedAttempt:
    """An attempt that runs or is about to run. Times are monotonic, except `rate_limited_until`."""

    decision: AttemptStarted
    kind: AttemptKind
    workspace: str
    transcript: TranscriptReader
    activity_reported_at: float
    peak_memory: int = 0
    rate_limited_until: float = 0.0
    last_events: dict[type[AgentEvent], AgentEvent] = field(default_factory=dict)
    conflict: str | None = None  # both sides of the conflict that it resolves; None: not described yet
    launched: bool = False


class Attempts:
    """The attempts that this engine started or adopted. It is the executors' ExecutorCallbacks."""

    def __init__(
        self,
        context: EngineContext,
        spec_builder: AttemptSpecBuilder,
        describe_conflict: Callable[[AttemptStarted], str],
        open_executors: Callable[[ExecutorCallbacks], BatchExecutors],
    ) -> None:
        self._state = context.state
        self._emit = context.emit
        self._inputs = context.inputs
        self._spec_builder = spec_builder
        self._describe_conflict = describe_conflict
        self._workers = context.workers
        self._watched: dict[Attempt, WatchedAttempt] = {}
        self.masker = SecretMasker(context)
        self.executors = open_executors(self)
        self.result_commits = ResultCommits(context, self.executors.workspaces_of, self.on_lost)

    @property
    def running(self) -> list[WatchedAttempt]:
        return list(self._watched.values())

    def is_isolated(self, batch: str) -> bool:
        """Whether the tasks of a batch have workspaces of their own."""
        state = self._state.batches.get(batch)
        return state is not None and state.settings.isolation is Isolation.WORKTREE

    def start(self, decision: AttemptStarted | GateStarted) -> None:
        started, kind = self._identify(decision)
        self.result_commits.cancel(started.attempt.batch, started.attempt.task)
        with self._reporting_failures(started.attempt):
            self._watch(started, kind, self._spec_builder.create_parser(started))
            if started.repairs is None:
                self._launch(started.attempt, conflict="")
            else:  # its prompt quotes the conflict, which git has to describe first
                self._workers.submit(
                    ("conflict", started.attempt.batch, started.attempt.task),
                    lambda: self._describe_conflict(started),
                    lambda conflict: self._launch(started.attempt, conflict),
                    lambda error: self.on_start_failed(started.attempt, error),
                )

    def reload_batch(self, batch: str) -> None:
        """Read inputs that a front end may have rewritten: attempts that aren't launched yet use them."""
        self._inputs.reload_batch(batch)
        if batch in self._state.open:
            self._inputs.restore_environment(batch)
        for watched in self.running:
            if watched.decision.attempt.batch == batch and watched.conflict is not None and not watched.launched:
                with suppress(PlaitError):  # then it starts with the spec that the executor has
                    self.executors.of(batch).start(self._build_spec(watched, watched.conflict))

    def adopt(self, decision: AttemptStarted | GateStarted) -> bool:
        """Find an attempt that an earlier engine was to start; watch it or report its end. True: it is running."""
        started, kind = self._identify(decision)
        self._watch(started, kind, self._create_parser_or_default(started))
        result = self.executors.of(started.attempt.batch).adopt(
            started.attempt, self._spec_builder.build_limits(started)
        )
        match result:
            case RunningProcess(pid):
                self.on_launched(started.attempt, pid)
                return True
            case ExitedProcess(code):
                self.on_exited(started.attempt, code)
            case LostProcess(why, is_outage):
                self.on_lost(started.attempt, why, is_outage=is_outage)
            case None:
                self.start(decision)
            case _:
                assert_never(result)
        return False

    def on_launched(self, attempt: Attempt, pid: int | None) -> None:
        watched = self._watched.get(attempt)
        if watched is not None:
            watched.launched = True
        if watched is None or watched.kind is not AttemptKind.GATE:
            self._emit(reports.AttemptLaunched(attempt, pid, watched.workspace if watched else ""))

    def on_start_failed(self, attempt: Attempt, error: Exception) -> None:
        """Report that an attempt did not start. A failure of the system may be temporary; any other would happen again,
        so the attempt has failed.
        """
        if not isinstance(error, PlaitError | OSError):
            log.write_traceback(error)
        message = self._inputs.get_redactor(attempt.batch)(format_with_hint(error))
        log.write_line(f"{attempt} could not be started: {message}")
        is_temporary = isinstance(error, OSError) or (
            isinstance(error, PlaitError) and error.fault is Fault.WORLD and not isinstance(error, BatchInputsError)
        )
        if is_temporary or attempt.is_gate:
            self.on_lost(attempt, f"it could not be started: {message}")
        else:
            self._watched.pop(attempt, None)
            self._emit(reports.AttemptExited(attempt, reports.Outcome(Category.USAGE, detail=message)))

    def on_exited(self, attempt: Attempt, code: int) -> None:
        watched = self._watched.pop(attempt, None)
        if watched is not None:
            is_catching_up = watched.transcript.is_catching_up
            events = watched.transcript.read_remaining()
            for event in keep_latest(list(events)) if is_catching_up else events:
                self._report_event(watched, event)
            outcome = watched.transcript.build_outcome(code, watched.peak_memory)
            self.masker.mask_attempt(attempt)
            self._finish(watched, outcome)

    def on_lost(self, attempt: Attempt, why: str, *, is_outage: bool = False) -> None:
        self._watched.pop(attempt, None)
        self.masker.mask_attempt(attempt)
        if attempt.is_gate:
            self._emit(reports.GateLost(attempt.batch, attempt.n, why, is_outage))
        else:
            self._emit(reports.AttemptLost(attempt, why, is_outage))

    def poll_transcripts(self, now: float) -> None:
        """Report what running attempts printed since the last call, at most one piece of each."""
        self.result_commits.report_late_exits(now)
        for watched in self._watched.values():
            if watched.transcript.check_growth():
                interval = min(ACTIVITY_REPORT_SECONDS, watched.decision.idle_timeout / 4)
                if watched.kind is not AttemptKind.GATE and now - watched.activity_reported_at >= interval:
                    watched.activity_reported_at = now
                    self._emit(reports.AttemptActive(watched.decision.attempt))  # first: it closes an open question
                is_catching_up = watched.transcript.is_catching_up
                events = watched.transcript.read_events()
                for event in keep_latest(events) if is_catching_up else events:
                    self._report_event(watched, event)

    def record_memory(self, attempt: Attempt, size: int) -> None:
        watched = self._watched.get(attempt)
        if watched is not None:
            watched.peak_memory = max(watched.peak_memory, size)

    def _identify(self, decision: AttemptStarted | GateStarted) -> tuple[AttemptStarted, AttemptKind]:
        if isinstance(decision, GateStarted):
            return _make_gate_start(decision), AttemptKind.GATE
        isolated = self.is_isolated(decision.attempt.batch)
        return decision, AttemptKind.WORKTREE if isolated else AttemptKind.IN_PLACE

    def _watch(self, decision: AttemptStarted, kind: AttemptKind, parser: OutputParser) -> None:
        reader = TranscriptReader(self.executors.of(decision.attempt.batch).open_transcript(decision.attempt), parser)
        workspace = self._find_workspace(decision, kind)
        self._watched[decision.attempt] = WatchedAttempt(decision, kind, workspace, reader, time.monotonic())

    def _create_parser_or_default(self, decision: AttemptStarted) -> OutputParser:
        """Create the agent's parser. Without the batch's inputs, a parser that understands at least the exit status."""
        try:
            return self._spec_builder.create_parser(decision)
        except PlaitError as error:
            log.write_line(f"warning: can't parse the output of {decision.attempt}: {error.message}")
            return self._spec_builder.create_check_parser(decision.attempt.batch)

    def _find_workspace(self, decision: AttemptStarted, kind: AttemptKind) -> str:
        if kind is not AttemptKind.IN_PLACE:
            return self.executors.workspaces_of(decision.attempt.batch).path(decision.attempt)
        with suppress(PlaitError):
            return self._inputs.get_inputs(decision.attempt.batch).top
        return ""

    def _launch(self, attempt: Attempt, conflict: str) -> None:
        watched = self._watched.get(attempt)
        if watched is not None:  # else it was cancelled while the conflict was described
            watched.conflict = conflict
            with self._reporting_failures(attempt):
                self.executors.of(attempt.batch).start(self._build_spec(watched, conflict))

    def _build_spec(self, watched: WatchedAttempt, conflict: str) -> AttemptSpec:
        decision, attempt = watched.decision, watched.decision.attempt
        executor = self.executors.of(attempt.batch)
        if decision.session is not None and not executor.can_stay(attempt):
            decision = replace(decision, session=None)  # it is kept on a machine that can't be used now
        batch = self._state.batches.get(attempt.batch)
        task = batch.find_task(attempt.task) if batch is not None else None
        verify = find_verify_command(batch, task) if batch is not None and task is not None else None
        rules = PromptRules(self.is_isolated(attempt.batch), verify)
        workspace = watched.workspace or self._inputs.get_inputs(attempt.batch).top
        last_check = self._read_last_check(attempt.batch, task) if task is not None and decision.feedback else ""
        before = PriorFeedback(decision.feedback, last_check, conflict)
        folder = executor.attempt_folder(attempt)
        spec = self._spec_builder.build_spec(
            decision,
            watched.kind,
            rules,
            before,
            workspace=workspace,
            folder=folder,
            sandbox=batch.settings.sandbox if batch is not None else SandboxMode.OFF,
        )
        has_result = watched.kind is AttemptKind.WORKTREE and attempt.step is Step.WRITE
        return replace(
            spec,
            task_base=(task.base or "") if task is not None else "",
            stays=decision.session is not None,
            capture=self.result_commits.build_capture_spec(decision) if has_result else None,
        )

    def _read_last_check(self, batch: str, task: TaskState) -> str:
        """Return the end of what the task's last check printed; empty if it never started."""
        for n in range(task.attempt_counts.get(Step.VERIFY, 0), 0, -1):
            check = Attempt(batch, task.task.id, Step.VERIFY, n)
            # It may not be masked yet, and half a secret isn't recognised.
            if printed := self.executors.of(batch).open_transcript(check).tail(2 * CHECK_TAIL_BYTES):
                return self._inputs.get_redactor(batch).redact_end(printed.decode("utf-8", "replace"), CHECK_TAIL_BYTES)
        return ""

    @contextmanager
    def _reporting_failures(self, attempt: Attempt) -> Iterator[None]:
        """Report any exception as a failed start: one task's defect must not end the engine, since the next engine
        would fail in the same way.
        """
        try:
            yield
        except Exception as error:  # noqa: BLE001
            self.on_start_failed(attempt, error)

    def _finish(self, watched: WatchedAttempt, outcome: reports.Outcome) -> None:
        """Report the end of an attempt; if it has a workspace, after its result was committed."""
        decision, attempt = watched.decision, watched.decision.attempt
        if watched.kind is AttemptKind.IN_PLACE:
            self._emit(reports.AttemptExited(attempt, outcome))
            return
        workspaces = self.executors.workspaces_of(attempt.batch)
        if outcome.category in _FAILURES and workspaces.is_missing(attempt):
            self.on_lost(attempt, f"its worktree {watched.workspace} was deleted while it ran")
            return
        setup_failure = workspaces.find_setup_failure(attempt) if outcome.exit_code else None
        if watched.kind is AttemptKind.GATE:
            if setup_failure is not None:  # not the fault of a task's change
                self._emit(reports.GateLost(attempt.batch, attempt.n, setup_failure))
            else:
                passed = outcome.category is Category.OK
                self._emit(reports.GateDone(attempt.batch, attempt.n, passed, "" if passed else outcome.detail))
        elif setup_failure is not None:
            self._emit(
                reports.AttemptExited(attempt, reports.Outcome(Category.USAGE, outcome.exit_code, setup_failure))
            )
        elif attempt.step is Step.WRITE:
            self.result_commits.capture(decision, outcome)
        else:
            workspaces.reset(
                attempt,
                decision.base,
                lambda: self._emit(reports.AttemptExited(attempt, outcome)),
                lambda error: self._report_despite_error(attempt, outcome, error),
            )

    def _report_despite_error(self, attempt: Attempt, outcome: reports.Outcome, error: Exception) -> None:
        log.write_line(f"warning: can't reset the workspace after {attempt}: {describe_error(error)}")
        self._emit(reports.AttemptExited(attempt, outcome))

    def _report_event(self, watched: WatchedAttempt, event: AgentEvent) -> None:
        """Report an event unless it was reported before; a repeated wait is reported again, because it counts from now."""
        if isinstance(event, Activity) or watched.kind is AttemptKind.GATE:
            return
        if isinstance(event, ProviderRefused):
            until = _find_wait_end(event.wait)
            if until >= watched.rate_limited_until + MIN_EXTENSION_SECONDS:
                watched.rate_limited_until = until
                self._emit(reports.RateLimited(watched.decision.provider, until))
        elif watched.last_events.get(type(event)) != event:
            watched.last_events[type(event)] = event
            self._emit(_to_report(watched.decision.attempt, event))


def _make_gate_start(gate: GateStarted) -> AttemptStarted:
    return AttemptStarted(
        make_gate_attempt(gate.batch, gate.n),
        _GATE_AGENT,
        _GATE_AGENT,
        gate.timeout,
        gate.timeout,
        base=gate.commit,
        command=gate.command,
    )


def keep_latest(events: Sequence[AgentEvent]) -> list[AgentEvent]:
    """Return those events from before this engine started that are still true.

    A provider that refused has accepted work since, or the tool has ended; a question is open only if at most the line
    that reports it came after.
    """
    last = {type(event): event for event in events if not isinstance(event, Activity | ProviderRefused | QuestionAsked)}
    return [*last.values(), *(event for event in events[-2:] if isinstance(event, QuestionAsked))]


def _to_report(attempt: Attempt, event: PhaseStarted | SessionStarted | SpendUpdated | QuestionAsked) -> reports.Report:
    match event:
        case PhaseStarted():
            return reports.AttemptPhase(attempt, event.name)
        case SessionStarted():
            return reports.AttemptSession(attempt, event.session)
        case SpendUpdated():
            return reports.AttemptUsed(attempt, event.spend)
        case QuestionAsked():
            return reports.AttemptAsked(attempt, event.question)


def _find_wait_end(wait: RetryAfter) -> float:
    """Return when a wait ends, counted from now: the tool reports it while it runs."""
    now = time.time()
    return max(now + (wait.after or (0.0 if wait.at else DEFAULT_WAIT_SECONDS)), wait.at or 0.0)
