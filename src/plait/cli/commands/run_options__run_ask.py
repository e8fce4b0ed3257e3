"""What `plait run` asks a person before it starts anything: whether to start."""

from __future__ import annotations

from plait.cli.commands.plan__plan import describe_parallel_limit, print_plan
from plait.cli.commands.trust__trust import ask_yes_no, is_interactive
from plait.cli.output import Page
from plait.client.planning.plan_preview import PlanPreview
from plait.config.config import Layer
from plait.core.contest import REFEREE
from plait.core.plan import Plan
from plait.core.settings import Isolation, Mode

SHELL_AGENT = "shell"
__all__ = ["confirm_run", "is_interactive", "describe_run"]


def confirm_run(found: PlanPreview, plan: Plan) -> bool:
    print_plan(found, plan)
    page = Page()
    page.add_line()
    page.add_line(describe_run(found, plan))
    page.show()
    count = sum(task.entrant is None for task in plan.tasks)
    which = "this task" if count == 1 else f"these {count} tasks"
    return ask_yes_no(f"Run {which}? [Y/n] ", default=True)


def describe_run(found: PlanPreview, plan: Plan) -> str:
    """How many, how many at once, who works, and where: nobody should find out afterwards."""
    settings = found.settings
    tasks = [task for task in plan.tasks if task.entrant is None]
    agents = {task.agent for task in tasks if task.agent and task.agent != REFEREE}
    agents.update(settings.agents if any(task.agent is None for task in tasks) else ())
    count = "1 task" if len(tasks) == 1 else f"{len(tasks)} tasks"
    named = ", ".join(
        [*_describe_contest(found, plan), *(_describe_agent(found, name) for name in sorted(agents))]
    )
    if settings.fallback and len(tasks) == len(plan.tasks):  # nobody stands in for who is in a contest
        named = f"{named} (while refused: {', '.join(settings.fallback)})"
    return f"{count} · {_describe_parallelism(found)} · {named} · {_describe_isolation(found)}"


def _describe_contest(found: PlanPreview, plan: Plan) -> list[str]:
    if len(plan.tasks) == sum(task.entrant is None for task in plan.tasks):
        return []
    from plait.client.planning.contest_setup import describe_contest  # noqa: PLC0415 - few batches have one

    return [describe_contest(found.survey.config, plan)]


def _describe_agent(found: PlanPreview, name: str) -> str:
    """Whom nobody named was found; where nobody was, a shell has what it can do."""
    chosen = not found.survey.config.default_agents and name in found.settings.agents and name != SHELL_AGENT
    return f"{name} (the first agent found here)" if chosen else name


def _describe_isolation(found: PlanPreview) -> str:
    if found.settings.isolation is Isolation.WORKTREE:
        base = found.survey.config.run.base
        return f"each in a worktree of its own, from {base}" if base else "each in a worktree of its own"
    return f"in place: all tasks work in {found.survey.place.top} itself, without worktrees"


def _describe_parallelism(found: PlanPreview) -> str:
    """A batch may be allowed more than the engine is, where somebody has set that."""
    settings, config = found.settings, found.survey.config
    if settings.mode is Mode.QUEUE:
        return "one at a time" if settings.auto_approve else "one at a time, each after approval"
    own = settings.max_parallel
    limit = config.engine.parallel_limit
    set_ = config.origins["engine.parallel_limit"].layer is not Layer.DEFAULT
    if set_ and limit and (not own or own > limit):
        return f"{limit} at once (engine.parallel_limit)"
    return describe_parallel_limit(settings)
