"""From a decision to a job: the task's texts, its agent's command, its environment, its files."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
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
from plait.site.folder import StateFolder, make_private

_FRESH = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
CHECK_TAIL = 4 << 10  # bytes of a failed check's output that the next attempt is told


@dataclass(frozen=True, slots=True)
class Kits:
    """Where kits are kept: how to read them."""

    kit: Callable[[str], Kit]
    environment: Callable[[str], dict[str, str]]
    forget_environment: Callable[[str], None]
    forget_stale: Callable[[Collection[str]], None]


class Launcher:
    def __init__(self, folder: StateFolder, kits: Kits, commons: Commons) -> None:
        self._folder = folder
        self._kits = kits
        self._commons = commons
        self._known: dict[str, Kit] = {}
        self._environments: dict[str, dict[str, str]] = {}
        self._agents: dict[AgentSpec, Agent] = {}

    def job(self, order: AttemptStarted) -> Job:
        """Raises PlaitError; makes the files that the attempt reads."""
        attempt = order.attempt
        kit = self._kit(attempt.batch)
        task = self._task(kit, attempt)
        workspace = kit.top
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
        return Job(attempt, command.argv, workspace, env, command.stdin)

    def listener(self, order: AttemptStarted) -> Listener:
        if order.attempt.step is Step.VERIFY:
            return Check().listen()
        return self._agent(self._kit(order.attempt.batch).spec(order.agent)).listen()

    def recall(self, order: AttemptStarted) -> tuple[str, Listener]:
        """Where an attempt works that an earlier engine started, and who hears it: without a kit, its exit at least."""
        try:
            return self._kit(order.attempt.batch).top, self.listener(order)
        except PlaitError as error:
            log.say(f"warning: {order.attempt} is heard by nobody: {error.message}")
            return "", Check().listen()

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
            _put(Path(told.task_file), text)
        if _names(command, told.prompt_file):
            check = self._failed_check(attempt) if order.feedback else ""
            _put(here.prompt, prompt(task, feedback=order.feedback, check=check))
        return command

    def _feedback(self, order: AttemptStarted) -> Path | None:
        """For scripts, which read no prompt."""
        if not order.feedback:
            return None
        path = self._folder.attempt(order.attempt).path / "feedback.md"
        _put(path, order.feedback + "\n")
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

    def _kit(self, batch: str) -> Kit:
        if batch not in self._known:
            self._known[batch] = self._kits.kit(batch)
        return self._known[batch]

    def _environment(self, batch: str) -> dict[str, str]:
        if batch not in self._environments:
            self._environments[batch] = self._kits.environment(batch)
        return self._environments[batch]

    def _task(self, kit: Kit, attempt: Attempt) -> Task:
        task = kit.by_id.get(attempt.task)
        if task is None:
            raise KitError(f"what batch {attempt.batch} was submitted with does not hold {attempt.task}")
        return task

    def _agent(self, spec: AgentSpec) -> Agent:
        if spec not in self._agents:
            self._agents[spec] = load(spec)
        return self._agents[spec]


def _names(command: Command, path: str) -> bool:
    return command.stdin == path or any(path in word for word in command.argv)


def _put(path: Path, text: str) -> None:
    """For the owner's eyes. Nobody reads it before the attempt is launched; whoever dies here writes it anew."""
    try:
        fd = os.open(path, _FRESH, 0o600)
    except FileNotFoundError:
        make_private(path.parent)
        fd = os.open(path, _FRESH, 0o600)
    try:
        data = memoryview(text.encode("utf-8", "surrogateescape"))
        while data:
            data = data[os.write(fd, data) :]
    finally:
        os.close(fd)
