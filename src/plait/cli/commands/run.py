"""`plait run`: plan, confirm, submit and follow a batch; with --repo, in a mirror of another repository."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from plait.agents.interface import AgentSpec
from plait.cli import prestart
from plait.cli.commands.plan import print_no_plan, print_plan, print_plan_json
from plait.cli.commands.run_options import RunOptions, confirm_run, describe_run
from plait.cli.commands.trust import TrustCheck
from plait.cli.format import MAX_NAMES, pluralize
from plait.cli.live.signals import force_quit
from plait.cli.output import FAILED, INTERRUPTED, OK, USAGE, Page, make_console, print_notice, print_problems
from plait.cli.prompts import ask_yes_no, is_interactive
from plait.client.event_stream import EventStream
from plait.client.mirrors import get_mirror_settings, open_mirrored_repo as mirror
from plait.client.planning.plan_preview import PlanPreview, build_plan_preview
from plait.client.planning.submission import prepare_plan, select_agents
from plait.client.project_sources import LoadedSources, load_sources
from plait.client.project_state import PastBatches
from plait.client.repository import has_remote
from plait.client.session import Session
from plait.client.trust import AGENT_KEYS, FORMAT_KEY
from plait.config.git_keys import WhenDone
from plait.core.errors import UserError
from plait.core.plan import Plan
from plait.core.settings import Publish
from plait.core.state import BatchState, State
from plait.core.text import join_names
from plait.git.location import find_repo


def run_command(options: RunOptions) -> int:
    """Run the command and return the exit code; if it raises, nothing was started."""
    options.check()
    if options.repo is not None:
        options = use_mirror(options)
    trust = TrustCheck(
        interactive=is_interactive() and not options.as_json,
        early_keys=(FORMAT_KEY, *AGENT_KEYS),
        where=options.directory,
    )
    place = find_repo(options.directory)
    with Session(place, EventStream()) as session:
        if not options.dry_run:
            session.prestart_engine(prestart.take_engine(place))  # while the sources are read here
        seen = load_sources(
            options.directory, options.source_names, flags=options.flags, place=place, vet=trust.check_before_reading
        )
        agents = select_agents(seen, contest=options.contest)
        session.refresh()
        if options.resume:
            from plait.cli.commands.run_resume import has_orphaned_tasks, resume_batch

            if not has_orphaned_tasks(seen, session):
                options.check_resume()
                return resume_batch(options, seen, session)
            options = replace(options, plan_options=replace(options.plan_options, resume=True))
        found = _prepare_plan(options, seen, PastBatches(session.state if session.state.seq else None), agents)
        if found.planned.plan is None:
            return _report_no_plan(options, found)
        if options.dry_run:
            return _print_dry_run(options, found, found.planned.plan)
        if not _confirm_start(options, trust, found, found.planned.plan):
            make_console().print("Nothing was started.")
            return INTERRUPTED
        return _follow_run(options, session, found, found.planned.plan, agents)


def _follow_run(
    options: RunOptions, session: Session, found: PlanPreview, plan: Plan, agents: tuple[AgentSpec, ...]
) -> int:
    from plait.cli.commands.run_follow import submit_and_follow  # not needed for --dry-run

    try:
        code = submit_and_follow(options, session, found, plan, agents)
    except KeyboardInterrupt:
        return force_quit(session, _find_own_batch(session.preview_state(), plan))
    mine = _find_own_batch(session.state, plan)
    if mine is None or mine.ended is None:
        return code
    if is_interactive() and not options.as_json and not options.yes:
        code = _offer_pull_request(session, found, mine, code)
    return _report_unreadable(options, found, code)


def _offer_pull_request(session: Session, found: PlanPreview, batch: BatchState, code: int) -> int:
    """Ask whether to open a pull request, if the settings say so."""
    wanted = found.loaded.config.pr.when_done is WhenDone.ASK and batch.merges and batch.published is None
    if not wanted or not has_remote(session.place, found.loaded.config.pr.remote):
        return code
    from plait.cli.commands.pr import publish_and_wait

    question = f"Push {batch.branch} and open a pull request for {pluralize(len(batch.merges), 'task')}? [y/N] "
    if not ask_yes_no(question, default=False):
        return code
    return publish_and_wait(session, batch.id, Publish.PR) or code


def _report_unreadable(options: RunOptions, found: PlanPreview, code: int) -> int:
    """Selected tasks that could not be read are in no batch, so the run failed."""
    left = found.planned.unreadable
    if not left:
        return code
    page = Page()
    page.add_line()
    page.add_line(("  not run", "red"), f"  {join_names(left, MAX_NAMES)}: can't be read; plait plan says why")
    page.show(stderr=options.as_json)
    return code or FAILED


def _find_own_batch(state: State, plan: Plan) -> BatchState | None:
    """The newest batch of exactly these tasks: no two open batches share a task."""
    ids = {task.id for task in plan.tasks}
    same = (batch for batch in state.batches.values() if {task.task.id for task in batch.tasks} == ids)
    return max(same, key=lambda batch: batch.order, default=None)


def _prepare_plan(
    options: RunOptions, seen: LoadedSources, past: PastBatches, agents: tuple[AgentSpec, ...]
) -> PlanPreview:
    found = prepare_plan(
        build_plan_preview(seen, past, options.plan_options), agents, options.times if options.contest else None
    )
    if options.backoff is not None:
        return replace(found, settings=replace(found.settings, backoff=options.backoff))
    return found


def _report_no_plan(options: RunOptions, found: PlanPreview) -> int:
    if options.as_json:
        print_plan_json(found)
    else:
        print_no_plan(found.planned)
    return OK if found.planned.complete else USAGE


def _print_dry_run(options: RunOptions, found: PlanPreview, plan: Plan) -> int:
    if options.as_json:
        print_plan_json(found)
        return OK
    print_plan(found, plan)
    page = Page()
    page.add_line()
    page.add_line(describe_run(found, plan))
    page.show()
    return OK


def _confirm_start(options: RunOptions, trust: TrustCheck, found: PlanPreview, plan: Plan) -> bool:
    """Whether to start; asked only on a terminal, without --yes and --json."""
    trust.check_before_running(found.loaded.config)
    if trust.interactive and not options.yes:
        return confirm_run(found, plan)
    if found.planned.problems:
        print_problems(found.planned.problems)
    return True


_ISOLATION_KEY, _BASE_KEY = "run.isolation", "run.base"


def use_mirror(options: RunOptions) -> RunOptions:
    """Options for a run in the mirror, which is fetched first. Raises UserError or WorldError."""
    assert options.repo is not None
    if options.flags.get(_ISOLATION_KEY) == "in-place":
        raise UserError(
            "--repo works in worktrees: changes in the mirror's own checkout would not be visible",
            hint="Leave --isolation in-place out.",
        )
    found = mirror(options.repo, base=str(options.flags.get(_BASE_KEY) or ""), on_progress=print_notice)
    where = found.place.top
    print_notice(f"Mirrored {found.name}; to see its batches: plait -C {where} status")
    # The checkout is the base.
    flags = {name: value for name, value in options.flags.items() if name != _BASE_KEY}
    names = tuple(_resolve_source(word, where) for word in options.source_names)
    settings = {**get_mirror_settings(found.place), **flags}
    return replace(options, directory=where, source_names=names, flags=settings, repo=None)


def _resolve_source(name: str, mirror: Path) -> str:
    """A source in the mirror, or else one in the current directory."""
    local = Path(name)
    return str(local.resolve()) if not (mirror / name).exists() and local.exists() else name
