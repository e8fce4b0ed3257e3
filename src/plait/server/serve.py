"""`plait serve`: bind the socket, assemble the app with its middleware, and run uvicorn."""

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

from plait.client.server_tokens import open_token_files
from plait.core.errors import PlaitError, UserError
from plait.core.fast_dataclass import dataclass
from plait.git.location import RepoLocation, find_repo
from plait.server import DEFAULT_HOST, DEFAULT_PORT
from plait.server.auth import Authenticator, create_authenticator, make_login_link
from plait.server.http.app import create_app
from plait.server.http.middleware.request_checks import RequestPolicy, create_policy
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
    """The options of `plait serve`; `host_names` are allowed besides its address."""

    directory: Path
    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    tls: TlsFiles | None = None
    host_names: tuple[str, ...] = ()
    rotate_token: bool = False


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """`link` logs a browser in, once."""

    url: str
    link: str
    project: Project | None
    other_projects: int
    loopback_only: bool
    tls: bool


def serve(options: ServeOptions, on_ready: Callable[[ServerInfo], None], warn: Callable[[str], None]) -> int:
    """Serve until stopped; the exit code. `on_ready` is called as soon as it answers, `warn` with later messages.

    Raises PlaitError if nothing was started.
    """
    if options.tls is not None and (problem := check_tls_files(options.tls.certfile, options.tls.keyfile)):
        raise problem
    policy, default = (
        create_policy(options.host, options.host_names),
        find_default_location(options.directory),
    )
    with closing(bind_listener(options.host, options.port)) as listener:
        if options.rotate_token:
            open_token_files().rotate()
        authenticator = create_authenticator()
        sessions = SessionPool(open_project_store(warn), default, warn=warn)
        info = _describe_server(options, sessions, listener, authenticator)
        _configure_logging()
        _raise_file_limit()
        config = create_config(sessions, authenticator, policy, options.tls)
        return asyncio.run(
            _run_server(sessions, _Server(config, lambda: on_ready(info), sessions.begin_shutdown), listener)
        )


def find_default_location(directory: Path) -> RepoLocation | None:
    """The project in this folder. None in the home or root folder, unless it is a repository. Raises UserError."""
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
    with suppress(PlaitError):  # reported when they are opened
        known = sessions.list_projects()
    own = next((project for project in known if project.default), None)
    more = len(known) - (own is not None)
    return ServerInfo(url, make_login_link(authenticator, url), own, more, is_loopback(listener), tls)


def create_config(
    sessions: SessionPool, authenticator: Authenticator, policy: RequestPolicy, tls: TlsFiles | None = None
) -> uvicorn.Config:
    """The API, MCP and the web page, with all middleware."""
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
    """Calls `on_ready` when it listens, ends event streams at shutdown, and returns instead of raising signals again."""

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
        """Uvicorn would raise captured signals again, and die of them."""
        before = {number: signal.signal(number, self.handle_exit) for number in _STOP_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _raise_file_limit() -> None:
    """Connections are open files, which many systems limit to a few hundred."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY:
        most = MAX_CONNECTIONS if hard == resource.RLIM_INFINITY else min(hard, MAX_CONNECTIONS)
        with suppress(OSError, ValueError):  # then fewer connections are possible
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))


def _configure_logging() -> None:
    """Unexpected errors only, on stderr."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("plait: %(message)s"))
    handler.addFilter(is_unexpected)
    for name in ("uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.ERROR)


_WILDCARD_HOSTS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - recognised, not bound to


def bind_listener(host: str, port: int) -> socket.socket:
    """Raises UserError. Port 0: any free port."""
    family, address = _resolve_host(host, port)
    # Named, since asyncio sets TCP_NODELAY only on sockets with this protocol.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # So that a killed server can be restarted on its port.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(1024)  # otherwise another process could bind it too
    except OSError as error:
        listener.close()
        raise _bind_error(host, port, error) from error
    return listener


def base_url(host: str, port: int, *, tls: bool) -> str:
    """For a browser on this machine."""
    name = _WILDCARD_HOSTS.get(host, host)
    return f"{'https' if tls else 'http'}://{f'[{name}]' if ':' in name else name}:{port}"


def is_loopback(listener: socket.socket) -> bool:
    """Whether only this machine can reach it."""
    return ipaddress.ip_address(str(listener.getsockname()[0]).partition("%")[0]).is_loopback


def _resolve_host(host: str, port: int) -> tuple[int, tuple[object, ...]]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise UserError(
            f"--host {host} is not an address of this machine",
            hint="Use 127.0.0.1 for this machine only, 0.0.0.0 for all interfaces.",
        ) from error
    family, _, _, _, address = min(found, key=lambda each: each[0] != socket.AF_INET)
    return family, address


def _bind_error(host: str, port: int, error: OSError) -> PlaitError:
    match error.errno:
        case errno.EADDRINUSE:
            return UserError(
                f"port {port} is in use{_describe_port_owner(port)}",
                hint="Use another one: --port N, or --port 0 for any free port.",
            )
        case errno.EACCES:
            return UserError(
                f"no permission to listen on port {port}",
                hint=f"Use one above 1023: --port {DEFAULT_PORT}.",
            )
        case errno.EADDRNOTAVAIL:
            return UserError(
                f"--host {host} is not an address of this machine",
                hint="Use 127.0.0.1 for this machine only, 0.0.0.0 for all interfaces.",
            )
        case _:
            return UserError(f"can't listen on {host}:{port}: {error.strerror}")


def _describe_port_owner(port: int) -> str:
    """The process that listens there, if the system reveals it."""
    import psutil  # only for this error

    with suppress(psutil.Error, OSError):
        for each in psutil.net_connections("tcp"):
            if each.status == psutil.CONN_LISTEN and each.laddr and each.laddr.port == port and each.pid:
                words = psutil.Process(each.pid).cmdline()
                ours = "serve" in words and any("plait" in word for word in words)
                name = "another plait serve" if ours else psutil.Process(each.pid).name()
                return f" by {name} (process {each.pid})"
    return ""


def is_unexpected(record: logging.LogRecord) -> bool:
    """Requests that uvicorn cancels at shutdown are expected."""
    cause = record.exc_info[1] if record.exc_info else None
    return not isinstance(cause, asyncio.CancelledError) and not str(record.msg).startswith("Cancel %s")
