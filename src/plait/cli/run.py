"""`plait run`: from sources to finished attempts, watched until all is over."""

from __future__ import annotations

from dataclasses import replace

from plait.agents.model import AgentSpec
from plait.cli.plan import show_json, show_text, tell_no_plan
from plait.cli.planning import Outlook, outlook
from plait.cli.run_agents import staffed
from plait.cli.run_ask import ask_trust, confirm, on_terminal, terms
from plait.cli.run_check import in_place
from plait.cli.run_options import RunOptions
from plait.cli.say import INTERRUPTED, OK, USAGE, Page, console, tell_problems
from plait.core.plan import Plan
from plait.wiring.sources import History, Survey, agent_specs, survey


def run_command(options: RunOptions) -> int:
    """The exit code; what stands in the way is raised, and then nothing was started."""
    options.check()
    seen = survey(options.where, options.named, flags=options.flags)
    agents = agent_specs(seen.config)
    from plait.front.desk import open_desk  # noqa: PLC0415 - a slip in the words is told without it

    with open_desk(seen.place) as desk:
        if options.resume:
            from plait.cli.run_resume import resume  # noqa: PLC0415

            return resume(options, seen, desk)
        found = _prepared(options, seen, History(desk.state if desk.state.seq else None), agents)
        if found.planned.plan is None:
            return _refuse(options, found)
        if options.dry_run:
            return _show(options, found, found.planned.plan)
        if not _agreed(options, found, found.planned.plan):
            console().print("Nothing was started.")
            return INTERRUPTED
        from plait.cli.run_follow import run_and_follow  # noqa: PLC0415 - only now it becomes serious

        return run_and_follow(options, desk, found, found.planned.plan, agents)


def _prepared(options: RunOptions, seen: Survey, past: History, agents: tuple[AgentSpec, ...]) -> Outlook:
    found = staffed(outlook(seen, past, options.wish), agents)
    if found.planned.plan is None:
        return found
    settings = in_place(found.settings, seen.config)
    if options.backoff is not None:
        settings = replace(settings, backoff=options.backoff)
    return replace(found, settings=settings)


def _refuse(options: RunOptions, found: Outlook) -> int:
    if options.as_json:
        show_json(found)
    else:
        tell_no_plan(found.planned)
    return OK if found.planned.complete else USAGE


def _show(options: RunOptions, found: Outlook, plan: Plan) -> int:
    if options.as_json:
        show_json(found)
        return OK
    show_text(found, plan)
    page = Page()
    page.line()
    page.line(terms(found, plan))
    page.show(console())
    return OK


def _agreed(options: RunOptions, found: Outlook, plan: Plan) -> bool:
    """Whether to start. Nobody is asked where nobody is, and a program is never asked."""
    someone = on_terminal() and not options.as_json
    ask_trust(found.seen.config, someone=someone)
    if someone and not options.yes:
        return confirm(found, plan)
    if found.planned.problems and not options.as_json:
        tell_problems(console(stderr=True), found.planned.problems)
    return True
