"""`plait run`: from sources to finished attempts, watched until all is over."""

from __future__ import annotations

from dataclasses import replace

from plait.agents.model import AgentSpec
from plait.cli import headstart
from plait.cli.plan import show_json, show_text, tell_no_plan
from plait.cli.run_ask import confirm, terms
from plait.cli.run_leave import left_at_once
from plait.cli.run_options import RunOptions
from plait.cli.say import FAILED, INTERRUPTED, OK, USAGE, Page, console, tell_problems
from plait.cli.show import listed
from plait.cli.trust import Trust, asked, on_terminal
from plait.config.choices import WhenDone
from plait.core.plan import Plan
from plait.core.settings import Publish
from plait.core.state import BatchState, State
from plait.front.desk import Desk
from plait.front.feed import Feed
from plait.front.planning.outlook import Outlook, outlook
from plait.front.planning.prepared import agents_of, prepared
from plait.front.trust import AGENTS, FORMAT
from plait.wiring import find_place
from plait.wiring.repository import has_remote
from plait.wiring.sources import History, Survey, survey


def run_command(options: RunOptions) -> int:
    """The exit code; what stands in the way is raised, and then nothing was started."""
    options.check()
    if options.repo is not None:
        from plait.cli.run_repo import mirrored  # noqa: PLC0415 - few work on another repository

        options = mirrored(options)
    trust = Trust(someone=on_terminal() and not options.as_json, early=(FORMAT, *AGENTS), where=options.where)
    place = find_place(options.where)
    with Desk(place, Feed()) as desk:
        if not options.dry_run:
            desk.warm(headstart.taken(place))  # while the sources are read here
        seen = survey(
            options.where, options.named, flags=options.flags, place=place, vet=trust.before_reading
        )
        agents = agents_of(seen, contest=options.contest)
        desk.refresh()
        if options.resume:
            from plait.cli.run_resume import resume, stuck  # noqa: PLC0415

            if not stuck(seen, desk):
                options.check_resumed()
                return resume(options, seen, desk)
            options = replace(options, wish=replace(options.wish, resume=True))
        found = _prepared(options, seen, History(desk.state if desk.state.seq else None), agents)
        if found.planned.plan is None:
            return _refuse(options, found)
        if options.dry_run:
            return _show(options, found, found.planned.plan)
        if not _agreed(options, trust, found, found.planned.plan):
            console().print("Nothing was started.")
            return INTERRUPTED
        return _followed(options, desk, found, found.planned.plan, agents)


def _followed(
    options: RunOptions, desk: Desk, found: Outlook, plan: Plan, agents: tuple[AgentSpec, ...]
) -> int:
    from plait.cli.run_follow import run_and_follow  # noqa: PLC0415 - only now it becomes serious

    try:
        code = run_and_follow(options, desk, found, plan, agents)
    except KeyboardInterrupt:
        return left_at_once(desk, _mine(desk.ahead(), plan))
    mine = _mine(desk.state, plan)
    if mine is None or mine.ended is None:
        return code
    if on_terminal() and not options.as_json and not options.yes:
        code = _offered(desk, found, mine, code)
    return _reckoned(options, found, code)


def _offered(desk: Desk, found: Outlook, batch: BatchState, code: int) -> int:
    """What is merged can be shown to others: a person is asked, once."""
    wanted = found.seen.config.pr.when_done is WhenDone.ASK and batch.line and batch.published is None
    if not wanted or not has_remote(desk.place, found.seen.config.pr.remote):
        return code
    from plait.cli.ship import ship  # noqa: PLC0415

    count = "1 task" if len(batch.line) == 1 else f"{len(batch.line)} tasks"
    if not asked(f"Push {batch.branch} and open a pull request for {count}? [y/N] ", default=False):
        return code
    return ship(desk, batch.id, Publish.PR) or code


def _reckoned(options: RunOptions, found: Outlook, code: int) -> int:
    """What was asked for and could not be read is in no batch, and not done either."""
    left = found.planned.unreadable
    if not left:
        return code
    page = Page()
    page.line()
    page.line(("  not run", "red"), f"  {listed(left)}: can't be read; plait plan says why")
    page.show(stderr=options.as_json)
    return code or FAILED


def _mine(state: State, plan: Plan) -> BatchState | None:
    """No two open batches have one task, so the newest batch of exactly these tasks is the one that was followed."""
    ids = {task.id for task in plan.tasks}
    same = (batch for batch in state.batches.values() if {task.task.id for task in batch.tasks} == ids)
    return max(same, key=lambda batch: batch.order, default=None)


def _prepared(options: RunOptions, seen: Survey, past: History, agents: tuple[AgentSpec, ...]) -> Outlook:
    found = prepared(outlook(seen, past, options.wish), agents, options.times if options.contest else None)
    if options.backoff is not None:
        return replace(found, settings=replace(found.settings, backoff=options.backoff))
    return found


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
    page.show()
    return OK


def _agreed(options: RunOptions, trust: Trust, found: Outlook, plan: Plan) -> bool:
    """Whether to start. Nobody is asked where nobody is, and a program is never asked."""
    trust.before_running(found.seen.config)
    if trust.someone and not options.yes:
        return confirm(found, plan)
    if found.planned.problems:
        tell_problems(found.planned.problems)
    return True
