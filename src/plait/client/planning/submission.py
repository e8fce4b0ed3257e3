"""Prepare, check and submit a batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from importlib.util import find_spec

from plait.agents.interface import AgentSpec
from plait.client.agent_specs import build_agent_specs, load_prompt_template
from plait.client.api_errors import StateError
from plait.client.planning.agent_assignment import assign_plan_agents
from plait.client.planning.completed_tasks import iter_task_keys, list_source_addresses
from plait.client.planning.plan_preview import PlanPreview
from plait.client.planning.sandbox import build_sandbox_options, resolve_agent_sandboxes, resolve_sandbox
from plait.client.programs import check_programs
from plait.client.project_sources import LoadedSources
from plait.client.pull_request_preview import check_publish_target
from plait.client.session import Session, Submission, new_request_id
from plait.config.config import Config, Layer
from plait.config.loading import PLAIT_TOML
from plait.core.errors import ConfigError, UserError
from plait.core.plan import Plan, Problem, Severity
from plait.core.requests import ChangeEngineSettings
from plait.core.settings import EngineSettings, ExecutorKind, Isolation, Publish, Settings
from plait.core.state import BatchState, State
from plait.core.text import join_names
from plait.core.views import find_batch_status
from plait.git.command import Git, GitError
from plait.git.location import RepoLocation
from plait.git.worktrees.preconditions import check_preconditions, check_worktrees_folder, find_checkout_problems
from plait.git.worktrees.worktree import find_worktrees_folder
from plait.sources.source_set import SourceSet
from plait.store.batch_files import RepoOptions
from plait.store.project_files import LOCKS_FOLDER
from plait.system.flock import hold_lock

_LIMIT_FIELD = "parallel_limit"
_LOCK_NAME = "submit"
_MAX_NAMES = 4


def select_agents(loaded: LoadedSources, *, contest: bool) -> tuple[AgentSpec, ...]:
    """Return the agents of the batch and, in a contest, the referee. Raises UserError or ConfigError."""
    agents = build_agent_specs(loaded.config)
    if not contest:
        return agents
    from plait.client.planning.contest_setup import add_referee

    return add_referee(loaded.config, agents)


def prepare_plan(preview: PlanPreview, agents: tuple[AgentSpec, ...], repeats: int | None = None) -> PlanPreview:
    """Return the plan as it would be submitted, or its problems; `repeats`: in a contest, how often each agent tries.

    Raises UserError or ConfigError.
    """
    require_executor(preview.settings.executor)
    preview = assign_plan_agents(preview, agents)
    if preview.planned.plan is None:
        return preview
    preview = replace(
        preview, settings=resolve_isolation(preview.settings, preview.loaded.config, preview.loaded.location)
    )
    preview = _add_checkout_problems(resolve_sandbox(_check_programs(preview, contest=repeats is not None)))
    if repeats is None or preview.planned.plan is None:
        return preview
    from plait.client.planning.contest_setup import add_contest_entrants

    return add_contest_entrants(preview, agents, repeats)


def require_executor(executor: ExecutorKind) -> None:
    """Raise UserError if the executor's dependencies aren't installed. Nothing is imported: Ray takes seconds."""
    if executor is ExecutorKind.RAY and not all(map(find_spec, ("ray", "nacl"))):
        raise UserError("the executor ray needs Ray, which is not installed: pip install 'plait[ray]'")


def _check_programs(preview: PlanPreview, *, contest: bool) -> PlanPreview:
    """Return the plan, or problems instead if commands can't run here. What nodes of a cluster have is unknown here."""
    plan = preview.planned.plan
    assert plan is not None
    if preview.settings.executor is not ExecutorKind.LOCAL:
        return preview
    problems = check_programs(preview.loaded.config, preview.settings, plan.tasks, contest=contest)
    has_errors = any(problem.severity is Severity.ERROR for problem in problems)
    planned = replace(
        preview.planned, plan=None if has_errors else plan, problems=(*preview.planned.problems, *problems)
    )
    return replace(preview, planned=planned)


def _add_checkout_problems(preview: PlanPreview) -> PlanPreview:
    """Add problems of the checkout, but not of sources and settings, which only plait reads."""
    if preview.settings.isolation is not Isolation.WORKTREE:
        return preview
    sources = [source.path for source in preview.loaded.source_set.sources if source.path != "."]
    origins = [entry.task.origin.file for entry in preview.loaded.source_set.entries if entry.task.origin is not None]
    problems = find_checkout_problems(preview.loaded.location.top, {PLAIT_TOML, *sources, *origins})
    planned = replace(preview.planned, problems=(*preview.planned.problems, *problems))
    return replace(preview, planned=planned)


def make_limit_request(config: Config, state: State, wanted: int, *, batch: str = "") -> ChangeEngineSettings | None:
    """Make the request that lets a batch run `wanted` attempts at once; None if the limit suffices, or the user set it.

    Without a limit in the settings, it follows the open batches, and falls back after the last one that needed more.
    `batch` is about to change, so its own setting doesn't count.
    """
    if config.origins[f"engine.{_LIMIT_FIELD}"].layer is not Layer.DEFAULT:
        return None
    others = (other.settings.max_parallel for name, other in state.open.items() if name != batch)
    limit = derive_parallel_limit((wanted, *others))
    if limit == state.settings.parallel_limit:
        return None
    return ChangeEngineSettings(new_request_id(), EngineSettings(parallel_limit=limit), (_LIMIT_FIELD,))


def derive_parallel_limit(widths: Iterable[int]) -> int:
    """Return the engine's limit if none is set: the largest that a batch wants."""
    wanted = (EngineSettings().parallel_limit, *widths)
    return 0 if 0 in wanted else max(wanted)


def submit_plan(session: Session, preview: PlanPreview, submission: Submission) -> str:
    """Submit and return the batch's id; events are collected from here on."""
    with lock_submission(session.location):
        session.refresh()
        limit_request = check_admission(session.preview_state(), preview, submission.plan)
        session.subscribe()
        if limit_request is not None:
            session.send(limit_request)
        return session.submit(submission)


def build_submission(
    location: RepoLocation, preview: PlanPreview, plan: Plan, agents: Sequence[AgentSpec]
) -> tuple[Submission, list[Problem]]:
    """Build the submission and its warnings. Raises UserError or ConfigError if it can't run here."""
    config = preview.loaded.config
    isolated = preview.settings.isolation is Isolation.WORKTREE
    base = resolve_base_commit(location, config.run.base) if isolated else ""
    options = RepoOptions.from_config(config) if isolated else None
    template = load_prompt_template(location, config)
    warnings = []
    if isolated:
        warnings = check_preconditions(location.top, base)
        check_worktrees_folder(find_worktrees_folder(location, config))
    if options is not None and preview.settings.publish is not Publish.OFF:
        warnings += check_publish_target(location, options.publish_target, preview.settings.publish)
    sources = list_source_addresses(preview.loaded.source_set)
    return Submission(
        plan,
        preview.settings,
        resolve_agent_sandboxes(agents, config),
        sources,
        base,
        options,
        template,
        preview.loaded.flags,
        build_sandbox_options(config),
    ), warnings


def resolve_base_commit(location: RepoLocation, ref: str | None) -> str:
    """Return the commit that a batch starts from. Raises UserError where there is none."""
    git = Git(location.top)
    try:
        return git.text("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref or 'HEAD'}^{{commit}}")
    except GitError as error:
        if ref is not None:
            raise UserError(
                f"there is no commit called {ref} here", hint="--base takes a branch, a tag or a commit."
            ) from error
        raise UserError(
            "this repository has no commit yet, and worktrees start from one",
            hint="Commit something first, or say --isolation in-place to work in the folder itself.",
        ) from error


def check_admission(state: State, preview: PlanPreview, plan: Plan) -> ChangeEngineSettings | None:
    """Return a request to send first, if any. Raises UserError if an open batch has tasks of this plan."""
    refuse_duplicates(state, preview, plan)
    return make_limit_request(preview.loaded.config, state, preview.settings.max_parallel)


def lock_submission(location: RepoLocation) -> AbstractContextManager[None]:
    """Keep other batches from being submitted between checking the open batches and submitting this one."""
    return hold_lock(location.state / LOCKS_FOLDER / _LOCK_NAME)


def resolve_isolation(settings: Settings, config: Config, location: RepoLocation) -> Settings:
    """Choose worktrees, or the checkout itself where there is no repository, unless the user chose worktrees."""
    if settings.isolation is Isolation.WORKTREE and not location.repository:
        origin = config.origins["run.isolation"]
        if origin.layer is not Layer.DEFAULT:
            raise UserError(
                f"{origin}: worktrees need a git repository, and {location.top} isn't one",
                hint="Run git init and make a first commit, or use --isolation in-place.",
            )
        settings = replace(settings, isolation=Isolation.IN_PLACE)
    if settings.isolation is Isolation.IN_PLACE and settings.executor is not ExecutorKind.LOCAL:
        raise UserError(
            f"the executor {settings.executor} works in worktrees on other machines, and this batch works in place",
            hint="Leave --isolation in-place out, in a git repository; or use --executor local.",
        )
    if settings.isolation is Isolation.IN_PLACE:
        _refuse_merge_settings(settings, config)
        return replace(settings, publish=Publish.OFF)
    return settings


def refuse_unconfirmed_folder(loaded: LoadedSources) -> None:
    """Raise UserError unless a person or a setting chose the folder itself: without git, changes can't be undone."""
    if not loaded.location.repository and loaded.config.origins["run.isolation"].layer is Layer.DEFAULT:
        raise UserError(
            f"{loaded.location.top} isn't a git repository: agents would change its files directly",
            hint="Run git init and make a first commit; or allow it with --isolation in-place.",
        )


def _refuse_merge_settings(settings: Settings, config: Config) -> None:
    if settings.gate is not None:
        raise ConfigError(
            f"{config.origins['run.gate']}: a gate runs on the merged result, and in place nothing is merged",
            hint="Remove it; --verify checks each task.",
        )
    if config.origins["run.base"].layer is Layer.FLAG:
        raise UserError(
            "in place, the base is always what is checked out",
            hint="Leave --base out, or use --isolation worktree.",
        )
    if settings.publish is not Publish.OFF and config.origins["pr.when_done"].layer is Layer.FLAG:
        raise UserError(
            "in place nothing is merged, so there is no branch to push",
            hint="Leave --pr, --draft and --push out, or use --isolation worktree.",
        )


def refuse_duplicates(state: State, preview: PlanPreview, plan: Plan) -> None:
    """Raise StateError if an open batch hasn't finished a task of this plan."""
    wanted = {
        key: task.id for key, task in iter_task_keys(plan.tasks, list_source_addresses(preview.loaded.source_set))
    }
    for batch in state.open.values():
        unfinished = (task.task for task in batch.tasks if task.status is None)
        duplicates = [wanted[key] for key, _ in iter_task_keys(unfinished, batch.sources) if key in wanted]
        if duplicates:
            raise StateError(
                f"batch {batch.id} has not finished with {join_names(duplicates, _MAX_NAMES)}",
                state=find_batch_status(batch)[0].value,
                hint=f"Continue it: plait run --resume. Or cancel it: plait cancel {batch.id}.",
            )


def find_open_batch(state: State, source_set: SourceSet) -> BatchState | None:
    """Return the newest unfinished batch with one of these sources, or None."""
    return find_newest_batch(state.open.values(), source_set)


def find_newest_batch(batches: Iterable[BatchState], source_set: SourceSet) -> BatchState | None:
    """Return the newest of these batches with one of these sources, or None."""
    addresses = set(list_source_addresses(source_set))
    return max(
        (batch for batch in batches if addresses & set(batch.sources)), key=lambda batch: batch.order, default=None
    )
