"""Handing in at an office: requests are durable first, then answered, as far as an engine does so in time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from plait.agents.model import AgentSpec
from plait.core.plan import Plan, Problem
from plait.core.requests import Request
from plait.front.asking import Answer
from plait.front.desk import GLANCE, LONG, PATIENCE, Desk
from plait.front.planning.outlook import Outlook
from plait.front.planning.submitting import admitted, drawn_up, turn

if TYPE_CHECKING:
    from plait.server.office import Office


async def asked(office: Office, requests: Sequence[Request], patience: float | None = None) -> list[Answer]:
    await office.look(lambda desk: desk.put(requests))
    return await _answers(office, requests, PATIENCE if patience is None else patience)


async def submitted(
    office: Office, found: Outlook, plan: Plan, agents: Sequence[AgentSpec], name: str
) -> tuple[str, list[Problem]]:
    submission, minor = await asyncio.to_thread(drawn_up, office.place, found, plan, agents)
    async with office.turn, _held(turn(office.place)):
        wider = await office.look(lambda desk: admitted(desk.ahead(), found, plan))
        if wider is not None:
            await asked(office, [wider])
        request = await office.look(lambda desk: desk.hand_in(submission, name))
        (answer,) = await _answers(office, [request], LONG)
        return await office.look(lambda desk: desk.taken(request, answer)), minor


async def _answers(office: Office, requests: Sequence[Request], patience: float) -> list[Answer]:
    deadline = time.monotonic() + patience
    try:
        while not await office.look(lambda desk: desk.answered(requests)) and time.monotonic() < deadline:
            await office.look(Desk.tend)
            await office.pause(GLANCE)
    finally:
        told = await office.look(lambda desk: desk.answers(requests))
    return told


@asynccontextmanager
async def _held(lock: AbstractContextManager[None]) -> AsyncIterator[None]:
    """Nobody else opens a batch meanwhile, in whatever process. Who stops waiting for it does not get it later."""
    entering = asyncio.ensure_future(asyncio.to_thread(lock.__enter__))
    try:
        await asyncio.shield(entering)
    except asyncio.CancelledError:
        entering.add_done_callback(lambda entered: entered.exception() or lock.__exit__(None, None, None))
        raise
    try:
        yield
    finally:
        lock.__exit__(None, None, None)
