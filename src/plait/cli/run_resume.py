"""`plait run --resume`: going on with the newest unfinished batch of these sources."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields

from plait import wiring
from plait.agents.model import AgentSpec
from plait.cli.run_calls import Calls
from plait.cli.run_follow import Followed, detached, follow
from plait.cli.run_leave import left_at_once
from plait.cli.run_options import RunOptions
from plait.cli.run_show import tell
from plait.cli.say import ASKS, OK, Page, write_json
from plait.config.model import Config, Layer
from plait.config.schema import of_table
from plait.core.errors import UserError, WorldError
from plait.core.requests import ChangeSettings, Request, Resume
from plait.core.settings import Settings
from plait.core.state import BatchState, State
from plait.core.views import batch_standing
from plait.front.asking import request_id
from plait.front.desk import Desk
from plait.front.planning.checks import newest
from plait.front.planning.fitting import fitting
from plait.front.planning.outlook import machine_size
from plait.front.planning.purse import unkept
from plait.kit import KitError
from plait.sources.model import Mark
from plait.wiring.sources import Survey

_PATIENCE = 60.0  # seconds until somebody has taken up a batch that was only handed in
_GLANCE = 0.25
_BUDGETS = frozenset({"budget", "task_budget"})


def stuck(seen: Survey, desk: Desk) -> bool:
    """No batch of these sources is unfinished, and yet some of their tasks were begun: by a run that nobody knows of."""
    begun = any(entry.mark is Mark.STUCK for entry in seen.pile.entries)
    return begun and newest(desk.ahead(), seen.pile) is None


def resume(options: RunOptions, seen: Survey, desk: Desk) -> int:
    found = newest(desk.ahead(), seen.pile)
    if found is None:
        return _nothing(options)
    if options.dry_run:
        return _would(options, found)
    try:
        with Calls() as calls:
            return _go_on(options, seen, desk, found.id, calls)
    except KeyboardInterrupt:
        return left_at_once(desk, desk.state.batches.get(found.id))


def _go_on(options: RunOptions, seen: Survey, desk: Desk, name: str, calls: Calls) -> int:
    batch = _taken(desk, name)
    desk.listen()
    requests = list(_requests(seen.config, desk.state, batch))
    _check_budgets(batch, requests, _agents(desk, batch.id))
    refused = [answer.why for answer in desk.ask_all(requests) if answer.why]
    if refused:
        tell(f"Batch {batch.id} can't go on: {'; '.join(refused)}.")
        return ASKS
    if options.detach:
        return detached(options, batch.id)
    headline = f"batch {batch.id} · {batch.unsettled} of {len(batch.tasks)} tasks to go"
    followed = Followed(batch.id, headline, _agents(desk, batch.id), seen.config.notify.bell)
    return follow(options, desk, followed, calls)


def _agents(desk: Desk, batch: str) -> tuple[AgentSpec, ...]:
    """As they were submitted; without them their words are shown as they are."""
    try:
        return wiring.load_kit(desk.place, batch).agents
    except KitError:
        return ()


def _nothing(options: RunOptions) -> int:
    if options.as_json:
        write_json({"batchId": None})
    else:
        _say("No batch of these sources is unfinished: there is nothing to resume.")
    return OK


def _would(options: RunOptions, batch: BatchState) -> int:
    if options.as_json:
        write_json({"batchId": batch.id})
    else:
        _say(f"Would go on with batch {batch.id}: {batch_standing(batch)[1]}.")
    return OK


def _taken(desk: Desk, name: str) -> BatchState:
    """A batch may have been handed in by a front that died before any engine took it."""
    deadline = time.monotonic() + _PATIENCE
    while name not in desk.state.batches:
        if time.monotonic() > deadline:
            raise WorldError(f"batch {name} is accepted, but no engine has taken it")
        desk.tend()
        desk.wait(_GLANCE)
        desk.refresh()
    return desk.state.batches[name]


def _requests(config: Config, state: State, batch: BatchState) -> Iterator[Request]:
    """What the flags say now holds from now on; what nobody said stays as it was submitted."""
    known = {one.name for one in fields(Settings)}
    given = [key.field for key in of_table("run") if config.given[key.name].layer is Layer.FLAG]
    changed = tuple(name for name in given if name in known)
    if changed:
        settings = config.settings(tasks=len(batch.tasks), cores=machine_size())
        if "max_parallel" in changed:
            wider = fitting(config, state, settings.max_parallel, batch=batch.id)
            if wider is not None:
                yield wider
        yield ChangeSettings(request_id(), batch.id, settings, changed)
    if batch.paused is not None:
        yield Resume(request_id(), batch.id)


def _check_budgets(batch: BatchState, requests: Iterable[Request], agents: Sequence[AgentSpec]) -> None:
    """A budget that was not there when the batch was submitted must be one that can be kept."""
    for request in requests:
        if isinstance(request, ChangeSettings) and not _BUDGETS.isdisjoint(request.fields):
            settings = batch.settings.patched(request.settings, request.fields)
            for problem in unkept(settings, [task.task for task in batch.tasks], agents):
                raise UserError(problem.message, hint=problem.hint)


def _say(text: str) -> None:
    page = Page()
    page.line(text)
    page.show()
