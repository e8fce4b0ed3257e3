"""What `plait run` asks a person before it starts anything: for trust, and whether to start."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from plait.cli.plan import at_once, show_text
from plait.cli.planning import Outlook
from plait.cli.say import Page, console, harmless
from plait.config.files import user_file
from plait.config.model import Command, Config, commands
from plait.config.schema import BY_NAME
from plait.core.errors import UserError
from plait.core.plan import Plan

_YES = frozenset({"y", "yes"})
_NO = frozenset({"n", "no"})


def on_terminal() -> bool:
    """Whether somebody is there to ask."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def ask_trust(config: Config, *, someone: bool) -> None:
    """What a repository's own file would have plait run is run only if a person says so; --yes is no answer to this."""
    wanted = commands(config)
    if not wanted:
        return
    if not someone:
        raise UserError(_untrusted(wanted), hint=_way_out(wanted))
    page = Page()
    page.line(("This repository's own settings would have plait run:", "bold"))
    for command in wanted:
        page.line(f"  {command.value}", (f"  ({command.key}, {command.given})", "dim"))
    page.show(console())
    if not _asked("Do you trust these commands? [y/N] ", default=False):
        raise UserError("nothing was started", hint=_way_out(wanted))


def _untrusted(wanted: Sequence[Command]) -> str:
    told = "\n".join(f"  {command.given}: {command.key} = {command.value}" for command in wanted)
    return f"this repository's own settings would run commands that nobody has trusted yet:\n{told}"


def _way_out(wanted: Sequence[Command]) -> str:
    flags = [BY_NAME[command.key].flag for command in wanted]
    said = " and ".join(f"{flag} …" for flag in flags if flag)
    return f"Say them yourself with {said}, or in your own settings ({user_file()})."


def confirm(found: Outlook, plan: Plan) -> bool:
    show_text(found, plan)
    page = Page()
    page.line()
    page.line(terms(found, plan))
    page.show(console())
    which = "this task" if len(plan.tasks) == 1 else f"these {len(plan.tasks)} tasks"
    return _asked(f"Run {which}? [Y/n] ", default=True)


def terms(found: Outlook, plan: Plan) -> str:
    """How many, how many at once, who works, and where: there are no worktrees yet, and nobody should find out afterwards."""
    settings = found.settings
    agents = {task.agent for task in plan.tasks if task.agent}
    agents.update(settings.agents if any(task.agent is None for task in plan.tasks) else ())
    where = found.seen.place.top
    count = "1 task" if len(plan.tasks) == 1 else f"{len(plan.tasks)} tasks"
    return (
        f"{count} · {_at_once(found)} · {', '.join(sorted(agents))} · in place: all tasks work in {where} itself, "
        "without worktrees"
    )


def _at_once(found: Outlook) -> str:
    """A batch may be allowed more than the engine is."""
    own, limit = found.settings.max_parallel, found.seen.config.engine.parallel_limit
    if limit and (not own or own > limit):
        return f"{limit} at once (engine.parallel_limit)"
    return at_once(found.settings)


def _asked(question: str, *, default: bool) -> bool:
    out = console()
    while True:
        try:
            said = out.input(harmless(question), markup=False, emoji=False).strip().lower()
        except EOFError:  # Ctrl+D leaves as Ctrl+C does
            raise KeyboardInterrupt from None
        if not said:
            return default
        if said in _YES | _NO:
            return said in _YES
