"""From a decision to a job: the task's texts, its agent's command, its environment, its files."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path

from plait.agents.check import Check
from plait.agents.model import Agent, AgentSpec, Brief, Command, Listener
from plait.agents.prompt import prompt, snapshot
from plait.agents.table import load
from plait.core.decisions import AttemptStarted
from plait.core.errors import PlaitError
from plait.core.frozen import dataclass
from plait.core.task import Attempt, Step, Task
from plait.engine import log
from plait.engine.surroundings import surroundings, unique_name
from plait.kit import Kit, KitError
from plait.ports import Commons, Job
from plait.site import transcript
from plait.site.folder import StateFolder, put

GATE = ""  # the name under which the merged result is checked: no task has it
_THE_WHOLE = Task(GATE)
CHECK_TAIL = 4 << 10  # bytes of a failed check's output that the next attempt is told


@dataclass(frozen=True, slots=True)
class Kits:
    """Where kits are kept: how to read them."""

    kit: Callable[[str], Kit]
    environment: Callable[[str], dict[str, str]]
    forget_environment: Callable[[str], None]
    forget_stale: Callable[[Collection[str]], None]


class Launcher:
    def __init__(self, folder: StateFolder, kits: Kits, commons: Commons, cache: Path) -> None:
        """`cache` keeps what setups made."""
        self._folder = folder
        self._cache = cache
        self._kits = kits
        self._commons = commons
        self._known: dict[str, Kit] = {}
        self._environments: dict[str, dict[str, str]] = {}
        self._agents: dict[AgentSpec, Agent] = {}

    def job(self, order: AttemptStarted, workspace: str, *, bare: bool = False) -> Job:
        """Raises PlaitError; makes the files that the attempt reads. `bare`: the workspace is to be fitted out first."""
        attempt = order.attempt
        kit = self.kit(attempt.batch)
        task = self._task(kit, attempt)
        command = self._command(order, kit, task, workspace)
        env = surroundings(
            self._environment(attempt.batch),
            attempt=attempt,
            task=task,
            workspace=workspace,
            ports=self._commons.lease(attempt.batch, attempt.task),
            name=unique_name(self._folder.root, attempt.batch, attempt.task),
            extra=command.env,
            feedback_file=self._feedback(order),
        )
        argv = self._fitted_out(attempt, kit, workspace, command.argv) if bare else command.argv
        return Job(attempt, argv, workspace, env, command.stdin)

    def top(self, batch: str) -> str:
        """The checkout that a batch was submitted from."""
        return self.kit(batch).top

    def listener(self, order: AttemptStarted) -> Listener:
        if order.attempt.step is Step.VERIFY:
            return Check().listen()
        return self._agent(self.kit(order.attempt.batch).spec(order.agent)).listen()

    def recall(self, order: AttemptStarted) -> Listener:
        """Who hears an attempt that an earlier engine started: without a kit, its exit at least is heard."""
        try:
            return self.listener(order)
        except PlaitError as error:
            log.say(f"warning: {order.attempt} is heard by nobody: {error.message}")
            return Check().listen()

    def outfit_failure(self, attempt: Attempt) -> str | None:
        """Why its workspace could not be fitted out, if that is what it ended by."""
        spec = self._folder.attempt(attempt).outfit
        if not spec.exists():
            return None
        from plait.site import outfitting  # noqa: PLC0415

        return outfitting.failure(spec)

    def forget(self, batch: str) -> None:
        """It has ended: nobody needs its secrets on disk any more.

        Who asks for more at this instant has seen them there, and hands over none: they are known until this engine leaves.
        """
        self._known.pop(batch, None)
        with suppress(KitError):
            self._environment(batch)
        try:
            self._kits.forget_environment(batch)
        except OSError as error:
            log.say(
                f"warning: the environment of batch {batch}, which may hold keys, can't be removed: {error}"
            )

    def tidy(self, wanted: Collection[str]) -> None:
        """The environments of other batches than these are nobody's, unless they are quite new."""
        self._kits.forget_stale(wanted)

    def refresh(self, batch: str) -> None:
        """A front may have handed over another environment."""
        with suppress(KitError):
            self._environments[batch] = self._kits.environment(batch)

    def _command(self, order: AttemptStarted, kit: Kit, task: Task, workspace: str) -> Command:
        if order.command is not None:
            return Check().command(order.command)
        attempt = order.attempt
        here = self._folder.attempt(attempt)
        name, text = snapshot(task)
        told = Brief(
            attempt,
            task,
            workspace,
            task_file=str(self._folder.task(attempt.batch, attempt.task) / name),
            prompt_file=str(here.prompt),
            session=order.session,
            feedback=order.feedback,
        )
        command = self._agent(kit.spec(order.agent)).command(told)
        if _names(command, told.task_file):
            put(Path(told.task_file), text)
        if _names(command, told.prompt_file):
            put(here.prompt, self._prompt(order, task))
        return command

    def _fitted_out(
        self, attempt: Attempt, kit: Kit, workspace: str, argv: tuple[str, ...]
    ) -> tuple[str, ...]:
        from plait.site import outfitting  # noqa: PLC0415 - only where a workspace is new

        here = self._folder.attempt(attempt)
        spec = outfitting.Spec(
            Path(workspace), Path(kit.top), kit.gear.outfit, self._cache, here.path / "outfit.failed"
        )
        outfitting.write_spec(here.outfit, spec)
        return outfitting.wrap(argv, here.outfit)

    def _feedback(self, order: AttemptStarted) -> Path | None:
        """For scripts, which read no prompt."""
        if not order.feedback:
            return None
        path = self._folder.attempt(order.attempt).path / "feedback.md"
        put(path, order.feedback + "\n")
        return path

    def _failed_check(self, attempt: Attempt) -> str:
        """What the newest check of this task said, as far as there was one."""
        folder = self._folder.task(attempt.batch, attempt.task)
        made = [
            path for path in folder.glob(f"{Step.VERIFY.value}-*") if path.name.rpartition("-")[2].isdigit()
        ]
        newest = max(made, key=lambda path: int(path.name.rpartition("-")[2]), default=None)
        if newest is None:
            return ""
        return transcript.tail(newest / "transcript", CHECK_TAIL).decode("utf-8", "replace")

    def kit(self, batch: str) -> Kit:
        kit = self._known.get(batch)  # another thread may forget it
        if kit is None:
            kit = self._known[batch] = self._kits.kit(batch)
        return kit

    def environment(self, batch: str) -> Mapping[str, str]:
        """The batch's own; where that is gone, this engine's, which some front of this repository gave it."""
        try:
            return self._environment(batch)
        except KitError:
            return os.environ

    def _environment(self, batch: str) -> dict[str, str]:
        if batch not in self._environments:
            self._environments[batch] = self._kits.environment(batch)
        return self._environments[batch]

    def _prompt(self, order: AttemptStarted, task: Task) -> str:
        attempt = order.attempt
        check = self._failed_check(attempt) if order.feedback else ""
        return prompt(task, feedback=order.feedback, check=check, conflict=self._conflict(order))

    def _conflict(self, order: AttemptStarted) -> str:
        if order.repairs is None:
            return ""
        with suppress(OSError):
            path = self._folder.conflict(order.attempt.batch, order.attempt.task)
            return path.read_text("utf-8", "replace")
        return ""

    def _task(self, kit: Kit, attempt: Attempt) -> Task:
        task = kit.by_id.get(attempt.task) if attempt.task != GATE else _THE_WHOLE
        if task is None:
            raise KitError(f"what batch {attempt.batch} was submitted with does not hold {attempt.task}")
        return task

    def _agent(self, spec: AgentSpec) -> Agent:
        if spec not in self._agents:
            self._agents[spec] = load(spec)
        return self._agents[spec]


def _names(command: Command, path: str) -> bool:
    return command.stdin == path or any(path in word for word in command.argv)
