"""The outline of a batch: where everything stands, in little, so that whoever comes back knows whether anything moved."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from plait.core.explain import standing
from plait.core.frozen import dataclass
from plait.core.state import BatchState, State
from plait.core.task import Step
from plait.core.views import batch_standing, waits_for_person
from plait.server.acts.batches import one
from plait.server.acts.naming import the_batch
from plait.server.mcp.told import BatchTold, TaskTold
from plait.server.mcp.tool import Json
from plait.server.office import Office

# Of each task: its status, what it waits on, and its attempt.
Stands = Mapping[str, tuple[str, str, int]]


@dataclass(frozen=True, slots=True)
class Glance:
    """How far a batch is: cheap, however many tasks it has. `person`: it goes no further without one."""

    batch: str
    status: str
    reason: str
    ended: bool
    person: bool
    publishing: bool
    settled: int
    total: int
    working: int


@dataclass(frozen=True, slots=True)
class Outline:
    """`mark` is the same as long as nothing has moved."""

    glance: Glance
    stands: Stands

    @property
    def mark(self) -> str:
        now = self.glance
        said = repr((now.batch, now.status, now.person, now.publishing, sorted(self.stands.items())))
        return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def moved(self, since: Outline) -> list[str]:
        return [name for name, stands in self.stands.items() if since.stands.get(name) != stands]


async def glance(office: Office, batch: str) -> Glance:
    return await office.look(lambda desk: glanced(state := desk.ahead(), the_batch(state, batch)))


async def outline(office: Office, batch: str | None) -> Outline:
    """None: of the newest batch. Raises UnknownError."""
    return await office.look(lambda desk: outlined(state := desk.ahead(), the_batch(state, batch)))


def glanced(state: State, batch: BatchState) -> Glance:
    status, reason = batch_standing(batch)
    asked = [task.status is not None for task in batch.tasks if task.task.entrant is None]
    return Glance(
        batch.id,
        status.value,
        reason,
        ended=batch.ended is not None,
        person=batch.ended is None and waits_for_person(state, batch),
        publishing=batch.wish is not None or batch.publishing is not None,
        settled=sum(asked),
        total=len(asked),
        working=len(batch.alive),
    )


def outlined(state: State, batch: BatchState) -> Outline:
    stands = dict[str, tuple[str, str, int]]()
    for task in batch.tasks:
        now = standing(state, batch, task)
        attempt = task.numbers.get(Step.WRITE, 0)
        stands[task.task.id] = (now.status.value, now.on.value if now.on else "", attempt)
    return Outline(glanced(state, batch), stands)


async def told(office: Office, batch: str | None) -> tuple[Outline, BatchTold, list[Json]]:
    """One batch as tools tell it, and all of its tasks as the HTTP interface does. Raises UnknownError."""
    seen = await outline(office, batch)
    found = await one(office, seen.glance.batch)
    tasks = found["tasks"]
    assert isinstance(tasks, list)
    return seen, batch_told(found, seen), tasks


def batch_told(found: Mapping[str, object], seen: Outline) -> BatchTold:
    beside = {"reason": seen.glance.reason, "needsPerson": seen.glance.person, "mark": seen.mark}
    return BatchTold.model_validate({**found, **beside})


def tasks_told(tasks: Sequence[Json]) -> list[TaskTold]:
    return [TaskTold.model_validate(task) for task in tasks]
