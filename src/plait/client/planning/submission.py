"""Prepare and submit a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from plait.agents.interface import AgentSpec
from plait.client.agent_specs import build_agent_specs, load_prompt_template
from plait.client.planning.agent_assignment import assign_plan_agents
from plait.client.planning.plan_preview import PlanPreview
from plait.client.planning.submission_checks import refuse_duplicates, resolve_isolation
from plait.client.project_sources import LoadedSources
from plait.client.repository import check_publish_target, find_worktree_problems, resolve_base_commit
from plait.client.session import Session, Submission, new_request_id
from plait.config.config import Config, Layer
from plait.core.plan import Plan, Problem
from plait.core.requests import ChangeEngineSettings
from plait.core.settings import EngineSettings, Isolation, Publish
from plait.core.state import State
from plait.git.location import RepoLocation
from plait.store.batch_files import RepoOptions
from plait.store.project_files import LOCKS_FOLDER
from plait.system.locks import hold_lock

_LIMIT_FIELD = "parallel_limit"
_LOCK_NAME = "submit"


def select_agents(seen: LoadedSources, *, contest: bool) -> tuple[AgentSpec, ...]:
    """The agents of the batch and, in a contest, the referee. Raises UserError or ConfigError."""
    agents = build_agent_specs(seen.config)
    if not contest:
        return agents
    from plait.client.planning.contest_setup import add_referee

    return add_referee(seen.config, agents)


def prepare_plan(found: PlanPreview, agents: tuple[AgentSpec, ...], repeats: int | None = None) -> PlanPreview:
    """The plan as it would be submitted, or its problems; `repeats`: in a contest, how often each agent tries."""
    found = assign_plan_agents(found, agents)
    if found.planned.plan is None:
        return found
    found = replace(found, settings=resolve_isolation(found.settings, found.loaded.config, found.loaded.place))
    if repeats is None:
        return found
    from plait.client.planning.contest_setup import add_contest_entrants

    return add_contest_entrants(found, agents, repeats)


def make_limit_request(config: Config, state: State, wanted: int, *, batch: str = "") -> ChangeEngineSettings | None:
    """The request that lets a batch run `wanted` attempts at once; None: the limit suffices, or the user set it.

    Without a limit in the settings, it follows the open batches, and falls back after the last one that needed more.
    `batch` is about to change, so its own setting doesn't count.
    """
    if config.origins[f"engine.{_LIMIT_FIELD}"].layer is not Layer.DEFAULT:
        return None
    others = (each.settings.max_parallel for name, each in state.open.items() if name != batch)
    limit = derive_parallel_limit((wanted, *others))
    if limit == state.settings.parallel_limit:
        return None
    return ChangeEngineSettings(new_request_id(), EngineSettings(parallel_limit=limit), (_LIMIT_FIELD,))


def derive_parallel_limit(widths: Iterable[int]) -> int:
    """The engine's limit if none is set: the largest that a batch wants."""
    wanted = (EngineSettings().parallel_limit, *widths)
    return 0 if 0 in wanted else max(wanted)


def submit_plan(
    session: Session,
    found: PlanPreview,
    plan: Plan,
    agents: Sequence[AgentSpec],
    on_problems: Callable[[Sequence[Problem]], None],
) -> str:
    """Submit and return the batch's id; events are collected from here on. `on_problems` gets warnings first."""
    submission, minor = build_submission(session.place, found, plan, agents)
    on_problems(minor)
    with lock_submission(session.place):
        session.refresh()
        wider = check_admission(session.preview_state(), found, plan)
        session.subscribe()
        if wider is not None:
            session.send(wider)
        return session.submit(submission)


def build_submission(
    place: RepoLocation, found: PlanPreview, plan: Plan, agents: Sequence[AgentSpec]
) -> tuple[Submission, list[Problem]]:
    """The submission and its warnings. Raises UserError or ConfigError if it can't run here."""
    config = found.loaded.config
    isolated = found.settings.isolation is Isolation.WORKTREE
    base = resolve_base_commit(place, config.run.base) if isolated else ""
    options = RepoOptions.from_config(config) if isolated else None
    template = load_prompt_template(place, config)
    if options is not None and found.settings.publish is not Publish.OFF:
        check_publish_target(place, options.publish_target, found.settings.publish)
    minor = find_worktree_problems(place, base) if isolated else []
    sources = tuple(str(source) for source in found.loaded.source_set.sources)
    return Submission(plan, found.settings, tuple(agents), sources, base, options, template), minor


def check_admission(state: State, found: PlanPreview, plan: Plan) -> ChangeEngineSettings | None:
    """A request to send first, if any. Raises UserError if an open batch has tasks of this plan."""
    refuse_duplicates(state, found, plan)
    return make_limit_request(found.loaded.config, state, found.settings.max_parallel)


def lock_submission(place: RepoLocation) -> AbstractContextManager[None]:
    """No other batch is submitted between checking the open batches and submitting this one."""
    return hold_lock(place.state / LOCKS_FOLDER / _LOCK_NAME)
