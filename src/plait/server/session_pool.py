"""The open sessions: one for each project in use, closed a few minutes after its last use unless it has open batches."""

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
from plait.server.project_session import ProjectSession, RequestScope
from plait.server.projects import Project, ProjectCatalog, ProjectStore
from plait.store.project_files import has_journal
from plait.store.state_claim import require_own_state

T = TypeVar("T")

IDLE_SECONDS = 300.0  # that a session without work stays open after its last use
MAX_SESSIONS = 32  # above this, sessions without work are closed as soon as they are unused
SWEEP_SECONDS = 20.0  # between two looks for idle sessions
MAX_FETCHES = 4  # mirrors that are cloned or fetched at once

current_scope: ContextVar[RequestScope | None] = ContextVar("plait-request-scope", default=None)


class SessionPool:
    """The open sessions. Used from one event loop. `default`: where the server was started, if in a project. `warn`
    gets messages for a person.
    """

    def __init__(
        self,
        store: ProjectStore,
        default: RepoLocation | None = None,
        *,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._catalog, self._warn = ProjectCatalog(store, default), warn
        self._open: dict[str, ProjectSession] = {}
        self._opening: dict[str, asyncio.Task[ProjectSession]] = {}
        self._scopes: set[RequestScope] = set()
        self._background_tasks: set[asyncio.Task[None]] = set()
        self._fetch_threads = ThreadPoolExecutor(MAX_FETCHES, "mirror")  # a fetch may take minutes
        self._shutting_down = False

    def list_projects(self) -> list[Project]:
        """List the projects, the default one first. Raises WorldError if the project file can't be read."""
        return self._catalog.list_projects()

    async def get(self, project: str | None = None) -> ProjectSession:
        """Return a session; None: the default project's. Raises NotFoundError, or PlaitError if it can't open it."""
        known = self._catalog.find(project)
        session = self._open.get(known.id)
        if session is None or (known.url and not session.location.top.is_dir()):
            session = await self._open_session(known)
        session.add_scope(current_scope.get())
        return session

    async def get_updated(self, project: str | None = None) -> ProjectSession:
        """Return the same, after fetching if it is a mirror. Raises WorldError."""
        session = await self.get(project)
        if session.url:
            in_use = (session.location.top,)
            location = await self._run_fetch(partial(self._catalog.fetch_mirror, session.url, in_use))
            await session.relocate(location)
        return session

    async def add_project(self, *, path: str | None = None, url: str | None = None) -> Project:
        """Add or update a project. Raises FieldError, or WorldError if git can't reach the repository."""
        if path is not None and url is None:
            return await asyncio.to_thread(self._catalog.add_path, path)
        if path is None and url is not None:
            return await asyncio.shield(asyncio.create_task(self._add_url(url)))
        raise FieldError("a project has either a path or a url", field="path")

    async def remove_project(self, project_id: str) -> None:
        """Remove only the server's entry; running batches continue. Raises NotFoundError, StateError."""
        project = self._catalog.find(project_id)
        await asyncio.to_thread(self._catalog.remove, project)
        if (session := self._open.pop(project.id, None)) is not None:
            self._spawn(session.close_when_unused())

    def start(self) -> None:
        """Continue unfinished batches in all projects, and close idle sessions from time to time."""
        self._spawn(self._resume_projects())
        self._spawn(self._sweep())

    def begin_shutdown(self) -> None:
        """End event streams; other requests may finish."""
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
            await self._open.popitem()[1].close()
        self._fetch_threads.shutdown(wait=False, cancel_futures=True)

    @contextmanager
    def open_scope(self) -> Iterator[RequestScope]:
        """Open a scope, which keeps the sessions that a request uses open until it is over."""
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
            for session in scope.sessions:
                session.remove_scope(scope)

    async def close_idle(self, idle: float = IDLE_SECONDS) -> None:
        """Close the sessions that have been unused for `idle` seconds and have no work."""
        for session in list(self._open.values()):
            if await self._is_idle(session, idle):
                del self._open[session.id]
                await session.close()

    async def _is_idle(self, session: ProjectSession, idle: float) -> bool:
        default = self._catalog.default_project
        since = time.monotonic() - (0.0 if len(self._open) > MAX_SESSIONS else idle)
        if (default and default.id == session.id) or session.scopes or session.last_used > since:
            return False
        try:
            busy = await session.query(_has_work)
        except PlaitError:  # an unreadable journal has to be opened again anyway
            busy = False
        # A request may have started meanwhile.
        return not (busy or session.scopes or session.last_used > since) and self._open.get(session.id) is session

    async def _open_session(self, project: Project) -> ProjectSession:
        """Open a session; concurrent callers get the same one."""
        task = self._opening.get(project.id)
        if task is None:
            task = self._opening[project.id] = asyncio.create_task(self._create_session(project))
            task.add_done_callback(partial(self._on_opened, project.id))
        return await asyncio.shield(task)

    def _on_opened(self, project_id: str, task: asyncio.Task[ProjectSession]) -> None:
        del self._opening[project_id]
        if not task.cancelled():
            task.exception()  # retrieved, in case the caller is gone

    async def _create_session(self, project: Project) -> ProjectSession:
        location = await self._run_fetch(partial(self._catalog.locate, project))
        if (session := self._open.get(project.id)) is not None:  # its checkout was gone and has been replaced
            await session.relocate(location)
            return session
        await self._run_fetch(partial(require_own_state, location))
        session = ProjectSession(project.id, location, url=project.url)
        try:
            await session.open()
        except BaseException:
            await session.close()
            raise
        self._open[project.id] = session
        return session

    async def _add_url(self, url: str) -> Project:
        in_use = [session.location.top for session in self._open.values() if session.url]
        added, mirror = await self._run_fetch(partial(self._catalog.add_url, url, in_use))
        if (session := self._open.get(added.id)) is not None:
            await session.relocate(mirror.location)
        return added

    async def _run_fetch(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._fetch_threads, work)

    async def _resume_projects(self) -> None:
        """Resume projects one after another: reading a journal keeps a core busy."""
        try:
            projects = self._catalog.list_projects()
        except PlaitError as error:
            self._warn(_format_error(error))
            projects = [] if self._catalog.default_project is None else [self._catalog.default_project]
        for project in projects:
            try:
                location = await self._run_fetch(partial(self._catalog.locate, project))
                if has_journal(location) or project.default:
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


def _has_work(client: Session) -> bool:
    return bool(client.state.open) or bool(client.list_pending())


def _format_error(error: PlaitError) -> str:
    return f"{error.message}. {error.hint}" if error.hint else error.message
