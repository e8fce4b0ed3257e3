"""Assign an agent to every task, and check that budgets can be enforced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from plait.agents import table
from plait.agents.interface import AgentSpec, CostReporting
from plait.agents.prices import find_price
from plait.agents.table import AGENTS
from plait.client.agent_specs import explain_missing
from plait.client.planning.plan_preview import SHELL_AGENT, PlanPreview
from plait.config.agent_keys import AgentsConfig, is_dotted_path
from plait.core.errors import PlaitError
from plait.core.plan import Problem, Severity
from plait.core.settings import Budget, ExecutorKind, Settings
from plait.core.task import Task

_RUN_HINT = (
    "Give it a `run:` in its front matter, or choose an agent: --agent with an installed coding tool "
    "(plait agents lists them), or --agent-command 'tool {task_file}'."
)
_INSTALL_HINT = (
    "Install one (see plait agents), or choose one: --agent-command 'tool {task_file}'. plait demo works without any."
)
_NO_AGENT = "has no agent: no coding tool is installed, and the task has no `run:`"

# Why an agent can't take a task, and the way out.
AgentRefusal = tuple[str, str]


def assign_plan_agents(preview: PlanPreview, specs: Sequence[AgentSpec]) -> PlanPreview:
    """Return the plan with an agent for each task; problems instead of a plan if some task has none."""
    plan = preview.planned.plan
    if plan is None:
        return preview
    config = preview.loaded.config
    assigner = _AgentAssigner(specs, preview.settings, chosen=bool(config.default_agents))
    tasks = tuple(assigner.assign(task, preview.settings) for task in plan.tasks)
    errors = [*assigner.list_problems(), *assigner.check_fallback(preview.settings.fallback, tasks)]
    errors += check_budgets(preview.settings, tasks, specs)
    unknown = _check_configured_agents(config.agents)
    errors += [problem for problem in unknown if problem.severity is Severity.ERROR]
    settings = replace(preview.settings, providers=assigner.list_providers(preview.settings))
    warnings = [problem for problem in unknown if problem.severity is not Severity.ERROR]
    problems = (*preview.planned.problems, *errors, *warnings)
    assigned_plan = None if errors else replace(plan, tasks=tasks)
    return replace(preview, settings=settings, planned=replace(preview.planned, plan=assigned_plan, problems=problems))


def _check_configured_agents(agents: AgentsConfig) -> list[Problem]:
    """Report settings for unknown agents. For permissions it is an error: a misspelt name would lose them."""
    problems: list[Problem] = []
    for name in agents.configured_agents:
        if name in AGENTS or is_dotted_path(name):
            continue
        try:
            table.load_agent(AgentSpec(name))
        except PlaitError as error:
            severity = (
                Severity.ERROR if name in {**dict(agents.permissions), **dict(agents.sandboxes)} else Severity.WARNING
            )
            message = f"[agents] configures {name}, but {error.message}"
            problems.append(Problem(severity, message, hint=error.hint))
    return problems


class _AgentAssigner:
    """Assigns agents, checking each once; many tasks' same refusal is one problem. `chosen`: the user chose agents."""

    def __init__(self, specs: Sequence[AgentSpec], settings: Settings, *, chosen: bool) -> None:
        self._agent_chosen = chosen
        self._runs_here = settings.executor is ExecutorKind.LOCAL  # what nodes have is unknown here
        self._specs = {spec.name: spec for spec in specs}
        self._refusal_by_agent: dict[str, AgentRefusal | None] = {}
        self.refusals: dict[AgentRefusal, list[Task]] = {}

    def assign(self, task: Task, settings: Settings) -> Task:
        names = (task.agent,) if task.agent else (SHELL_AGENT,) if task.run else settings.agents
        refused = {name: self._why_not(name, task) for name in names}
        able = [name for name, why in refused.items() if why is None]
        broken = next((why for name in names if (why := self._refusal_by_agent.get(name)) is not None), None)
        if broken or not able:  # a named agent must work, even if others could do the task
            first = broken or next(why for why in refused.values() if why is not None)
            self.refusals.setdefault(first, []).append(task)
            return task
        if task.agent is None and (tuple(able) != settings.agents or task.run):
            return replace(task, agent=able[0])
        return task

    def check_fallback(self, fallback: Sequence[str], tasks: Sequence[Task]) -> list[Problem]:
        """Report problems of fallback agents. Tasks with their own command need none."""
        problems: list[Problem] = []
        for name in fallback:
            takers = (task for task in tasks if task.agent != SHELL_AGENT)
            why = next(
                (f"{task.id} {why}" for task in takers if (why := table.explain_unsupported(name, task)) is not None),
                None,
            )
            refusal = (why, "Name another agent: --fallback.") if why is not None else self._check_loadable(name)
            if refusal is not None:
                message = f"{name} can't be a fallback: {refusal[0]}"
                problems.append(Problem(Severity.ERROR, message, hint=refusal[1]))
        return problems

    def list_providers(self, settings: Settings) -> tuple[tuple[str, str], ...]:
        """List the provider of every agent that may get a task, now or later."""
        # Loading a module would run it, so one that is only configured is left out.
        configured = (name for name in (*self._specs, *AGENTS) if not is_dotted_path(name))
        providers: dict[str, str] = {}
        for name in dict.fromkeys((*self._refusal_by_agent, *settings.agents, *settings.fallback, *configured)):
            with suppress(PlaitError):  # it gets no task
                providers[name] = table.find_provider(self._spec(name))
        return tuple((name, provider) for name, provider in providers.items() if provider != name)

    def list_problems(self) -> list[Problem]:
        return [_refusal_problem(message, hint, tasks) for (message, hint), tasks in self.refusals.items()]

    def _why_not(self, name: str, task: Task) -> AgentRefusal | None:
        why = table.explain_unsupported(name, task)  # first: a task file must not choose what is imported
        if why is None:
            return self._check_loadable(name)
        return (why, _RUN_HINT) if self._agent_chosen or task.agent else (_NO_AGENT, _INSTALL_HINT)

    def _check_loadable(self, name: str) -> AgentRefusal | None:
        if name not in self._refusal_by_agent:
            spec = self._spec(name)
            try:
                table.load_agent(spec)
            except PlaitError as error:
                self._refusal_by_agent[name] = (error.message, error.hint)
            else:
                self._refusal_by_agent[name] = explain_missing(spec) if self._runs_here else None
        return self._refusal_by_agent[name]

    def _spec(self, name: str) -> AgentSpec:
        return self._specs.get(name, AgentSpec(name))


def _refusal_problem(message: str, hint: str, tasks: Sequence[Task]) -> Problem:
    first, *others = tasks
    message = f"{first.id} {message}" if message.startswith("has ") else f"{first.id}: {message}"
    suffix = f" (and {len(others)} more like it)" if others else ""
    return Problem(Severity.ERROR, message + suffix, first.origin, hint)


def check_budgets(settings: Settings, tasks: Sequence[Task], agents: Iterable[AgentSpec]) -> list[Problem]:
    """Say why the batch's or the tasks' budget can't be enforced."""
    budgets = [budget for budget in (settings.budget, settings.task_budget) if budget is not None]
    if not budgets:
        return []
    if any(0 in {budget.microusd, budget.tokens} for budget in budgets):
        return [_budget_error("a budget of 0 lets no task start", "Name an amount: 20usd, 500ktok.")]
    specs = {spec.name: spec for spec in agents}
    problems = (
        _check_agent_budget(budgets, specs.get(name, AgentSpec(name)), sorted(models))
        for name, models in _list_agent_models(settings, tasks, specs).items()
    )
    return [problem for problem in problems if problem is not None]


def _list_agent_models(
    settings: Settings, tasks: Sequence[Task], specs: Mapping[str, AgentSpec]
) -> dict[str, set[str]]:
    """Return the agents that may get a task, with the models they may use ("": unknown)."""
    models: dict[str, set[str]] = {}
    for task in tasks:
        for name in (*((task.agent,) if task.agent else settings.agents), *settings.fallback):
            default_model = specs[name].model if name in specs else ""
            models.setdefault(name, set()).add(task.model or default_model)
    return models


def _check_agent_budget(budgets: Sequence[Budget], spec: AgentSpec, models: Sequence[str]) -> Problem | None:
    try:
        reports = table.load_agent(replace(spec, prices=())).reports
    except PlaitError:
        return None  # reported elsewhere
    money = any(budget.microusd is not None for budget in budgets)
    if reports is CostReporting.NOTHING:
        return _budget_error(
            f"a budget can't be enforced with the agent {spec.name}, which doesn't report its cost",
            "Leave the budget out, or use agents that report it.",
        )
    if reports is not CostReporting.TOKENS or not money:
        return None
    unpriced = next((model for model in models if find_price(spec.prices, model) is None), None)
    if unpriced is None:
        return None
    what = f"no price is set for {unpriced}" if unpriced else "its model isn't set"
    model = "" if unpriced else f'Set its model (under [agents.models]: {spec.name} = "…"), and its price. '
    return _budget_error(
        f"a budget in money can't be enforced with the agent {spec.name}: it reports only tokens, and {what}",
        f'{model}Prices are set under [agents.prices]: "{unpriced or "model*"}" = [dollars per million tokens read, written]. '
        "Or give the budget in tokens: 500ktok.",
    )


def _budget_error(message: str, hint: str) -> Problem:
    return Problem(Severity.ERROR, message, hint=hint)
