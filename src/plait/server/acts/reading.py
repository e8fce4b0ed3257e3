"""Reading what tasks left: what their attempts and gates printed, what they changed, and why they are where they are."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from plait import wiring
from plait.agents.tools.events import Events
from plait.core.errors import UserError, WorldError
from plait.core.frozen import dataclass
from plait.core.state import BatchState, State, TaskState
from plait.core.task import Attempt, Step
from plait.core.views import batch_standing, task_view
from plait.front.chronicle import Chronicle
from plait.front.comparison import Comparison, of_attempt, of_batch, of_task
from plait.front.conflicts import Conflict, conflict_of, sides_json
from plait.front.desk import Desk
from plait.front.difference import Difference, difference
from plait.front.difference_shape import difference_json
from plait.front.event import line
from plait.front.explaining import explained_by, explained_json, result_json
from plait.front.gates import choose_gate, gate_attempt
from plait.front.past import Try
from plait.front.reading.attempts import at_work, choose, listener_by
from plait.front.reading.neutral import neutral
from plait.front.reading.page import page
from plait.front.reading.said import said
from plait.front.refusals import StateError, UnknownError
from plait.front.results import Result, confirmed
from plait.server.acts.naming import both, the_batch, the_task
from plait.server.office import Office
from plait.site.git import GitError
from plait.wiring import Place
from plait.wiring.secrets import discretion

Json = dict[str, object]

MOST = 1 << 20  # bytes of a transcript at a time


@dataclass(frozen=True, slots=True)
class Log:
    """A part of an attempt's transcript: `offset` is where it starts, `next` where the following one does.

    `ended`: the attempt is over, and nothing comes after this part.
    """

    attempt: Attempt
    offset: int
    next: int
    ended: bool
    text: str


async def log(  # noqa: PLR0913 - what can be asked of a transcript
    office: Office,
    batch: str | None,
    task: str,
    *,
    start: int = 0,
    most: int = MOST,
    attempt: int | None = None,
    step: Step = Step.WRITE,
    events: bool = False,
) -> Log:
    """What the newest attempt printed, or that of this number, without secrets; `start` < 0: so many bytes before the end.

    `events`: what it said and did, as `execution:log` events, one a line. Raises UnknownError or, before there is any
    attempt, StateError.
    """

    def read(desk: Desk) -> tuple[Attempt, bool, Sequence[Try]]:
        state = desk.ahead()
        found, of = both(state, batch, task)
        name = _attempt(state, found, of, step, attempt)
        return name, at_work(state, name), office.chronicle.of(found.id).past.of(of.task.id)

    name, working, past = await office.look(read)
    heard = past if events else None
    return await asyncio.to_thread(_log, office.place, name, (start, most), working=working, heard=heard)


async def gate_log(
    office: Office, batch: str | None, *, gate: int | None = None, start: int = 0, most: int = MOST
) -> Log:
    """As `log`, of the batch's newest gate, or that of this number. Raises UnknownError if there is none."""

    def read(desk: Desk) -> tuple[Attempt, bool]:
        state = desk.ahead()
        name = _gate(the_batch(state, batch), gate)
        return name, at_work(state, name)

    name, working = await office.look(read)
    return await asyncio.to_thread(_log, office.place, name, (start, most), working=working, heard=None)


async def prints_objects(office: Office, attempt: Attempt) -> bool:
    """Whether what it prints is for programs: then people want to hear what it says and does instead."""
    past = await office.look(lambda _: office.chronicle.of(attempt.batch).past.of(attempt.task))
    listener = await asyncio.to_thread(listener_by, office.place, attempt, past)
    return isinstance(listener, Events)


async def explain(office: Office, batch: str | None, task: str) -> Json:
    """As `explain --json`. Git is asked off the desk's thread, which has others to answer."""

    def read(desk: Desk) -> tuple[Json, Result | None]:
        state = desk.ahead()
        found, of = both(state, batch, task)
        told = office.chronicle.of(found.id)
        name = of.task.id
        past, gate, met = told.past.of(name), told.gates.deciding(name), told.clashes.last(name)
        known = explained_by(desk.place, state, (found, of), past, gate, met)
        return explained_json(known), known.result

    told, expected = await office.look(read)
    return {**told, "result": result_json(await asyncio.to_thread(confirmed, office.place, expected))}


async def diff(office: Office, batch: str | None, task: str | None, *, attempt: int | None = None) -> Json:
    """As `diff --json`: of a task, of one of its attempts, or of the whole batch. Raises StateError if there is none."""
    name, wanted, state = await compared(office, batch, task, attempt=attempt)

    def read() -> Json:
        with opened(office.place, wanted, state) as found:
            return difference_json(name, wanted.attempt, found, brief=False)

    return await asyncio.to_thread(read)


async def conflict(office: Office, batch: str | None, task: str) -> Json:
    """With both sides of each file, as git merges them. Raises StateError if it is in none."""

    def read(desk: Desk) -> tuple[Conflict, str]:
        state = desk.ahead()
        found, of = both(state, batch, task)
        status = task_view(state, found, of).status.value
        met = conflict_of(found, of, office.chronicle.of(found.id).clashes.last(of.task.id))
        if met is None:
            raise StateError(f"{of.task.id} is in no conflict", state=status)
        return met, status

    met, status = await office.look(read)

    def sides() -> Json:
        with _in_state(status):
            return sides_json(office.place, met)

    return await asyncio.to_thread(sides)


async def compared(
    office: Office, batch: str | None, task: str | None, *, attempt: int | None = None
) -> tuple[str, Comparison, str]:
    """The batch, what is compared, and the status of what it is the change of."""

    def read(desk: Desk) -> tuple[str, Comparison, str]:
        state = desk.ahead()
        found = the_batch(state, batch)
        if task is None:
            status = batch_standing(found)[0].value
            with _in_state(status):
                return found.id, of_batch(found), status
        of = the_task(found, task)
        status = task_view(state, found, of).status.value
        with _in_state(status):
            return found.id, _of_task(office.chronicle, state, (found, of), attempt), status

    return await office.look(read)


@contextmanager
def opened(place: Place, wanted: Comparison, state: str) -> Iterator[Difference]:
    """What is not there to compare is a matter of its state; what git can't do is not."""
    with _in_state(state), difference(place, wanted) as found:
        yield found


def _of_task(
    chronicle: Chronicle, state: State, of: tuple[BatchState, TaskState], attempt: int | None
) -> Comparison:
    batch, task = of
    if attempt is None:
        return of_task(state, batch, task)
    return of_attempt(state, batch, task, attempt, lambda: chronicle.of(batch.id).past.of(task.task.id))


def _attempt(state: State, batch: BatchState, task: TaskState, step: Step, number: int | None) -> Attempt:
    with _in_state(task_view(state, batch, task).status.value):
        return choose(state, batch, task, step, number)


def _gate(batch: BatchState, number: int | None) -> Attempt:
    try:
        return gate_attempt(batch.id, choose_gate(batch, number))
    except (UserError, WorldError) as error:
        raise UnknownError(error.message, hint=error.hint) from error


@contextmanager
def _in_state(state: str) -> Iterator[None]:
    """What a front calls the world's fault, since a person waits for it, is a state to programs."""
    try:
        yield
    except GitError:
        raise
    except WorldError as error:
        raise StateError(error.message, state=state, hint=error.hint) from error
    except UserError as error:
        raise UnknownError(error.message, hint=error.hint) from error


def _log(
    place: Place, name: Attempt, part: tuple[int, int], *, working: bool, heard: Sequence[Try] | None
) -> Log:
    """`heard`: who made it is among these, and it is told as events."""
    folder = wiring.state_folder(place)
    hide = discretion(folder, name.batch)
    found = page(folder.attempt(name).transcript, *part, ended=not working)
    if heard is None:
        text = hide(neutral(found.text(hide)))  # colours within a secret are gone now
    else:
        told = said(name, found, listener_by(place, name, heard), hide, time.time())
        text = "".join(f"{line(event)}\n" for event in told)
    return Log(name, found.offset, found.next, not working and found.last, text)
