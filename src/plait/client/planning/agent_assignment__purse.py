"""Whether a budget can be kept: only if everybody who may work tells what is spent, in what the budget counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from plait.agents import table
from plait.agents.interface import AgentSpec, CostReporting
from plait.agents.prices import find_price
from plait.core.errors import PlaitError
from plait.core.plan import Problem, Severity
from plait.core.settings import Budget, Settings
from plait.core.task import Task


def check_budgets(settings: Settings, tasks: Sequence[Task], agents: Iterable[AgentSpec]) -> list[Problem]:
    """What is in the way of the batch's budget and of that of each task; nothing, where there is none."""
    budgets = [budget for budget in (settings.budget, settings.task_budget) if budget is not None]
    if not budgets:
        return []
    if any(0 in {budget.microusd, budget.tokens} for budget in budgets):
        return [_budget_error("a budget of nothing lets nothing start", "Name an amount: 20usd, 500ktok.")]
    specs = {spec.name: spec for spec in agents}
    found = (
        _check_agent_budget(budgets, specs.get(name, AgentSpec(name)), sorted(models))
        for name, models in _list_agent_models(settings, tasks, specs).items()
    )
    return [problem for problem in found if problem is not None]


def _list_agent_models(
    settings: Settings, tasks: Sequence[Task], specs: Mapping[str, AgentSpec]
) -> dict[str, set[str]]:
    """Everybody who may be given a task, with the models that they may use ("": nobody says which)."""
    found: dict[str, set[str]] = {}
    for task in tasks:
        for name in (*((task.agent,) if task.agent else settings.agents), *settings.fallback):
            own = specs[name].model if name in specs else ""
            found.setdefault(name, set()).add(task.model or own)
    return found


def _check_agent_budget(budgets: Sequence[Budget], spec: AgentSpec, models: Sequence[str]) -> Problem | None:
    try:
        reports = table.load_agent(replace(spec, prices=())).reports  # what it tells itself
    except PlaitError:
        return None  # that is told elsewhere
    money = any(budget.microusd is not None for budget in budgets)
    if reports is CostReporting.NOTHING:
        return _budget_error(
            f"a budget can't be kept with the agent {spec.name}, which does not tell what it spends",
            "Leave the budget out, or give the tasks to agents that tell it.",
        )
    if reports is not CostReporting.TOKENS or not money:
        return None
    unpriced = next((model for model in models if find_price(spec.prices, model) is None), None)
    if unpriced is None:
        return None
    what = f"nobody says what {unpriced} costs" if unpriced else "nobody says which model it uses"
    model = (
        ""
        if unpriced
        else f'Say which model it uses (under [agents.models]: {spec.name} = "…"), and its price. '
    )
    return _budget_error(
        f"a budget in money can't be kept with the agent {spec.name}: it tells only its tokens, and {what}",
        f'{model}Prices stand under [agents.prices]: "{unpriced or "model*"}" = [dollars per million tokens read, written]. '
        "Or give the budget in tokens: 500ktok.",
    )


def _budget_error(message: str, hint: str) -> Problem:
    return Problem(Severity.ERROR, message, hint=hint)
