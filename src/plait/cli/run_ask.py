"""What `plait run` asks a person before it starts anything: whether to start."""

from __future__ import annotations

from plait.cli.plan import at_once, show_text
from plait.cli.planning import Outlook
from plait.cli.say import Page, console
from plait.cli.trust import asked, on_terminal
from plait.config.model import Layer
from plait.core.plan import Plan
from plait.core.settings import Isolation, Mode

__all__ = ["confirm", "on_terminal", "terms"]


def confirm(found: Outlook, plan: Plan) -> bool:
    show_text(found, plan)
    page = Page()
    page.line()
    page.line(terms(found, plan))
    page.show(console())
    which = "this task" if len(plan.tasks) == 1 else f"these {len(plan.tasks)} tasks"
    return asked(f"Run {which}? [Y/n] ", default=True)


def terms(found: Outlook, plan: Plan) -> str:
    """How many, how many at once, who works, and where: nobody should find out afterwards."""
    settings = found.settings
    agents = {task.agent for task in plan.tasks if task.agent}
    agents.update(settings.agents if any(task.agent is None for task in plan.tasks) else ())
    count = "1 task" if len(plan.tasks) == 1 else f"{len(plan.tasks)} tasks"
    return f"{count} · {_at_once(found)} · {', '.join(sorted(agents))} · {_where(found)}"


def _where(found: Outlook) -> str:
    if found.settings.isolation is Isolation.WORKTREE:
        base = found.seen.config.run.base
        return f"each in a worktree of its own, from {base}" if base else "each in a worktree of its own"
    return f"in place: all tasks work in {found.seen.place.top} itself, without worktrees"


def _at_once(found: Outlook) -> str:
    """A batch may be allowed more than the engine is, where somebody has set that."""
    settings, config = found.settings, found.seen.config
    if settings.mode is Mode.QUEUE:
        return "one at a time" if settings.auto_approve else "one at a time, each after approval"
    own = settings.max_parallel
    limit = config.engine.parallel_limit
    set_ = config.given["engine.parallel_limit"].layer is not Layer.DEFAULT
    if set_ and limit and (not own or own > limit):
        return f"{limit} at once (engine.parallel_limit)"
    return at_once(settings)
