"""From a decision to a running attempt, and from its end to a report: in the checkout, or in a workspace of its own.

The gate: a command on exactly the commit that would be pushed, in the batch's own worktree, run like an attempt.

Watching what runs: exits become reports, and so do the signs of life in transcripts.

A transcript is read in bounded pieces, now and then, and only when it grew: an agent that prints a lot costs as much as
one that prints little.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
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
from plait.core.state import State
from plait.core.status import Category
from plait.core.task import Attempt, Step
from plait.engine.attempt_inputs import GATE_TASK, JobBuilder
from plait.engine.attempt_workspaces import AttemptWorkspaces, ReadyWorkspace
from plait.engine.transcript_reader import TranscriptReader
from plait.runtime.executor import Executor
from plait.store.batch_inputs import BatchInputsError
from plait.system import log
from plait.system.state_paths import StateFolder


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
        self._prepare(build_gate_order(gate))

    def expect(self, order: AttemptStarted | GateStarted) -> AttemptWatcher:
        """Make ready to hear of what is about to be started, or of what an earlier engine started."""
        if isinstance(order, GateStarted):
            gate = build_gate_order(order)
            sequel = build_gate_exit_handler(
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
            isinstance(error, PlaitError) and error.fault is Fault.WORLD and not isinstance(error, BatchInputsError)
        )
        if passing or order.attempt.task == GATE_TASK:
            self._watcher.on_lost(order.attempt, f"it could not be started: {message}")
        else:
            self._watcher.forget(order.attempt)
            self._emit(AttemptExited(order.attempt, Outcome(Category.USAGE, detail=message)))


_GATE_AGENT = "gate"  # in the place of an agent's name


def build_gate_order(gate: GateStarted) -> AttemptStarted:
    return AttemptStarted(
        build_gate_attempt(gate),
        _GATE_AGENT,
        _GATE_AGENT,
        gate.timeout,
        gate.timeout,
        base=gate.commit,
        command=gate.command,
    )


def build_gate_attempt(gate: GateStarted | GateEnding) -> Attempt:
    return Attempt(gate.batch, GATE_TASK, Step.VERIFY, gate.n)


def build_gate_exit_handler(
    gate: GateStarted, emit: Callable[[Report], None], setup_failure: Callable[[], str | None]
) -> ExitHandler:
    def exited(outcome: Outcome) -> None:
        why = setup_failure() if outcome.exit_code else None
        if why is not None:  # nobody's change is to blame
            emit(GateLost(gate.batch, gate.n, why))
            return
        passed = outcome.category is Category.OK
        emit(GateDone(gate.batch, gate.n, passed, "" if passed else outcome.detail))

    return ExitHandler(exited, lambda why: emit(GateLost(gate.batch, gate.n, why)), is_silent=True)


MIN_EXTENSION_SECONDS = 1.0  # seconds: a refusal that lasts hardly longer than what was told is no news


DEFAULT_WAIT_SECONDS = 30.0  # seconds: a tool that waits by itself goes on before long


ACTIVITY_REPORT_SECONDS = 60.0  # a sign of life is reported at most so often, and well within the idle timeout


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
        type(signal): signal for signal in heard if not isinstance(signal, Activity | ProviderRefused | QuestionAsked)
    }
    return [*last.values(), *(signal for signal in heard[-2:] if isinstance(signal, QuestionAsked))]


def _to_report(watched: WatchedAttempt, signal: PhaseStarted | SessionStarted | SpendUpdated | QuestionAsked) -> Report:
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
