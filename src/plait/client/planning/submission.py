"""Submitting a batch: nobody else's batch has its tasks, and two who submit at once take turns."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from plait.agents.interface import AgentSpec
from plait.client.agent_specs__prompts import load_prompt_template
from plait.client.planning.plan_preview import PlanPreview
from plait.client.planning.submission__fitting import make_limit_request
from plait.client.planning.submission_checks import refuse_duplicates
from plait.client.repository import check_publish_target, find_worktree_problems, resolve_base_commit
from plait.client.session import Session
from plait.client.session__asking import Submission
from plait.core.plan import Plan, Problem
from plait.core.requests import ChangeEngineSettings
from plait.core.settings import Isolation, Publish
from plait.core.state import State
from plait.git.location import RepoLocation
from plait.store.batch_inputs import RepoOptions
from plait.store.project_files import LOCKS_FOLDER

_LOCK_NAME = "submit"


def submit_plan(
    desk: Session,
    found: PlanPreview,
    plan: Plan,
    agents: Sequence[AgentSpec],
    on_problems: Callable[[Sequence[Problem]], None],
) -> str:
    """The batch's id. What happens from here on is told; `tell` is told what a person should know before."""
    submission, minor = build_submission(desk.place, found, plan, agents)
    on_problems(minor)
    with lock_submission(desk.place):
        desk.refresh()
        wider = check_admission(desk.preview_state(), found, plan)
        desk.subscribe()
        if wider is not None:
            desk.send(wider)
        return desk.submit(submission)


def build_submission(
    place: RepoLocation, found: PlanPreview, plan: Plan, agents: Sequence[AgentSpec]
) -> tuple[Submission, list[Problem]]:
    """What is submitted, and what a person should know of it. Raises UserError or ConfigError where it can't be run here."""
    config = found.survey.config
    isolated = found.settings.isolation is Isolation.WORKTREE
    base = resolve_base_commit(place, config.run.base) if isolated else ""
    gear = RepoOptions.from_config(config) if isolated else None
    template = load_prompt_template(place, config)
    if gear is not None and found.settings.publish is not Publish.OFF:
        check_publish_target(place, gear.shipping, found.settings.publish)
    minor = find_worktree_problems(place, base) if isolated else []
    sources = tuple(str(source) for source in found.survey.pile.sources)
    return Submission(plan, found.settings, tuple(agents), sources, base, gear, template), minor


def check_admission(state: State, found: PlanPreview, plan: Plan) -> ChangeEngineSettings | None:
    """What has to be asked for first, if anything. Raises UserError if an open batch has tasks of this plan."""
    refuse_duplicates(state, found, plan)
    return make_limit_request(found.survey.config, state, found.settings.max_parallel)


@contextmanager
def lock_submission(place: RepoLocation) -> Iterator[None]:
    """Between the look at what is open and the batch that is opened nobody else opens one."""
    folder = place.state / LOCKS_FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(folder / _LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
