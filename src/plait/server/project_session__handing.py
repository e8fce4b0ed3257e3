"""Handing in at an office: requests are durable first, then answered, as far as an engine does so in time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from plait.agents.interface import AgentSpec
from plait.client.planning.plan_preview import PlanPreview
from plait.client.planning.submission import build_submission, check_admission, lock_submission
from plait.client.session import ANSWER_TIMEOUT_SECONDS, ENGINE_CHECK_SECONDS, SUBMIT_TIMEOUT_SECONDS, Session
from plait.client.session__asking import RequestAnswer
from plait.core.plan import Plan, Problem
from plait.core.requests import Request

if TYPE_CHECKING:
    from plait.server.project_session import ProjectSession


async def ask_engine(
    session: ProjectSession, requests: Sequence[Request], patience: float | None = None
) -> list[RequestAnswer]:
    await session.query(lambda desk: desk.enqueue(requests))
    return await _await_answers(session, requests, ANSWER_TIMEOUT_SECONDS if patience is None else patience)


async def submit_batch(
    session: ProjectSession, preview: PlanPreview, plan: Plan, agents: Sequence[AgentSpec], request_id: str
) -> tuple[str, list[Problem]]:
    submission, warnings = await asyncio.to_thread(build_submission, session.place, preview, plan, agents)
    async with session.submit_lock, _hold_lock(lock_submission(session.place)):
        raise_limit = await session.query(lambda desk: check_admission(desk.preview_state(), preview, plan))
        if raise_limit is not None:
            await ask_engine(session, [raise_limit])
        request = await session.query(lambda desk: desk.enqueue_submission(submission, request_id))
        (answer,) = await _await_answers(session, [request], SUBMIT_TIMEOUT_SECONDS)
        return await session.query(lambda desk: desk.confirm_submission(request, answer)), warnings


async def _await_answers(
    session: ProjectSession, requests: Sequence[Request], patience: float
) -> list[RequestAnswer]:
    deadline = time.monotonic() + patience
    try:
        while (
            not await session.query(lambda desk: desk.are_answered(requests)) and time.monotonic() < deadline
        ):
            await session.query(Session.ensure_engine)
            await session.sleep_until_change(ENGINE_CHECK_SECONDS)
    finally:
        answers = await session.query(lambda desk: desk.collect_answers(requests))
    return answers


@asynccontextmanager
async def _hold_lock(lock: AbstractContextManager[None]) -> AsyncIterator[None]:
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
