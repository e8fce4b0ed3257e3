"""Runs the checks of a preflight.

Each is an attempt of the batch's executor, as the engine would run it, in a workspace that belongs to no batch. One preflight
runs at a time in a repository; what passed is remembered by commit and settings.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

import msgspec

from plait.agents.drivers.shell import build_script_command
from plait.agents.error_patterns import classify_exit
from plait.agents.plain_text import to_plain_text
from plait.agents.redaction import LineRedactor, build_redactor
from plait.client.preflight import SETUP, SKIP_HINT, VERIFY, BaseCheck, Preflight, is_remote
from plait.client.submission_files import remove_batch_files
from plait.core.errors import PlaitError, UserError, WorldError, describe_error
from plait.core.task import Attempt, make_gate_attempt
from plait.core.text import format_duration
from plait.engine.app import open_cluster_executor, open_executor
from plait.engine.attempt_inputs import build_environment, make_unique_name
from plait.engine.confinement import confine_environment
from plait.git.interfaces import WorkspaceSetup
from plait.git.location import RepoLocation
from plait.runtime.executor import AttemptFile, AttemptKind, AttemptSpec, RunningProcess, TranscriptChunk
from plait.runtime.reactor import SelectReactor
from plait.runtime.worker_pool import WorkerPool
from plait.store.project_files import LOCKS_FOLDER
from plait.store.server_tokens import list_server_tokens
from plait.store.state_claim import claim_state
from plait.system.atomic_files import read_regular_file, replace_file
from plait.system.decoders import decode_json
from plait.system.flock import try_lock
from plait.system.port_leases import DEFAULT_PORTS, PortLeases
from plait.system.shared_state import find_shared_state_folder

PREFLIGHT = "preflight"  # in the place of a batch's id, which is hexadecimal
PASSED_FILE = "preflight.json"
_STOPPED = "the check of the base was stopped"
_MAX_PASSED = 100
_MAX_SHOWN_LINES = 30
_MAX_LINE_CHARS = 1000
_STEP_SECONDS = 0.1
_WAITING = "plait: waiting for a free slot of the cluster, or for a node to prepare its workspace"
_NOTICE_SECONDS = 10.0  # until a check that was not launched says what it may wait for
_CHUNK_BYTES = 1 << 16


class PreflightError(UserError):
    """A check does not pass on the base, so no agent was started. `output` are the last lines that it printed."""

    def __init__(self, message: str, output: Sequence[str] = (), *, hint: str = SKIP_HINT) -> None:
        super().__init__("\n".join((message, *(f"  {line}" for line in output))), hint=hint)
        self.summary = message
        self.output = tuple(output)


class PreflightStoppedError(UserError):
    """The preflight was stopped on request, so no agent was started."""


def run_preflight(
    preflight: Preflight,
    on_check: Callable[[BaseCheck], None],
    on_line: Callable[[str], None],
    should_stop: Callable[[], bool],
) -> None:
    """Run the checks; return when everything passes on the base, at once if it did before. Raises PreflightError,
    WorldError if nothing could be run, or PreflightStoppedError. `on_line` gets the output, without secrets.
    """
    if preflight.key in _read_passed(preflight.location):
        return
    with _hold_preflight_lock(preflight.location, on_line, should_stop):
        if preflight.key in _read_passed(preflight.location):  # another process checked it meanwhile
            return
        with _open_runner(preflight, on_line, should_stop) as runner:
            for n, check in enumerate(preflight.checks, 1):
                on_check(check)
                runner.run(check, n)
        _save_passed(preflight.location, preflight.key)


@contextmanager
def _hold_preflight_lock(
    location: RepoLocation, on_line: Callable[[str], None], should_stop: Callable[[], bool]
) -> Iterator[None]:
    """Hold the lock of preflights. It is polled, so that waiting for another preflight can be stopped."""
    claim_state(location.state)
    has_waited = False
    while True:
        with try_lock(location.state / LOCKS_FOLDER / PREFLIGHT) as is_held:
            if is_held:
                yield
                return
        if should_stop():
            raise PreflightStoppedError(_STOPPED)
        if not has_waited:
            on_line("Waiting for the same check in another process.")
            has_waited = True
        time.sleep(_STEP_SECONDS)


def _read_passed(location: RepoLocation) -> dict[str, float]:
    try:
        return decode_json(read_regular_file(location.state / PASSED_FILE), dict[str, float])
    except (OSError, msgspec.DecodeError):
        return {}


def _save_passed(location: RepoLocation, key: str) -> None:
    """Remember that the checks passed. A failure only means that they run again."""
    passed = {**_read_passed(location), key: time.time()}
    newest = sorted(passed.items(), key=lambda item: item[1])[-_MAX_PASSED:]
    with suppress(OSError):
        replace_file(location.state / PASSED_FILE, msgspec.json.encode(dict(newest)))


class _Runner:
    """Runs attempts in the gate's workspace, one after another. It is its executor's ExecutorCallbacks."""

    def __init__(
        self, preflight: Preflight, ports: range, on_line: Callable[[str], None], should_stop: Callable[[], bool]
    ) -> None:
        self._preflight = preflight
        self._ports = ports
        self._on_line = on_line
        self._should_stop = should_stop
        self._current: Attempt | None = None
        self._exit_code: int | None = None
        self._failure: str | None = None
        self._is_unsuitable = False  # no node has what it needs
        self._is_set_up = False
        self._launched_at: float | None = None
        self.reactor = SelectReactor()
        self.workers = WorkerPool(self.reactor)
        open_any = open_cluster_executor if is_remote(preflight.settings) else open_executor
        self.executor = open_any(preflight.location, preflight.config, self.workers, self.reactor, self)

    def on_launched(self, attempt: Attempt, pid: int | None) -> None:  # noqa: ARG002
        if attempt == self._current and self._launched_at is None:
            self._launched_at = time.monotonic()

    def on_start_failed(self, attempt: Attempt, error: Exception) -> None:
        self._is_unsuitable = isinstance(error, UserError)
        self.on_lost(attempt, describe_error(error))

    def on_exited(self, attempt: Attempt, code: int) -> None:
        if attempt == self._current:
            self._exit_code = code

    def on_lost(self, attempt: Attempt, why: str, *, is_outage: bool = False) -> None:  # noqa: ARG002
        if attempt == self._current:
            self._failure = why

    @property
    def _has_ended(self) -> bool:
        return self._exit_code is not None or self._failure is not None

    def _begin(self, n: int) -> Attempt:
        self._current = make_gate_attempt(PREFLIGHT, n)
        self._exit_code = self._failure = self._launched_at = None
        return self._current

    def run(self, check: BaseCheck, n: int) -> None:
        """Run a check; raises as `run_preflight`."""
        attempt = self._begin(n)
        output = _OutputReader(self.executor.open_transcript(attempt).read, self._on_line)
        self.executor.start(self._build_spec(check, attempt))
        stopped = self._wait(check, attempt, output)
        output.finish()
        if stopped:
            raise PreflightStoppedError(_STOPPED)
        if self._failure is not None:
            raise self._make_start_error(check, self._failure)
        if self._exit_code:
            raise self._make_error(check, attempt, self._exit_code, output)
        self._is_set_up = self._is_set_up or check.name == SETUP

    def stop(self, attempts: int) -> None:
        """End what still runs: of this preflight, or of an earlier one whose process was killed."""
        for n in range(1, attempts + 1):
            attempt = self._begin(n)
            if isinstance(self.executor.adopt(attempt), RunningProcess):
                self.executor.terminate(attempt, at_once=True)
                while not self._has_ended:
                    self.reactor.step(_STEP_SECONDS)

    def close(self) -> None:
        """Release the workspace, with what setup made in it."""
        while self.executor.end_leftovers():
            self.reactor.step(_STEP_SECONDS)
        self.executor.workspaces.release_batch(PREFLIGHT, (), has_ended=True)
        while not self.workers.is_idle:
            self.reactor.step(_STEP_SECONDS)

    def _wait(self, check: BaseCheck, attempt: Attempt, output: _OutputReader) -> bool:
        """Wait for the attempt; return whether it was stopped. Raises PreflightError after its time limit, which counts
        from its launch: a cluster may have no free slot.
        """
        stopped = is_late = False
        notice_at = time.monotonic() + _NOTICE_SECONDS if is_remote(self._preflight.settings) else math.inf
        while not self._has_ended:
            self.reactor.step(_STEP_SECONDS)
            output.read()
            if self._launched_at is None and not output.last_lines and time.monotonic() > notice_at:
                self._on_line(_WAITING)
                notice_at = math.inf
            if not stopped:
                is_late = self._launched_at is not None and time.monotonic() > self._launched_at + check.timeout
                stopped = is_late or self._should_stop()
                if stopped:
                    self.executor.terminate(attempt, at_once=False)
        if is_late:
            output.finish()
            why = f"{check.name} did not end in {format_duration(check.timeout)} on the base commit"
            raise PreflightError(f"{why}, before any agent has started", output.last_lines)
        return stopped

    def _build_spec(self, check: BaseCheck, attempt: Attempt) -> AttemptSpec:
        """Build the spec of a check. A setup has nothing to run after it. What it left stays for verification; the gate
        gets a clean workspace, as on a batch's result.
        """
        preflight = self._preflight
        location = preflight.location
        workspace, folder = self.executor.workspaces.path(attempt), self.executor.attempt_folder(attempt)
        command = build_script_command("true" if check.name == SETUP else check.command, folder)
        keeps_setup = check.name == VERIFY and self._is_set_up
        sandbox, own = check.sandbox, preflight.config.sandbox.variables
        env = build_environment(
            os.environ if sandbox is None else confine_environment(os.environ, own, sandbox),
            attempt=attempt,
            workspace=workspace,
            ports=self._ports,
            name=make_unique_name(location.state, PREFLIGHT, ""),
            server_tokens=list_server_tokens(),
        )
        return AttemptSpec(
            attempt,
            command.argv,
            workspace,
            env,
            kind=AttemptKind.IN_PLACE if keeps_setup else AttemptKind.GATE,
            checkout=str(location.top),
            base=preflight.base,
            setup=WorkspaceSetup() if check.agent else preflight.setup,
            files=tuple(AttemptFile(f"{folder}/{name}", text.encode()) for name, text in command.files),
            sandbox=sandbox,
            agent=check.agent,
            stays=keeps_setup,
            inherited=frozenset(name for name in env if name not in own and env[name] == os.environ.get(name)),
            programs=check.programs,
        )

    def _make_start_error(self, check: BaseCheck, why: str) -> PlaitError:
        if not check.agent:
            return WorldError(f"can't check {check.name} on the base commit: {why}", hint=SKIP_HINT)
        if not self._is_unsuitable:
            hint = "No agent was started. plait doctor --executor ray checks the nodes."
            return WorldError(f"nothing can be started on the cluster: {why}", hint=hint)
        hint = "Install it there, or choose another agent; plait doctor --executor ray says what each node has."
        return PreflightError(f"the agent {check.agent} can't run: {why}", hint=hint)

    def _make_error(self, check: BaseCheck, attempt: Attempt, code: int, output: _OutputReader) -> PreflightError:
        setup_failure = self.executor.workspaces.find_setup_failure(attempt)
        why = classify_exit(code, "").detail if setup_failure is None else setup_failure
        name = check.name if setup_failure is None else SETUP
        base = self._preflight.base[:10]
        return PreflightError(
            f"{name} fails on the base commit {base}, before any agent has started: {why}", output.last_lines
        )


class _OutputReader:
    """Passes complete lines of a transcript on, without secrets, and keeps the last ones."""

    def __init__(self, read: Callable[[int, int], TranscriptChunk], on_line: Callable[[str], None]) -> None:
        self._read = read
        self._on_line = on_line
        self._redact = LineRedactor(build_redactor(os.environ))
        self._at = 0
        self._rest = b""
        self.last_lines: list[str] = []

    def read(self) -> None:
        while (chunk := self._read(self._at, _CHUNK_BYTES)).data:
            self._at = chunk.end
            *lines, self._rest = (self._rest + chunk.data).split(b"\n")
            if len(self._rest) > _CHUNK_BYTES:  # a line without an end
                lines, self._rest = [*lines, self._rest], b""
            for line in lines:
                self._add(line)

    def finish(self) -> None:
        self.read()
        if self._rest:
            self._add(self._rest)
        self._rest = b""

    def _add(self, line: bytes) -> None:
        whole = self._redact(line.decode("utf-8", "replace"))
        text = whole[: len(whole) - len(whole.lstrip(" "))] + to_plain_text(whole, _MAX_LINE_CHARS)
        self._on_line(text)
        self.last_lines = [*self.last_lines, text][-_MAX_SHOWN_LINES:]


@contextmanager
def _open_runner(
    preflight: Preflight, on_line: Callable[[str], None], should_stop: Callable[[], bool]
) -> Iterator[_Runner]:
    """Open a runner. Leftovers of an earlier preflight that was killed are removed first, those of this one at the end."""
    leases = PortLeases(find_shared_state_folder() / "ports", f"{PREFLIGHT}-{os.getpid()}", DEFAULT_PORTS)
    ports = range(0)
    with suppress(OSError):
        ports = leases.lease(PREFLIGHT, "", None)
    runner = _Runner(preflight, ports, on_line, should_stop)
    try:
        runner.stop(len(preflight.checks))
        runner.close()  # a node must not take a check for an earlier one of the same name
        remove_batch_files(preflight.location, PREFLIGHT)
        yield runner
    except BaseException:
        runner.stop(len(preflight.checks))
        raise
    finally:
        runner.close()
        runner.executor.close()
        runner.workers.close()
        runner.reactor.close()
        remove_batch_files(preflight.location, PREFLIGHT)
        with suppress(OSError):
            leases.give_back(PREFLIGHT, "")
            leases.close()
