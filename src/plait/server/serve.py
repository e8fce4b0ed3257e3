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

from plait.client.server_tokens__keys import rotate_full_token
from plait.core.errors import PlaitError
from plait.core.fast_dataclass import dataclass
from plait.git.location import RepoLocation, find_repo
from plait.server.auth import Authenticator, create_authenticator, make_login_link
from plait.server.http.app import create_app
from plait.server.http.middleware import wrap_with_middleware
from plait.server.http.middleware.policy import RequestPolicy, create_policy
from plait.server.http.middleware.shutdown import ShutdownMiddleware, is_unexpected
from plait.server.http.server_config import check_tls_files
from plait.server.http.server_config__listening import TlsFiles, create_uvicorn_config
from plait.server.http.web_page import add_page
from plait.server.mcp.http_transport import add_mcp
from plait.server.project_store import open_project_store
from plait.server.projects import Project
from plait.server.serve__listener import base_url, bind_listener, is_loopback
from plait.server.session_pool import SessionPool
from plait.server.session_pool__visits import RequestScopeMiddleware

SHUTDOWN_GRACE_SECONDS = 5  # seconds for requests that are being answered when the server ends
MAX_CONNECTIONS = 8192  # connections
EXIT_OK, EXIT_INTERRUPTED = 0, 130
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What was said to `plait serve`; `names` are those that it is known by besides its address."""

    directory: Path
    host: str = "127.0.0.1"
    port: int = 3001
    tls: TlsFiles | None = None
    host_names: tuple[str, ...] = ()
    rotate_token: bool = False


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """`link` logs a browser in, once. `more`: so many projects besides. `private`: no other machine reaches it."""

    url: str
    link: str
    project: Project | None
    other_projects: int
    loopback_only: bool
    tls: bool


def serve(options: ServeOptions, on_ready: Callable[[ServerInfo], None], warn: Callable[[str], None]) -> int:
    """Until it is told to end; the exit code. `ready` is called as soon as it answers, `tell` with what a person should
    know later. Raises PlaitError, and then nothing was started.
    """
    if options.tls is not None and (problem := check_tls_files(options.tls.certfile, options.tls.keyfile)):
        raise problem
    policy, default = (
        create_policy(options.host, options.host_names),
        find_default_location(options.directory),
    )
    with closing(bind_listener(options.host, options.port)) as listener:
        if options.rotate_token:
            rotate_full_token()
        authenticator = create_authenticator()
        sessions = SessionPool(open_project_store(warn), default, warn=warn)
        info = _describe_server(options, sessions, listener, authenticator)
        _configure_logging()
        _raise_file_limit()
        config = _create_config(sessions, authenticator, policy, options.tls)
        return asyncio.run(
            _run_server(sessions, _Server(config, lambda: on_ready(info), sessions.begin_shutdown), listener)
        )


def find_default_location(directory: Path) -> RepoLocation | None:
    """The project of a server that is started here. None: nobody's home folder is one, unless it is a repository. Raises
    UserError.
    """
    place = find_repo(directory)
    home = Path(os.path.expanduser("~")).resolve()  # noqa: PTH111 - it never raises
    excluded = {Path(place.top.anchor), home}
    return None if not place.repository and place.top in excluded else place


def _describe_server(
    options: ServeOptions, sessions: SessionPool, listener: socket.socket, authenticator: Authenticator
) -> ServerInfo:
    tls = options.tls is not None
    url = base_url(options.host, listener.getsockname()[1], tls=tls)
    known: list[Project] = []
    with suppress(PlaitError):  # told as soon as they are opened
        known = sessions.list_projects()
    own = next((project for project in known if project.default), None)
    more = len(known) - (own is not None)
    return ServerInfo(url, make_login_link(authenticator, url), own, more, is_loopback(listener), tls)


def _create_config(
    sessions: SessionPool, authenticator: Authenticator, policy: RequestPolicy, tls: TlsFiles | None
) -> uvicorn.Config:
    app = create_app(sessions)
    add_mcp(app, sessions)
    add_page(app)
    config = create_uvicorn_config(
        wrap_with_middleware(
            ShutdownMiddleware(RequestScopeMiddleware(app, sessions.open_scope)), authenticator, policy
        ),
        policy,
        tls=tls,
    )
    config.timeout_graceful_shutdown, config.lifespan = SHUTDOWN_GRACE_SECONDS, "off"
    return config


async def _run_server(sessions: SessionPool, server: _Server, listener: socket.socket) -> int:
    try:
        sessions.start()
        await server.serve([listener])
    finally:
        await sessions.close()
    return server.exit_code


class _Server(uvicorn.Server):
    """That of uvicorn, which says when it answers, does not wait for those who listen, and ends by returning."""

    def __init__(
        self, config: uvicorn.Config, on_ready: Callable[[], None], on_shutdown: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._on_ready, self._on_shutdown = on_ready, on_shutdown

    @property
    def exit_code(self) -> int:
        return EXIT_INTERRUPTED if signal.SIGINT in self._captured_signals else EXIT_OK

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._on_shutdown()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """They end it, and that is all: otherwise it would send them to itself once more, and die of them."""
        before = {number: signal.signal(number, self.handle_exit) for number in _STOP_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _raise_file_limit() -> None:
    """A connection is an open file, and many systems begin with a few hundred of them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY:
        most = MAX_CONNECTIONS if hard == resource.RLIM_INFINITY else min(hard, MAX_CONNECTIONS)
        with suppress(OSError, ValueError):  # then there is room for fewer
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))


def _configure_logging() -> None:
    """What nobody expects, and nothing else; on stderr."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("plait: %(message)s"))
    handler.addFilter(is_unexpected)
    for name in ("uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.ERROR)
