"""`plait serve`: the app behind its guard, from the first word to the last.

Where the server listens: the socket is bound before anything else is done, so that what is wrong with it is told first.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import os
import resource
import signal
import socket
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import uvicorn

from plait.client.server_tokens import rotate_full_token
from plait.core.errors import PlaitError, UserError
from plait.core.fast_dataclass import dataclass
from plait.git.location import RepoLocation, find_repo
from plait.server.auth import Authenticator, create_authenticator, make_login_link
from plait.server.http.app import create_app
from plait.server.http.middleware.policy import RequestPolicy, create_policy
from plait.server.http.middleware.shutdown import RequestScopeMiddleware, ShutdownMiddleware
from plait.server.http.server_config import (
    TlsFiles,
    check_tls_files,
    create_uvicorn_config,
    wrap_with_middleware,
)
from plait.server.http.web_page import add_page
from plait.server.mcp.http_transport import add_mcp
from plait.server.projects import Project, open_project_store
from plait.server.session_pool import SessionPool

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

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None], on_shutdown: Callable[[], None]) -> None:
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


_WILDCARD_HOSTS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - recognised, not bound to


def bind_listener(host: str, port: int) -> socket.socket:
    """Raises UserError. Port 0: one that is free."""
    family, address = _resolve_host(host, port)
    # Named, since asyncio sends small answers at once only through what says to be TCP.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # A server that was killed leaves connections behind, and is started again on its port.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(1024)  # somebody else may bind it otherwise, and both would think it theirs
    except OSError as error:
        listener.close()
        raise _bind_error(host, port, error) from error
    return listener


def base_url(host: str, port: int, *, tls: bool) -> str:
    """As a browser on this machine names it."""
    name = _WILDCARD_HOSTS.get(host, host)
    return f"{'https' if tls else 'http'}://{f'[{name}]' if ':' in name else name}:{port}"


def is_loopback(listener: socket.socket) -> bool:
    """Whether only this machine reaches it."""
    return ipaddress.ip_address(str(listener.getsockname()[0]).partition("%")[0]).is_loopback


def _resolve_host(host: str, port: int) -> tuple[int, tuple[object, ...]]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise UserError(
            f"--host {host} is no address of this machine",
            hint="Say 127.0.0.1 to be reached from here alone, 0.0.0.0 from everywhere.",
        ) from error
    family, _, _, _, address = min(found, key=lambda each: each[0] != socket.AF_INET)
    return family, address


def _bind_error(host: str, port: int, error: OSError) -> PlaitError:
    match error.errno:
        case errno.EADDRINUSE:
            return UserError(
                f"port {port} is taken{_describe_port_owner(port)}",
                hint="Say another one: --port N, or --port 0 for any that is free.",
            )
        case errno.EACCES:
            return UserError(
                f"port {port} is not for everybody: {os.strerror(errno.EACCES)}",
                hint="Say one above 1023: --port 3001.",
            )
        case errno.EADDRNOTAVAIL:
            return UserError(
                f"--host {host} is no address of this machine",
                hint="Say 127.0.0.1 to be reached from here alone, 0.0.0.0 from everywhere.",
            )
        case _:
            return UserError(f"nobody can listen at {host}, port {port}: {error.strerror}")


def _describe_port_owner(port: int) -> str:
    """Whose it is, where the system tells: not of others' processes, and on some systems of none."""
    import psutil  # only where something is wrong

    with suppress(psutil.Error, OSError):
        for each in psutil.net_connections("tcp"):
            if each.status == psutil.CONN_LISTEN and each.laddr and each.laddr.port == port and each.pid:
                words = psutil.Process(each.pid).cmdline()
                ours = "serve" in words and any("plait" in word for word in words)
                name = "another plait serve" if ours else psutil.Process(each.pid).name()
                return f" by {name} (process {each.pid})"
    return ""


def is_unexpected(record: logging.LogRecord) -> bool:
    """Whether somebody should read it: uvicorn's error for what it cuts short at its end is none."""
    cause = record.exc_info[1] if record.exc_info else None
    return not isinstance(cause, asyncio.CancelledError) and not str(record.msg).startswith("Cancel %s")
