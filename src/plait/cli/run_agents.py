"""Who works a plan's tasks: every task has somebody who can take it, or there is no plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from plait.agents import table
from plait.agents.model import AgentSpec
from plait.cli.planning import Outlook
from plait.core.errors import PlaitError
from plait.core.plan import Problem, Severity
from plait.core.settings import Settings
from plait.core.task import Task

_SHELL = "shell"
_RUN = "Give it a `run:` in its front matter, or say who works it: --agent-command 'tool {task_file}'."

# Why an agent can't take a task, and the way out.
Refusal = tuple[str, str]


def staffed(found: Outlook, known: Sequence[AgentSpec]) -> Outlook:
    """The plan with an agent for each task; without a plan, and with problems, where there is none for some."""
    plan = found.planned.plan
    if plan is None:
        return found
    staff = _Staff(known)
    settings = replace(found.settings, providers=staff.providers(found.settings))
    tasks = tuple(staff.assigned(task, settings) for task in plan.tasks)
    problems = (*found.planned.problems, *staff.problems())
    kept = None if staff.refusals else replace(plan, tasks=tasks)
    return replace(found, settings=settings, planned=replace(found.planned, plan=kept, problems=problems))


class _Staff:
    """Each agent is tried once; the same refusal of many tasks is one problem."""

    def __init__(self, known: Sequence[AgentSpec]) -> None:
        self._specs = {spec.name: spec for spec in known}
        self._broken: dict[str, Refusal | None] = {}
        self._providers: dict[str, str] = {}
        self.refusals: dict[Refusal, list[Task]] = {}

    def assigned(self, task: Task, settings: Settings) -> Task:
        names = (task.agent,) if task.agent else (_SHELL,) if task.run else settings.agents
        refused = {name: self._why_not(name, task) for name in names}
        able = [name for name, why in refused.items() if why is None]
        if not able:
            first = next(why for why in refused.values() if why is not None)
            self.refusals.setdefault(first, []).append(task)
            return task
        if task.agent is None and (tuple(able) != settings.agents or task.run):
            return replace(task, agent=able[0])
        return task

    def providers(self, settings: Settings) -> tuple[tuple[str, str], ...]:
        for name in (*settings.agents, *self._specs):
            self._load(name)
        return tuple((name, provider) for name, provider in self._providers.items() if provider != name)

    def problems(self) -> list[Problem]:
        return [_problem(message, hint, tasks) for (message, hint), tasks in self.refusals.items()]

    def _why_not(self, name: str, task: Task) -> Refusal | None:
        why = table.why_not(name, task)  # first: a task file must not choose what is imported
        if why is not None:
            return why, _RUN
        return self._load(name)

    def _load(self, name: str) -> Refusal | None:
        if name not in self._broken:
            try:
                agent = table.load(self._specs.get(name, AgentSpec(name)))
            except PlaitError as error:
                self._broken[name] = (error.message, error.hint)
            else:
                self._broken[name] = None
                self._providers[name] = agent.provider
        return self._broken[name]


def _problem(message: str, hint: str, tasks: Sequence[Task]) -> Problem:
    first, *others = tasks
    told = f"{first.id} {message}" if message.startswith("has ") else f"{first.id}: {message}"
    more = f" (and {len(others)} more like it)" if others else ""
    return Problem(Severity.ERROR, told + more, first.origin, hint)
