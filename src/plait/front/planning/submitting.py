"""Submitting a batch: nobody else's batch has its tasks, and two who submit at once take turns."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from plait.agents.model import AgentSpec
from plait.core.plan import Plan, Problem
from plait.core.requests import ChangeEngineSettings
from plait.core.settings import Isolation, Publish
from plait.core.state import State
from plait.front.asking import Submission
from plait.front.desk import Desk
from plait.front.planning.checks import refuse_twice
from plait.front.planning.fitting import fitting
from plait.front.planning.outlook import Outlook
from plait.kit import Gear
from plait.wiring import LOCKS, Place
from plait.wiring.prompts import prompt_template
from plait.wiring.repository import base_commit, check_shipping, ground_problems

_LOCK = "submit"


def submit(
    desk: Desk,
    found: Outlook,
    plan: Plan,
    agents: Sequence[AgentSpec],
    tell: Callable[[Sequence[Problem]], None],
) -> str:
    """The batch's id. What happens from here on is told; `tell` is told what a person should know before."""
    submission, minor = drawn_up(desk.place, found, plan, agents)
    tell(minor)
    with turn(desk.place):
        desk.refresh()
        wider = admitted(desk.ahead(), found, plan)
        desk.listen()
        if wider is not None:
            desk.ask(wider)
        return desk.submit(submission)


def drawn_up(
    place: Place, found: Outlook, plan: Plan, agents: Sequence[AgentSpec]
) -> tuple[Submission, list[Problem]]:
    """What is submitted, and what a person should know of it. Raises UserError or ConfigError where it can't be run here."""
    config = found.seen.config
    isolated = found.settings.isolation is Isolation.WORKTREE
    base = base_commit(place, config.run.base) if isolated else ""
    gear = Gear.of(config) if isolated else None
    template = prompt_template(place, config)
    if gear is not None and found.settings.publish is not Publish.OFF:
        check_shipping(place, gear.shipping, found.settings.publish)
    minor = ground_problems(place, base) if isolated else []
    sources = tuple(str(source) for source in found.seen.pile.sources)
    return Submission(plan, found.settings, tuple(agents), sources, base, gear, template), minor


def admitted(state: State, found: Outlook, plan: Plan) -> ChangeEngineSettings | None:
    """What has to be asked for first, if anything. Raises UserError if an open batch has tasks of this plan."""
    refuse_twice(state, found, plan)
    return fitting(found.seen.config, state, found.settings.max_parallel)


@contextmanager
def turn(place: Place) -> Iterator[None]:
    """Between the look at what is open and the batch that is opened nobody else opens one."""
    folder = place.state / LOCKS
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
