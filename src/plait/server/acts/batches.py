"""Batches: all of them, one of them, a new one, and what a new one would be."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from plait.agents.model import AgentSpec
from plait.config.model import Config
from plait.core.errors import ConfigError, PlaitError, UserError, WorldError
from plait.core.fork import fork
from plait.core.plan import Plan, Problem, Severity
from plait.core.state import BatchState, State
from plait.front.desk import Desk
from plait.front.mirroring import terms
from plait.front.planning.outlook import Outlook, outlook
from plait.front.planning.prepared import agents_of, prepared
from plait.front.planning.shape import plan_json
from plait.front.planning.submitting import admitted, drawn_up
from plait.front.problems import problem_json, problems_of
from plait.front.refusals import FieldError, StateError
from plait.front.run_shape import standings_json
from plait.front.shape import batch_json, brief_json, status_json
from plait.front.trust import AGENTS, FORMAT, require_trust
from plait.server.acts.asking import named, once, submitted
from plait.server.acts.marked import marked
from plait.server.acts.naming import the_batch
from plait.server.acts.order import Order
from plait.server.hints import addressed
from plait.server.office import Office
from plait.wiring import Place
from plait.wiring.sources import History, SourcesMissingError, Survey, survey

Json = dict[str, object]

COMPLETE = "completed"


class PlanError(UserError):
    """There is no plan: the problems say why."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        errors = [problem for problem in problems if problem.severity is Severity.ERROR] or list(problems)
        first = errors[0] if errors else None
        super().__init__(
            first.message if first else "there is nothing to plan", hint=first.hint if first else ""
        )
        self.problems = tuple(problems)


async def listed(office: Office, *, tasks: bool = True, limit: int | None = None) -> Json:
    """`{"engine", "batches"}` as `status --json`, the newest first; without `tasks`, batches have none."""
    return (await listed_at(office, tasks=tasks, limit=limit))[0]


async def listed_at(
    office: Office, *, tasks: bool = True, limit: int | None = None, unended: bool = False
) -> tuple[Json, str]:
    """And its mark. `unended`: whatever is open is among them, however old it is."""
    return await marked(office, lambda desk: _listed(office, desk, tasks=tasks, limit=limit, unended=unended))


async def one(office: Office, batch: str | None) -> Json:
    """BATCH; None: the newest. Raises UnknownError or, where several begin like it, StateError."""
    return (await one_at(office, batch))[0]


async def one_at(office: Office, batch: str | None) -> tuple[Json, str]:
    """And its mark."""
    return await marked(office, lambda desk: _one(office, desk, batch))


async def standing_at(office: Office, batch: str | None, tasks: Sequence[str]) -> tuple[Json, str]:
    """Where these tasks of it stand (none named: all of them), and its mark. Who is not there is left out."""
    return await marked(office, lambda desk: _standing(office, desk, batch, tasks))


async def create(office: Office, order: Order, *, key: str = "") -> Json:
    """`{id, status, mode, tasks, createdAt, problems, accepted}`, once it is in the journal; `accepted`: it is safe, and no
    engine has taken it yet. With a `key`, the one that was made with it before.

    Raises UnknownError, FieldError, PlanError, UntrustedError or StateError; then nothing was started.
    """
    name = named(key, office.id, *order.words)
    async with once(office, key and name):
        earlier = await submitted(office, name) if key else None
        if earlier is not None:
            return await _created(office, earlier, ())
        found, agents = await _prepared(office, order)
        require_trust(found.seen.config, office.place)
        plan = _plan(found)
        try:
            batch, minor = await office.submit(found, plan, agents, name)
        except WorldError as error:  # it may be safe all the same
            waiting = await submitted(office, name)
            if waiting is None:
                raise
            batch, minor = waiting, [Problem(Severity.WARNING, error.message, hint=error.hint)]
        return await _created(office, batch, (*found.planned.problems, *minor))


async def plan_preview(office: Office, order: Order) -> Json:
    """As `plan --json`; where there can be no plan, its problems say why, and they say what would keep it from being run now."""
    try:
        found, agents = await _prepared(office, order)
    except SourcesMissingError as error:
        return plan_json(None, {}, problems_of(error))
    plan = found.planned.plan
    problems = list(found.planned.problems)
    if plan is not None:
        problems += await office.look(lambda desk: _caught(lambda: admitted(desk.ahead(), found, plan)))
        problems += await asyncio.to_thread(_obstacles, office.place, found, plan, agents)
    return await asyncio.to_thread(_plan_json, found) | {"problems": _problems_json(problems)}


def _plan_json(found: Outlook) -> Json:
    """How long it would take is found out by running through it, which takes a moment."""
    return plan_json(found.planned.plan, found.seen.pile.by_id, (), found.eta, found.cost)


def _obstacles(place: Place, found: Outlook, plan: Plan, agents: tuple[AgentSpec, ...]) -> list[Problem]:
    """What the repository has against it."""
    minor = list[Problem]()
    wrong = _caught(lambda: require_trust(found.seen.config, place))
    wrong += _caught(lambda: minor.extend(drawn_up(place, found, plan, agents)[1]))
    return [*wrong, *minor]


def _caught(check: Callable[[], object]) -> list[Problem]:
    try:
        check()
    except PlaitError as error:
        return list(problems_of(error))
    return []


async def _prepared(office: Office, order: Order) -> tuple[Outlook, tuple[AgentSpec, ...]]:
    seen, agents = await _seen(office, order)
    past = await office.look(_history)
    return await asyncio.to_thread(_found, past, seen, agents, order), agents


def _found(past: History, seen: Survey, agents: tuple[AgentSpec, ...], order: Order) -> Outlook:
    with _of_contest(order):
        times = None if order.contest is None else order.contest.times
        return prepared(outlook(seen, past, order.wish), agents, times)


@contextmanager
def _of_contest(order: Order) -> Iterator[None]:
    """Why there can be none is told as what is wrong with it."""
    try:
        yield
    except (UserError, ConfigError) as error:
        if order.contest is None or isinstance(error, StateError | FieldError):
            raise
        raise FieldError(error.message, field="contest", hint=error.hint) from error


async def _seen(office: Office, order: Order) -> tuple[Survey, tuple[AgentSpec, ...]]:
    """What the sources say and who may be called: read off the desk's thread, which has others to answer."""
    flags = {**order.flags(), **terms(office.place)}

    def vet(config: Config) -> None:
        require_trust(config, office.place, early=(FORMAT, *AGENTS))

    def read() -> tuple[Survey, tuple[AgentSpec, ...]]:
        try:
            seen = survey(office.place.top, flags=flags, place=office.place, vet=vet, kept=office.kept)
        except SourcesMissingError:
            order.check(None)
            raise
        order.check(seen.pile)
        return seen, _agents(seen, order)

    return await asyncio.to_thread(read)


def _agents(seen: Survey, order: Order) -> tuple[AgentSpec, ...]:
    try:
        with _of_contest(order):
            return agents_of(seen, contest=order.contest is not None)
    except ConfigError as error:
        if "agent" not in order.settings:
            raise
        raise FieldError(error.message, field="settings.agent", hint=error.hint) from error


def _history(desk: Desk) -> History:
    """As a twin, to be read off the desk's thread."""
    return History(fork(desk.state) if desk.state.seq else None)


def _plan(found: Outlook) -> Plan:
    planned = found.planned
    if planned.plan is not None:
        return planned.plan
    if planned.complete:
        raise StateError("everything selected is complete: there is nothing to do", state=COMPLETE)
    raise PlanError(planned.problems)


def _listed(office: Office, desk: Desk, *, tasks: bool, limit: int | None, unended: bool) -> Json:
    state = desk.ahead()
    newest = sorted(state.batches.values(), key=lambda batch: batch.order, reverse=True)
    older = [] if limit is None else [batch for batch in newest[limit:] if unended and batch.ended is None]
    shape = batch_json if tasks else brief_json
    named = [*newest[:limit], *older]
    told = [shape(state, batch, eta=office.eta(batch.id), project_id=office.id) for batch in named]
    return status_json(desk.engine(), told)


def _one(office: Office, desk: Desk, word: str | None) -> Json:
    state = desk.ahead()
    return _batch(office, state, the_batch(state, word))


def _standing(office: Office, desk: Desk, word: str | None, tasks: Sequence[str]) -> Json:
    state = desk.ahead()
    batch = the_batch(state, word)
    return standings_json(state, batch, tasks, eta=office.eta(batch.id), project_id=office.id)


def _batch(office: Office, state: State, batch: BatchState) -> Json:
    return batch_json(state, batch, eta=office.eta(batch.id), project_id=office.id)


async def _created(office: Office, name: str, problems: Sequence[Problem]) -> Json:
    told, taken = await office.look(lambda desk: (_batch_of(office, desk, name), name in desk.state.batches))
    tasks = told["tasks"]
    assert isinstance(tasks, list)
    return {
        **{key: told[key] for key in ("id", "status", "mode", "branch", "createdAt")},
        "tasks": [{key: task[key] for key in ("taskId", "title", "status", "branch")} for task in tasks],
        "problems": _problems_json(problems),
        "accepted": not taken,
    }


def _problems_json(problems: Sequence[Problem]) -> list[Json]:
    return [problem_json(addressed(problem)) for problem in problems]


def _batch_of(office: Office, desk: Desk, name: str) -> Json:
    state = desk.ahead()
    return _batch(office, state, state.batches[name])
