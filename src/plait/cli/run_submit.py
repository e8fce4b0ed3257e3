"""Submitting a batch: nobody else's batch has its tasks, and two who submit at once take turns."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from plait.agents.model import AgentSpec
from plait.cli.planning import Outlook
from plait.cli.run_check import refuse_twice
from plait.cli.run_limit import fitting
from plait.cli.say import console, tell_problems
from plait.core.plan import Plan
from plait.core.settings import Isolation, Publish
from plait.front.asking import Submission
from plait.front.desk import Desk
from plait.kit import Gear
from plait.wiring import LOCKS, Place
from plait.wiring.prompts import prompt_template
from plait.wiring.repository import base_commit, check_shipping, ground_problems

_LOCK = "submit"


def submit(desk: Desk, found: Outlook, plan: Plan, agents: Sequence[AgentSpec]) -> str:
    """The batch's id. What happens from here on is told."""
    config = found.seen.config
    isolated = found.settings.isolation is Isolation.WORKTREE
    base = base_commit(desk.place, config.run.base) if isolated else ""
    gear = Gear.of(config) if isolated else None
    template = prompt_template(desk.place, config)
    if isolated:
        if found.settings.publish is not Publish.OFF:
            check_shipping(desk.place, config, found.settings.publish)
        tell_problems(console(stderr=True), ground_problems(desk.place, base))
    with _turn(desk.place):
        desk.refresh()
        ahead = desk.ahead()
        refuse_twice(ahead, found, plan)
        desk.listen()
        wider = fitting(found.seen.config, ahead, found.settings.max_parallel)
        if wider is not None:
            desk.ask(wider)
        sources = tuple(str(source) for source in found.seen.pile.sources)
        return desk.submit(Submission(plan, found.settings, tuple(agents), sources, base, gear, template))


@contextmanager
def _turn(place: Place) -> Iterator[None]:
    """Between the look at what is open and the batch that is opened nobody else opens one."""
    folder = place.state / LOCKS
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
