"""From a decision to a job: the task's texts, its agent's command, its environment, its files."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from plait.agents.check import Check
from plait.agents.discretion import Discreet, Discretion, of
from plait.agents.model import Agent, AgentSpec, Brief, Command, Listener
from plait.agents.prompt import House, continued, prompt, snapshot
from plait.agents.replies import how
from plait.agents.table import load
from plait.core.decisions import AttemptStarted
from plait.core.errors import PlaitError
from plait.core.frozen import dataclass
from plait.core.task import Attempt, Step, Task
from plait.engine import log
from plait.engine.papers import lay, said
from plait.engine.surroundings import surroundings, unique_name
from plait.kit import Kit, KitError
from plait.ports import Commons, Job
from plait.site.folder import StateFolder, put

GATE = ""  # the name under which the merged result is checked: no task has it
_THE_WHOLE = Task(GATE)
_ANY_HOUSE = House()


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
        self._discretions: dict[str, Discretion] = {}

    def job(
        self, order: AttemptStarted, workspace: str, house: House = _ANY_HOUSE, *, bare: bool = False
    ) -> Job:
        """Raises PlaitError; makes the files that the attempt reads. `bare`: the workspace is to be fitted out first."""
        attempt = order.attempt
        kit = self.kit(attempt.batch)
        task = self._task(kit, attempt)
        command = self._command(order, kit, task, workspace, house)
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
        batch = order.attempt.batch
        if order.attempt.step is Step.VERIFY:
            return self.check_listener(batch)
        kit = self.kit(batch)
        spec, task = kit.spec(order.agent), self._task(kit, order.attempt)
        used = replace(spec, model=task.model) if task.model else spec  # what it costs depends on it
        return Discreet(self._agent(used).listen(order.before), self.discretion(batch))

    def check_listener(self, batch: str) -> Listener:
        return Discreet(Check().listen(), self.discretion(batch))

    def recall(self, order: AttemptStarted) -> Listener:
        """Who hears an attempt that an earlier engine started: without a kit, its exit at least is heard."""
        try:
            return self.listener(order)
        except PlaitError as error:
            log.say(f"warning: {order.attempt} is heard by nobody: {error.message}")
            return self.check_listener(order.attempt.batch)

    def outfit_failure(self, attempt: Attempt) -> str | None:
        """Why its workspace could not be fitted out, if that is what it ended by."""
        spec = self._folder.attempt(attempt).outfit
        if not spec.exists():
            return None
        from plait.site import outfitting  # noqa: PLC0415

        return outfitting.failure(spec)

    def forget(self, batch: str) -> None:
        """It has ended: nobody needs its secrets on disk any more.

        Who asks for more at this instant may have handed over theirs: what is there is known until this engine leaves.
        """
        self._known.pop(batch, None)
        self.refresh(batch)
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
        self._discretions.pop(batch, None)
        with suppress(KitError):
            self._environments[batch] = self._kits.environment(batch)

    def discretion(self, batch: str) -> Discretion:
        """For what is told of a batch: the secrets of its environment, and of its tasks' own. Of no batch: the engine's."""
        if batch not in self._discretions:
            tasks: tuple[Task, ...] = ()
            with suppress(KitError):
                tasks = self.kit(batch).tasks if batch else ()
            base = self.environment(batch) if batch else os.environ
            self._discretions[batch] = of(base, *(task.env for task in tasks))
        return self._discretions[batch]

    def _command(self, order: AttemptStarted, kit: Kit, task: Task, workspace: str, house: House) -> Command:
        here = self._folder.attempt(order.attempt)
        if order.command is None:
            command = self._agent_command(order, kit, task, workspace, house)
        else:
            command = Check().command(order.command, str(here.path))
        for file, content in command.files:
            lay(here.path / file, content)
        return command

    def _agent_command(
        self, order: AttemptStarted, kit: Kit, task: Task, workspace: str, house: House
    ) -> Command:
        attempt = order.attempt
        here = self._folder.attempt(attempt)
        name, text = snapshot(task)
        told = Brief(
            attempt,
            task,
            workspace,
            task_file=str(self._folder.task(attempt.batch, attempt.task) / name),
            prompt_file=str(here.prompt),
            folder=str(here.path),
            session=order.session,
            feedback=order.feedback,
            base=order.base,
            candidates=order.candidates,
        )
        spec = kit.spec(order.agent)
        command = self._agent(spec).command(told)
        goes_on = order.session is not None and _resumes(command, order.session)
        if goes_on or _names(command, told.task_file):
            put(Path(told.task_file), text)
        if _names(command, told.prompt_file):
            before = said(self._folder, order)
            whole = partial(prompt, task, house, before, workspace=workspace, template=kit.template)
            told_all = continued(task, before, told.task_file) if goes_on else whole()
            put(here.prompt, f"{told_all}\n{how()}\n" if spec.replies else told_all)
        return _applied(command, spec, told) if spec.replies else command

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

    def _task(self, kit: Kit, attempt: Attempt) -> Task:
        task = kit.by_id.get(attempt.task) if attempt.task != GATE else _THE_WHOLE
        if task is None:
            raise KitError(f"what batch {attempt.batch} was submitted with does not hold {attempt.task}")
        return task

    def _agent(self, spec: AgentSpec) -> Agent:
        if spec not in self._agents:
            self._agents[spec] = load(spec)
        return self._agents[spec]


def _applied(command: Command, spec: AgentSpec, told: Brief) -> Command:
    """The agent only answers: what it says is written in its place."""
    from plait.site import replying  # noqa: PLC0415 - few agents are called so

    file = replying.encode(replying.Spec(spec, told.workspace))
    return replace(
        command,
        argv=replying.wrap(command.argv, Path(told.folder, replying.FILE)),
        files=(*command.files, (replying.FILE, file)),
    )


def _names(command: Command, path: str) -> bool:
    return command.stdin == path or any(path in word for word in command.argv)


def _resumes(command: Command, session: str) -> bool:
    """Whether the tool goes on with it: one that can't is told everything."""
    words = (*command.argv, *(value for _, value in command.env), *(text for _, text in command.files))
    return any(session in word for word in words)
