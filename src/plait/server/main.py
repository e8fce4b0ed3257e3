"""`plait serve`: the app behind its guard, from the first word to the last."""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import signal
import socket
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import uvicorn

from plait.core.errors import PlaitError
from plait.core.frozen import dataclass
from plait.server.app import create_app
from plait.server.guard import Rules, guarded, rules_for
from plait.server.guard.listening import Tls, listening
from plait.server.guard.tls import tls_problem
from plait.server.keys import Keys, login_link, user_keys
from plait.server.listener import base_url, bound, is_loopback
from plait.server.mcp.http import add_mcp
from plait.server.offices import Offices
from plait.server.page import add_page
from plait.server.parting import Parting, unexpected
from plait.server.projects import Project
from plait.server.register import user_register
from plait.server.visits import Visitors
from plait.wiring import Place, find_place
from plait.wiring.keys import rotate_token

GRACE = 5  # seconds for requests that are being answered when the server ends
MANY = 8192  # connections
ENDED, INTERRUPTED = 0, 130
_HEEDED = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What was said to `plait serve`; `names` are those that it is known by besides its address."""

    where: Path
    host: str = "127.0.0.1"
    port: int = 3001
    tls: Tls | None = None
    names: tuple[str, ...] = ()
    rotate: bool = False


@dataclass(frozen=True, slots=True)
class Ready:
    """`link` logs a browser in, once. `more`: so many projects besides. `private`: no other machine reaches it."""

    url: str
    link: str
    project: Project | None
    more: int
    private: bool
    tls: bool


def serve(options: ServeOptions, ready: Callable[[Ready], None], tell: Callable[[str], None]) -> int:
    """Until it is told to end; the exit code. `ready` is called as soon as it answers, `tell` with what a person should
    know later. Raises PlaitError, and then nothing was started.
    """
    if options.tls is not None and (problem := tls_problem(options.tls.certfile, options.tls.keyfile)):
        raise problem
    rules, default = rules_for(options.host, options.names), default_place(options.where)
    with closing(bound(options.host, options.port)) as listener:
        if options.rotate:
            rotate_token()
        keys = user_keys()
        offices = Offices(user_register(tell), default, tell=tell)
        told = _ready(options, offices, listener, keys)
        _log_calmly()
        _make_room()
        config = _config(offices, keys, rules, options.tls)
        return asyncio.run(_served(offices, _Server(config, lambda: ready(told), offices.leave), listener))


def default_place(where: Path) -> Place | None:
    """The project of a server that is started here. None: nobody's home folder is one, unless it is a repository. Raises
    UserError.
    """
    place = find_place(where)
    home = Path(os.path.expanduser("~")).resolve()  # noqa: PTH111 - it never raises
    nobody = {Path(place.top.anchor), home}
    return None if not place.repository and place.top in nobody else place


def _ready(options: ServeOptions, offices: Offices, listener: socket.socket, keys: Keys) -> Ready:
    tls = options.tls is not None
    url = base_url(options.host, listener.getsockname()[1], tls=tls)
    known: list[Project] = []
    with suppress(PlaitError):  # told as soon as they are opened
        known = offices.projects()
    own = next((project for project in known if project.default), None)
    more = len(known) - (own is not None)
    return Ready(url, login_link(keys, url), own, more, is_loopback(listener), tls)


def _config(offices: Offices, keys: Keys, rules: Rules, tls: Tls | None) -> uvicorn.Config:
    app = create_app(offices)
    add_mcp(app, offices)
    add_page(app)
    config = listening(guarded(Parting(Visitors(app, offices.visit)), keys, rules), rules, tls=tls)
    config.timeout_graceful_shutdown, config.lifespan = GRACE, "off"
    return config


async def _served(offices: Offices, server: _Server, listener: socket.socket) -> int:
    try:
        offices.start()
        await server.serve([listener])
    finally:
        await offices.close()
    return server.code


class _Server(uvicorn.Server):
    """That of uvicorn, which says when it answers, does not wait for those who listen, and ends by returning."""

    def __init__(
        self, config: uvicorn.Config, ready: Callable[[], None], leaving: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._ready, self._leaving = ready, leaving

    @property
    def code(self) -> int:
        return INTERRUPTED if signal.SIGINT in self._captured_signals else ENDED

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._leaving()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """They end it, and that is all: otherwise it would send them to itself once more, and die of them."""
        before = {number: signal.signal(number, self.handle_exit) for number in _HEEDED}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _make_room() -> None:
    """A connection is an open file, and many systems begin with a few hundred of them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY:
        most = MANY if hard == resource.RLIM_INFINITY else min(hard, MANY)
        with suppress(OSError, ValueError):  # then there is room for fewer
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))


def _log_calmly() -> None:
    """What nobody expects, and nothing else; on stderr."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("plait: %(message)s"))
    handler.addFilter(unexpected)
    for name in ("uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.ERROR)
