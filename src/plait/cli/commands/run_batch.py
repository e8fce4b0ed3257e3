"""Plan, confirm, submit and follow a batch; with --repo, in a mirror of another repository."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path

from plait.agents.interface import AgentSpec
from plait.cli import fast_path, output
from plait.cli.commands.trust import TrustCheck
from plait.cli.format import MAX_NAMES, pluralize
from plait.cli.live.signals import SignalCounter, force_quit
from plait.cli.plan_output import describe_parallel_limit, print_no_plan, print_plan, print_plan_json
from plait.client.agent_specs import MODEL_AGENT
from plait.client.event_stream import EventStream
from plait.client.mirrors import get_mirror_settings, open_mirrored_repo as mirror
from plait.client.planning.completed_tasks import mark_completed
from plait.client.planning.plan_preview import SHELL_AGENT, PlanPreview, build_plan_preview
from plait.client.planning.submission import (
    build_submission,
    prepare_plan,
    refuse_duplicates,
    refuse_unconfirmed_folder,
    select_agents,
    submit_plan,
)
from plait.client.project_sources import LoadedSources, load_sources
from plait.client.project_state import PastBatches
from plait.client.session import Session, Submission
from plait.client.trust import AGENT_KEYS, FORMAT_KEY
from plait.config.config import Layer
from plait.config.git_keys import WhenDone
from plait.core.contest import REFEREE
from plait.core.errors import UserError
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Plan
from plait.core.settings import Backoff, ExecutorKind, Isolation, Mode, Publish, SandboxMode
from plait.core.state import BatchState, State
from plait.core.text import join_names
from plait.git.worktrees.signing import are_commits_signed
from plait.sources.planning import PlanOptions
from plait.store.state_claim import open_repo


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run. `flags` are settings by key. `backoff` has no flag: the demo sets it to retry quickly."""

    directory: Path
    source_names: tuple[str, ...] = ()
    plan_options: PlanOptions = field(default_factory=PlanOptions)
    flags: Mapping[str, object] = field(default_factory=dict)
    interactive: bool = False
    repo: str | None = None
    resume: bool = False
    dry_run: bool = False
    detach: bool = False
    web: bool = False
    yes: bool = False
    as_json: bool = False
    contest: bool = False
    times: int = 1
    backoff: Backoff | None = None

    def check(self) -> None:
        """Raise UserError for options that contradict each other."""
        self._check_contest()
        if self.interactive and self.resume:
            raise UserError(
                "-i chooses the tasks of a new batch, and --resume takes none", hint="Leave one of them out."
            )
        if self.interactive and (self.as_json or not output.is_interactive()):
            raise UserError(
                "-i needs a terminal to choose tasks on",
                hint="Name them instead, such as -s '01 03-05'; `plait plan` lists them.",
            )
        if self.web and self.detach:
            raise UserError(
                "--web serves the page while the batch is watched, so it can't be used with --detach",
                hint="Leave one of them out, or run plait serve.",
            )

    def check_resume(self) -> None:
        """Raise UserError for options that an existing batch can't have."""
        fixed = {"run.agent", "run.agent_command", "run.model", "run.fallback", "workspace.setup"}
        if not self.flags.keys().isdisjoint(fixed) or self.plan_options.select or self.plan_options.with_needs:
            raise UserError(
                "--resume continues a batch as it was submitted: it takes no other tasks, agent or setup",
                hint="Leave --select, --with-needs, --agent, --agent-command, --model, --fallback and --setup out; "
                "or run a new batch.",
            )

    def _check_contest(self) -> None:
        if self.times < 1:
            raise UserError(f"-n must be at least 1, not {self.times}", hint="Use -n 2 or more for a contest.")
        judging_flags = [flag for flag in ("run.judge", "run.score") if flag in self.flags]
        if judging_flags and not self.contest:
            raise UserError(
                f"--{judging_flags[0].removeprefix('run.')} only works in a contest",
                hint="Start one with --contest claude,codex or -n 2.",
            )
        if self.resume and self.contest:
            raise UserError(
                "--resume continues a batch as it was submitted, so it takes no contest options",
                hint="Leave --contest and -n out; or run a new batch.",
            )


def run_tasks(options: RunOptions) -> int:
    """Run the command and return the exit code; if it raises, nothing was started."""
    options.check()
    if options.repo is not None:
        options = use_mirror(options)
    trust = TrustCheck(
        interactive=output.is_interactive() and not options.as_json,
        early_keys=(FORMAT_KEY, *AGENT_KEYS),
        where=options.directory,
    )
    location = open_repo(options.directory)
    with Session(location, EventStream()) as session:
        if not options.dry_run:
            session.prestart_engine(fast_path.take_engine(location))  # while the sources are read here
        loaded = load_sources(
            options.directory,
            options.source_names,
            flags=options.flags,
            location=location,
            check_config=trust.check_before_reading,
        )
        agents = select_agents(loaded, contest=options.contest)
        session.refresh()
        if options.resume:
            from plait.cli.commands.run_resume import has_orphaned_tasks, resume_batch

            if not has_orphaned_tasks(loaded, session):
                options.check_resume()
                return resume_batch(options, loaded, session)
            options = replace(options, plan_options=replace(options.plan_options, resume=True))
        if options.interactive:
            shown, _, _ = mark_completed(loaded, session.state, options.plan_options)
            picked = _pick_tasks(options.plan_options, shown)
            if picked is None:
                return _report_nothing_started()
            options = replace(options, plan_options=picked)
        preview = _prepare_plan(options, loaded, PastBatches(session.state if session.state.seq else None), agents)
        if preview.planned.plan is None:
            return _report_no_plan(options, preview)
        if options.dry_run:
            return _print_dry_run(options, preview, preview.planned.plan)
        if not _confirm_start(options, trust, preview, preview.planned.plan):
            return _report_nothing_started()
        submission, warnings = build_submission(location, preview, preview.planned.plan, agents)
        output.print_problems(warnings)
        code = _check_base(options, session, preview, submission, interactive=trust.interactive and not options.yes)
        return _submit_and_follow(options, session, preview, submission) if code is None else code


def _report_nothing_started() -> int:
    output.print_line("Nothing was started.")
    return output.INTERRUPTED


def _pick_tasks(options: PlanOptions, loaded: LoadedSources) -> PlanOptions | None:
    """Return the options with the tasks that a person chose from the list, at first those that --select names; None:
    the person left.

    What can't be planned anyway is reported as without -i.
    """
    from plait.cli.task_picker import Choice, pick_tasks  # only for -i
    from plait.sources.selectors import select_tasks

    source_set = loaded.source_set
    runnable = set(select_tasks(source_set).ids)
    selected = select_tasks(source_set, options.select)
    if selected.failed or not selected.ids:
        return options
    tasks = [entry.task for entry in source_set.entries if entry.task.id in runnable]
    with_needs = not options.ignore_needs
    choices = [Choice(task.id, task.title, tuple(need.on for need in task.needs if with_needs)) for task in tasks]
    ids = pick_tasks(choices, selected.ids if options.select else ())
    return None if not ids else replace(options, select=None, ids=ids, with_needs=with_needs)


def _check_base(
    options: RunOptions, session: Session, preview: PlanPreview, submission: Submission, *, interactive: bool
) -> int | None:
    """Run the checks on the base; return None if agents may start, else the exit code."""
    settings, config = submission.settings, preview.loaded.config
    has_jobs = any(MODEL_AGENT in (task.agent, *settings.agents) for task in submission.plan.tasks)
    has_checks = bool(settings.verify or settings.gate or config.workspace.setup)
    is_local = settings.executor is ExecutorKind.LOCAL
    if is_local and not config.run.preflight:
        return None
    if is_local and not (
        has_checks or has_jobs or (submission.options and are_commits_signed(session.location.git_dir))
    ):
        return None
    from plait.cli.commands.run_preflight import check_base, print_signer  # loads the engine's parts
    from plait.client.preflight import check_model_server, check_signing, plan_preflight, require_cluster

    require_cluster(preview)
    check_model_server(preview, submission)
    check_signing(session.location, preview, submission, print_signer)
    preflight = plan_preflight(session.location, preview, submission)
    if preflight is None:
        return None
    refuse_duplicates(session.preview_state(), preview, submission.plan)  # rather now than after a long check
    return check_base(preflight, interactive=interactive, as_json=options.as_json)


def _submit_and_follow(options: RunOptions, session: Session, preview: PlanPreview, submission: Submission) -> int:
    from plait.cli.commands.run_follow import FollowedBatch, follow_batch, report_detached  # not needed for --dry-run

    plan = submission.plan
    try:
        # From here on Ctrl+C stops the batch, even before it is submitted.
        with SignalCounter() as signals:
            batch = submit_plan(session, preview, submission)
            if options.detach:
                return report_detached(options, batch)
            headline = f"batch {batch} · {describe_run(preview, plan)}"
            followed = FollowedBatch(batch, headline, submission.agents, preview.loaded.config.notify.bell)
            code = follow_batch(options, session, followed, signals)
    except KeyboardInterrupt:
        return force_quit(session, _find_own_batch(session.preview_state(), plan))
    own_batch = _find_own_batch(session.state, plan)
    if own_batch is None or own_batch.ended is None:
        return code
    if output.is_interactive() and not options.as_json and not options.yes:
        code = _offer_pull_request(session, preview, own_batch, code)
    return _report_unreadable(options, preview, code)


def _offer_pull_request(session: Session, preview: PlanPreview, batch: BatchState, code: int) -> int:
    """Ask whether to open a pull request, or to push where there are none, if the settings say so."""
    settings = preview.loaded.config.pr
    if settings.when_done is not WhenDone.ASK or not batch.merges or batch.published is not None:
        return code
    from plait.cli.commands.pr import publish_and_wait
    from plait.client.pull_request_preview import find_publish_option

    publish = find_publish_option(session.location, batch.id)
    if publish is Publish.OFF:
        return code
    what = " and open a pull request" if publish is Publish.PR else f" to {settings.remote}"
    question = f"Push {batch.branch}{what} for {pluralize(len(batch.merges), 'task')}? [y/N] "
    if not output.ask_yes_no(question, default=False):
        return code
    return publish_and_wait(session, batch.id, publish) or code


def _report_unreadable(options: RunOptions, preview: PlanPreview, code: int) -> int:
    """Report selected tasks that could not be read: no batch has them, so the run failed."""
    unreadable = preview.planned.unreadable
    if not unreadable:
        return code
    output.print_line(stderr=options.as_json)
    names = f"  {join_names(unreadable, MAX_NAMES)}: can't be read; plait plan says why"
    output.print_line(("  not run", "red"), names, stderr=options.as_json)
    return code or output.FAILED


def _find_own_batch(state: State, plan: Plan) -> BatchState | None:
    """Return the newest batch of exactly these tasks: no two open batches share a task."""
    ids = {task.id for task in plan.tasks}
    matching = (batch for batch in state.batches.values() if {task.task.id for task in batch.tasks} == ids)
    return max(matching, key=lambda batch: batch.order, default=None)


def _prepare_plan(
    options: RunOptions, loaded: LoadedSources, past: PastBatches, agents: tuple[AgentSpec, ...]
) -> PlanPreview:
    preview = prepare_plan(
        build_plan_preview(loaded, past, options.plan_options), agents, options.times if options.contest else None
    )
    if options.backoff is not None:
        return replace(preview, settings=replace(preview.settings, backoff=options.backoff))
    return preview


def _report_no_plan(options: RunOptions, preview: PlanPreview) -> int:
    if options.as_json:
        print_plan_json(preview)
    else:
        print_no_plan(preview.planned)
    return output.OK if preview.planned.complete else output.USAGE


def _print_dry_run(options: RunOptions, preview: PlanPreview, plan: Plan) -> int:
    if options.as_json:
        print_plan_json(preview)
        return output.OK
    _print_plan_and_options(preview, plan)
    return output.OK


def _print_plan_and_options(preview: PlanPreview, plan: Plan) -> None:
    print_plan(preview, plan)
    output.print_line()
    output.print_line(describe_run(preview, plan))
    if preview.permissions:
        output.print_line((preview.permissions, "yellow"))


def _confirm_start(options: RunOptions, trust: TrustCheck, preview: PlanPreview, plan: Plan) -> bool:
    """Ask whether to start, but only on a terminal, without --yes and --json; return the answer."""
    trust.check_before_running(preview.loaded.config)
    if trust.interactive and not options.yes:
        return _confirm_run(preview, plan)
    refuse_unconfirmed_folder(preview.loaded)
    if preview.planned.problems:
        output.print_problems(preview.planned.problems)
    return True


def _confirm_run(preview: PlanPreview, plan: Plan) -> bool:
    _print_plan_and_options(preview, plan)
    count = sum(task.entrant is None for task in plan.tasks)
    which = "this task" if count == 1 else f"these {count} tasks"
    return output.ask_yes_no(f"Run {which}? [Y/n] ", default=True)


def describe_run(preview: PlanPreview, plan: Plan) -> str:
    """Describe the number of tasks, parallelism, agents, isolation, sandbox and executor in one line."""
    settings = preview.settings
    tasks = [task for task in plan.tasks if task.entrant is None]
    agents = {task.agent for task in tasks if task.agent and task.agent != REFEREE}
    agents.update(settings.agents if any(task.agent is None for task in tasks) else ())
    agent_names = ", ".join(
        [*_describe_contest(preview, plan), *(_describe_agent(preview, name) for name in sorted(agents))]
    )
    if settings.fallback and len(tasks) == len(plan.tasks):  # contests have no fallback
        agent_names = f"{agent_names} (fallback: {', '.join(settings.fallback)})"
    parts = [pluralize(len(tasks), "task"), _describe_parallelism(preview), agent_names, _describe_isolation(preview)]
    if settings.sandbox is not SandboxMode.OFF or preview.loaded.config.agents.sandboxes:
        from plait.client.planning.sandbox import describe_sandboxes  # most batches have none

        parts.append(f"sandbox {describe_sandboxes(preview)}")
    parts += [] if settings.executor is ExecutorKind.LOCAL else [f"executor {settings.executor}"]
    return " · ".join(parts)


def _describe_contest(preview: PlanPreview, plan: Plan) -> list[str]:
    if len(plan.tasks) == sum(task.entrant is None for task in plan.tasks):
        return []
    from plait.client.planning.contest_setup import describe_contest  # few batches have one

    return [describe_contest(preview.loaded.config, plan)]


def _describe_agent(preview: PlanPreview, name: str) -> str:
    """Return the agent's name, marked if it was detected rather than configured."""
    detected = not preview.loaded.config.default_agents and name in preview.settings.agents and name != SHELL_AGENT
    return f"{name} (first agent found)" if detected else name


def _describe_isolation(preview: PlanPreview) -> str:
    if preview.settings.isolation is Isolation.WORKTREE:
        base = preview.loaded.config.run.base
        return f"each in its own worktree, from {base}" if base else "each in its own worktree"
    return f"in place: all tasks work in {preview.loaded.location.top} directly, without worktrees"


def _describe_parallelism(preview: PlanPreview) -> str:
    """Describe the parallelism. A configured engine limit applies if it is lower than the batch's."""
    settings, config = preview.settings, preview.loaded.config
    if settings.mode is Mode.QUEUE:
        return "one at a time" if settings.auto_approve else "one at a time, each after approval"
    batch_limit = settings.max_parallel
    engine_limit = config.engine.parallel_limit
    is_configured = config.origins["engine.parallel_limit"].layer is not Layer.DEFAULT
    if is_configured and engine_limit and (not batch_limit or batch_limit > engine_limit):
        return f"{engine_limit} at once (engine.parallel_limit)"
    return describe_parallel_limit(settings)


_ISOLATION_KEY, _BASE_KEY = "run.isolation", "run.base"


def use_mirror(options: RunOptions) -> RunOptions:
    """Return options for a run in the mirror, which is fetched first. Raises UserError or WorldError."""
    assert options.repo is not None
    if options.flags.get(_ISOLATION_KEY) == "in-place":
        raise UserError(
            "--repo works in worktrees: changes in the mirror's own checkout would not be visible",
            hint="Leave --isolation in-place out.",
        )
    mirrored = mirror(options.repo, base=str(options.flags.get(_BASE_KEY) or ""), on_progress=output.print_notice)
    where = mirrored.location.top
    output.print_notice(f"Mirrored {mirrored.name}; to see its batches: plait -C {where} status")
    # The checkout is the base.
    flags = {name: value for name, value in options.flags.items() if name != _BASE_KEY}
    sources = tuple(_resolve_source(source, where) for source in options.source_names)
    settings = {**get_mirror_settings(mirrored.location), **flags}
    return replace(options, directory=where, source_names=sources, flags=settings, repo=None)


def _resolve_source(name: str, mirror: Path) -> str:
    """Return the path of a source in the mirror, or else in the current directory."""
    local = Path(name)
    return str(local.resolve()) if not (mirror / name).exists() and local.exists() else name
