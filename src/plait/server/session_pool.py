"""Visits: requests that are being answered, and the offices they are in. Who only listens is asked to leave when an office or
the server closes, and comes back by itself.

Offices: one for each project that is in use. It is opened for whoever asks for it first, stays open while somebody is in
it or a batch is open in it, and is closed some minutes after that.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TypeVar

from plait.client.api_errors import FieldError
from plait.client.session import Session
from plait.core.errors import PlaitError
from plait.git.location import RepoLocation
from plait.server.project_session import ProjectSession
from plait.server.project_store import ProjectCatalog, ProjectStore
from plait.server.projects import Project
from plait.store.project_files import has_journal


class RequestScope:
    """`over` is set when those who only listen have to leave."""

    def __init__(self) -> None:
        self.closing = asyncio.Event()
        self.sessions: set[PooledSession] = set()


class PooledSession:
    """An open office, and who is in it."""

    def __init__(self, project: Project, session: ProjectSession) -> None:
        self.project, self.session = project, session
        self.scopes: set[RequestScope] = set()
        self.last_used = time.monotonic()
        self.unused = asyncio.Event()
        self.unused.set()

    def add_scope(self, scope: RequestScope | None) -> None:
        """None: somebody who won't say when they leave."""
        self.last_used = time.monotonic()
        if scope is not None:
            scope.sessions.add(self)
            self.scopes.add(scope)
            self.unused.clear()

    def remove_scope(self, scope: RequestScope) -> None:
        self.last_used = time.monotonic()
        self.scopes.discard(scope)
        if not self.scopes:
            self.unused.set()


current_scope: ContextVar[RequestScope | None] = ContextVar("plait-visit", default=None)


T = TypeVar("T")


IDLE_SECONDS = 300.0  # seconds that an office without work stays open after its last visitor


MAX_SESSIONS = 32  # offices; of more than that, those without work are closed as soon as nobody is in them


SWEEP_SECONDS = 20.0  # seconds between two looks at what may be closed


MAX_FETCHES = 4  # mirrors that are cloned or fetched at once


class SessionPool:
    """Used from one loop. `default` is where the server was started; None: in no project. `tell` hears what nobody asked
    for, and a person should know.
    """

    def __init__(
        self,
        store: ProjectStore,
        default: RepoLocation | None = None,
        *,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._catalog, self._warn = ProjectCatalog(store, default), warn
        self._open: dict[str, PooledSession] = {}
        self._opening: dict[str, asyncio.Task[PooledSession]] = {}
        self._scopes: set[RequestScope] = set()
        self._background_tasks: set[asyncio.Task[None]] = set()
        self._fetch_threads = ThreadPoolExecutor(
            MAX_FETCHES, "mirror"
        )  # they may take minutes, and hold up nobody else
        self._shutting_down = False

    def list_projects(self) -> list[Project]:
        """The one served first. Raises WorldError where the register can't be read."""
        return self._catalog.list_projects()

    async def get(self, project: str | None = None) -> ProjectSession:
        """None: the one served. Raises UnknownError, or PlaitError where it can't be opened."""
        return (await self._acquire(project)).session

    async def get_updated(self, project: str | None = None) -> ProjectSession:
        """The same, and if it is of a mirror, fetched just now: for whoever starts from what is there. Raises WorldError."""
        pooled = await self._acquire(project)
        if pooled.project.url:
            in_use = (pooled.session.place.top,)
            await pooled.session.relocate(
                await self._run_fetch(partial(self._catalog.fetch_mirror, pooled.project, in_use))
            )
        return pooled.session

    async def add_project(self, *, path: str | None = None, url: str | None = None) -> Project:
        """One that is known already is brought up to date. Raises FieldError, or WorldError where git can't reach it."""
        if path is not None and url is None:
            return await asyncio.to_thread(self._catalog.add_path, path)
        if path is None and url is not None:
            return await asyncio.shield(asyncio.create_task(self._add_url(url)))
        raise FieldError("a project has either a path or a url", field="path")

    async def remove_project(self, project_id: str) -> None:
        """The server forgets it; nothing of it is touched, and what runs there goes on. Raises UnknownError, StateError."""
        found = self._catalog.find(project_id)
        await asyncio.to_thread(self._catalog.remove, found)
        if (pooled := self._open.pop(found.id, None)) is not None:
            self._spawn(_close_when_unused(pooled))

    def start(self) -> None:
        """What was left undone goes on, in all projects, and offices that nobody needs are closed."""
        self._spawn(self._resume_projects())
        self._spawn(self._sweep())

    def begin_shutdown(self) -> None:
        """Those who listen are asked to leave; others may end what they came for."""
        self._shutting_down = True
        for scope in self._scopes:
            scope.closing.set()

    async def close(self) -> None:
        self.begin_shutdown()
        tasks = [*self._background_tasks, *self._opening.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        while self._open:
            await self._open.popitem()[1].session.close()
        self._fetch_threads.shutdown(wait=False, cancel_futures=True)

    @contextmanager
    def open_scope(self) -> Iterator[RequestScope]:
        """Offices that are asked for meanwhile stay open until it is over."""
        scope = RequestScope()
        if self._shutting_down:
            scope.closing.set()
        self._scopes.add(scope)
        token = current_scope.set(scope)
        try:
            yield scope
        finally:
            current_scope.reset(token)
            self._scopes.discard(scope)
            for pooled in scope.sessions:
                pooled.remove_scope(scope)

    async def close_idle(self, idle: float = IDLE_SECONDS) -> None:
        """Close the offices that nobody has been in for so long, and that have no work."""
        for pooled in list(self._open.values()):
            if await self._is_idle(pooled, idle):
                del self._open[pooled.project.id]
                await pooled.session.close()

    async def _is_idle(self, pooled: PooledSession, idle: float) -> bool:
        since = time.monotonic() - (0.0 if len(self._open) > MAX_SESSIONS else idle)
        if pooled.project.default or pooled.scopes or pooled.last_used > since:
            return False
        try:
            busy = await pooled.session.query(_has_work)
        except PlaitError:  # a journal that can't be read has to be opened anew anyway
            busy = False
        # Somebody may have come meanwhile.
        return not (busy or pooled.scopes or pooled.last_used > since) and self._open.get(pooled.project.id) is pooled

    async def _acquire(self, project: str | None) -> PooledSession:
        found = self._catalog.find(project)
        pooled = self._open.get(found.id)
        if pooled is None or (found.url and not pooled.session.place.top.is_dir()):
            pooled = await self._open_session(found)
        pooled.add_scope(current_scope.get())
        return pooled

    async def _open_session(self, project: Project) -> PooledSession:
        """Of those who ask at once, all get the same one."""
        task = self._opening.get(project.id)
        if task is None:
            task = self._opening[project.id] = asyncio.create_task(self._create_session(project))
            task.add_done_callback(partial(self._on_opened, project.id))
        return await asyncio.shield(task)

    def _on_opened(self, project_id: str, task: asyncio.Task[PooledSession]) -> None:
        del self._opening[project_id]
        if not task.cancelled():
            task.exception()  # whoever asked may have gone

    async def _create_session(self, project: Project) -> PooledSession:
        place = await self._run_fetch(partial(self._catalog.locate, project))
        if (pooled := self._open.get(project.id)) is not None:  # its checkout was gone, and this is another one
            await pooled.session.relocate(place)
            return pooled
        session = ProjectSession(project.id, place)
        try:
            await session.open()
        except BaseException:
            await session.close()
            raise
        self._open[project.id] = created = PooledSession(project, session)
        return created

    async def _add_url(self, url: str) -> Project:
        in_use = [pooled.session.place.top for pooled in self._open.values() if pooled.project.url]
        added, found = await self._run_fetch(partial(self._catalog.add_url, url, in_use))
        if (kept := self._open.get(added.id)) is not None:
            await kept.session.relocate(found.place)
        return added

    async def _run_fetch(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._fetch_threads, work)

    async def _resume_projects(self) -> None:
        """One after another: a journal that is folded keeps a core busy."""
        try:
            projects = self._catalog.list_projects()
        except PlaitError as error:
            self._warn(_format_error(error))
            projects = [] if self._catalog.default_project is None else [self._catalog.default_project]
        for project in projects:
            try:
                place = await self._run_fetch(partial(self._catalog.locate, project))
                if has_journal(place) or project.default:
                    await self._open_session(project)
            except PlaitError as error:
                self._warn(f"{project.name} ({project.path}): {_format_error(error)}")
        await self.close_idle(0.0)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            await self.close_idle()

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._background_tasks.add(task)
        task.add_done_callback(self._background_tasks.discard)


async def _close_when_unused(pooled: PooledSession) -> None:
    """As soon as everybody has left."""
    for scope in pooled.scopes:
        scope.closing.set()
    await pooled.unused.wait()
    await pooled.session.close()


def _has_work(desk: Session) -> bool:
    return bool(desk.state.open) or bool(desk.list_pending())


def _format_error(error: PlaitError) -> str:
    return f"{error.message}. {error.hint}" if error.hint else error.message
