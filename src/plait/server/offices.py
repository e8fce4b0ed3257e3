"""Offices: one for each project that is in use. It is opened for whoever asks for it first, stays open while somebody is in
it or a batch is open in it, and is closed some minutes after that.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from plait.core.errors import PlaitError
from plait.front.desk import Desk
from plait.front.refusals import FieldError
from plait.server.catalogue import Catalogue
from plait.server.office import Office
from plait.server.projects import Project
from plait.server.register import Register
from plait.server.visits import Kept, Visit, current
from plait.wiring import Place, has_journal

T = TypeVar("T")

IDLE = 300.0  # seconds that an office without work stays open after its last visitor
MANY = 32  # offices; of more than that, those without work are closed as soon as nobody is in them
SWEEP = 20.0  # seconds between two looks at what may be closed
FETCHES = 4  # mirrors that are cloned or fetched at once


class Offices:
    """Used from one loop. `default` is where the server was started; None: in no project. `tell` hears what nobody asked
    for, and a person should know.
    """

    def __init__(
        self,
        register: Register,
        default: Place | None = None,
        *,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._known, self._tell = Catalogue(register, default), tell
        self._open: dict[str, Kept] = {}
        self._opening: dict[str, asyncio.Task[Kept]] = {}
        self._visits: set[Visit] = set()
        self._work: set[asyncio.Task[None]] = set()
        self._fetching = ThreadPoolExecutor(
            FETCHES, "mirror"
        )  # they may take minutes, and hold up nobody else
        self._leaving = False

    def projects(self) -> list[Project]:
        """The one served first. Raises WorldError where the register can't be read."""
        return self._known.projects()

    async def office(self, project: str | None = None) -> Office:
        """None: the one served. Raises UnknownError, or PlaitError where it can't be opened."""
        return (await self._kept(project)).office

    async def fresh(self, project: str | None = None) -> Office:
        """The same, and if it is of a mirror, fetched just now: for whoever starts from what is there. Raises WorldError."""
        kept = await self._kept(project)
        if kept.project.url:
            in_use = (kept.office.place.top,)
            await kept.office.move(await self._fetch(partial(self._known.fetched, kept.project, in_use)))
        return kept.office

    async def add(self, *, path: str | None = None, url: str | None = None) -> Project:
        """One that is known already is brought up to date. Raises FieldError, or WorldError where git can't reach it."""
        if path is not None and url is None:
            return await asyncio.to_thread(self._known.add_path, path)
        if path is None and url is not None:
            return await asyncio.shield(asyncio.create_task(self._add_url(url)))
        raise FieldError("a project has either a path or a url", field="path")

    async def remove(self, project_id: str) -> None:
        """The server forgets it; nothing of it is touched, and what runs there goes on. Raises UnknownError, StateError."""
        found = self._known.find(project_id)
        await asyncio.to_thread(self._known.remove, found)
        if (kept := self._open.pop(found.id, None)) is not None:
            self._begin(_shut(kept))

    def start(self) -> None:
        """What was left undone goes on, in all projects, and offices that nobody needs are closed."""
        self._begin(self._take_up())
        self._begin(self._sweep())

    def leave(self) -> None:
        """Those who listen are asked to leave; others may end what they came for."""
        self._leaving = True
        for visit in self._visits:
            visit.over.set()

    async def close(self) -> None:
        self.leave()
        going = [*self._work, *self._opening.values()]
        for task in going:
            task.cancel()
        await asyncio.gather(*going, return_exceptions=True)
        while self._open:
            await self._open.popitem()[1].office.close()
        self._fetching.shutdown(wait=False, cancel_futures=True)

    @contextmanager
    def visit(self) -> Iterator[Visit]:
        """Offices that are asked for meanwhile stay open until it is over."""
        visit = Visit()
        if self._leaving:
            visit.over.set()
        self._visits.add(visit)
        token = current.set(visit)
        try:
            yield visit
        finally:
            current.reset(token)
            self._visits.discard(visit)
            for kept in visit.kept:
                kept.left(visit)

    async def tidy(self, idle: float = IDLE) -> None:
        """Close the offices that nobody has been in for so long, and that have no work."""
        for kept in list(self._open.values()):
            if await self._needless(kept, idle):
                del self._open[kept.project.id]
                await kept.office.close()

    async def _needless(self, kept: Kept, idle: float) -> bool:
        since = time.monotonic() - (0.0 if len(self._open) > MANY else idle)
        if kept.project.default or kept.visits or kept.used > since:
            return False
        try:
            busy = await kept.office.look(_has_work)
        except PlaitError:  # a journal that can't be read has to be opened anew anyway
            busy = False
        # Somebody may have come meanwhile.
        return not (busy or kept.visits or kept.used > since) and self._open.get(kept.project.id) is kept

    async def _kept(self, project: str | None) -> Kept:
        found = self._known.find(project)
        kept = self._open.get(found.id)
        if kept is None or (found.url and not kept.office.place.top.is_dir()):
            kept = await self._opened(found)
        kept.enter(current.get())
        return kept

    async def _opened(self, project: Project) -> Kept:
        """Of those who ask at once, all get the same one."""
        task = self._opening.get(project.id)
        if task is None:
            task = self._opening[project.id] = asyncio.create_task(self._made(project))
            task.add_done_callback(partial(self._made_now, project.id))
        return await asyncio.shield(task)

    def _made_now(self, name: str, task: asyncio.Task[Kept]) -> None:
        del self._opening[name]
        if not task.cancelled():
            task.exception()  # whoever asked may have gone

    async def _made(self, project: Project) -> Kept:
        place = await self._fetch(partial(self._known.place, project))
        if (kept := self._open.get(project.id)) is not None:  # its checkout was gone, and this is another one
            await kept.office.move(place)
            return kept
        office = Office(project.id, place)
        try:
            await office.open()
        except BaseException:
            await office.close()
            raise
        self._open[project.id] = made = Kept(project, office)
        return made

    async def _add_url(self, url: str) -> Project:
        in_use = [kept.office.place.top for kept in self._open.values() if kept.project.url]
        added, found = await self._fetch(partial(self._known.add_url, url, in_use))
        if (kept := self._open.get(added.id)) is not None:
            await kept.office.move(found.place)
        return added

    async def _fetch(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._fetching, work)

    async def _take_up(self) -> None:
        """One after another: a journal that is folded keeps a core busy."""
        try:
            known = self._known.projects()
        except PlaitError as error:
            self._tell(_told(error))
            known = [] if self._known.own is None else [self._known.own]
        for project in known:
            try:
                place = await self._fetch(partial(self._known.place, project))
                if has_journal(place) or project.default:
                    await self._opened(project)
            except PlaitError as error:
                self._tell(f"{project.name} ({project.path}): {_told(error)}")
        await self.tidy(0.0)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP)
            await self.tidy()

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._work.add(task)
        task.add_done_callback(self._work.discard)


async def _shut(kept: Kept) -> None:
    """As soon as everybody has left."""
    for visit in kept.visits:
        visit.over.set()
    await kept.empty.wait()
    await kept.office.close()


def _has_work(desk: Desk) -> bool:
    return bool(desk.state.open) or bool(desk.pending())


def _told(error: PlaitError) -> str:
    return f"{error.message}. {error.hint}" if error.hint else error.message
