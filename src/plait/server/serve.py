"""`plait serve`: check TLS files, bind the socket, assemble the app with its middleware, and run uvicorn."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import os
import resource
import signal
import socket
import ssl
import stat
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from plait.core.errors import PlaitError, UserError
from plait.core.fast_dataclass import dataclass
from plait.git.location import RepoLocation, find_repo
from plait.server import DEFAULT_HOST, DEFAULT_PORT
from plait.server.auth import Authenticator, create_authenticator, make_login_link
from plait.server.http.app import create_app
from plait.server.http.connections import HEADER_SECONDS, UnauthenticatedConnections, create_protocol
from plait.server.http.middleware.authentication import (
    AuthenticationMiddleware,
    AuthRateLimiter,
    LoginMiddleware,
    LogoutMiddleware,
    check_read_only,
)
from plait.server.http.middleware.request_checks import (
    BodyLimitMiddleware,
    CheckMiddleware,
    RequestPolicy,
    check_csrf,
    check_head,
    check_host,
    check_origin,
    create_policy,
)
from plait.server.http.middleware.security_headers import SecurityHeadersMiddleware
from plait.server.http.middleware.shutdown import RequestScopeMiddleware, ShutdownMiddleware
from plait.server.http.web_page import add_page
from plait.server.mcp.http_transport import add_mcp
from plait.server.projects import Project, open_project_store
from plait.server.session_pool import SessionPool
from plait.store.server_tokens import open_token_files
from plait.system.atomic_files import open_regular_file

SHUTDOWN_GRACE_SECONDS = 5  # for requests that are being answered when the server ends
MAX_CONNECTIONS = 8192
EXIT_OK, EXIT_INTERRUPTED = 0, 130
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class TlsFiles:
    certfile: Path
    keyfile: Path | None = None


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
    """How to reach the server; `link` logs a browser in, once."""

    url: str
    link: str
    project: Project | None
    other_projects: int
    loopback_only: bool
    tls: bool


def serve(options: ServeOptions, on_ready: Callable[[ServerInfo], None], warn: Callable[[str], None]) -> int:
    """Serve until stopped; return the exit code. `on_ready` is called as soon as it answers, `warn` with later
    messages.

    Raises PlaitError if nothing was started.
    """
    if options.tls is not None:
        check_tls_files(options.tls)
    policy, default = create_policy(options.host, options.host_names), find_default_location(options.directory)
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
    """Return the project in this folder. None in the home or root folder, unless it is a repository. Raises UserError."""
    location = find_repo(directory)
    home = Path(os.path.expanduser("~")).resolve()  # noqa: PTH111 - it never raises
    excluded = {Path(location.top.anchor), home}
    return None if not location.repository and location.top in excluded else location


def _describe_server(
    options: ServeOptions, sessions: SessionPool, listener: socket.socket, authenticator: Authenticator
) -> ServerInfo:
    tls = options.tls is not None
    url = make_base_url(options.host, listener.getsockname()[1], tls=tls)
    projects: list[Project] = []
    with suppress(PlaitError):  # reported when they are opened
        projects = sessions.list_projects()
    default = next((project for project in projects if project.default), None)
    others = len(projects) - (default is not None)
    return ServerInfo(url, make_login_link(authenticator, url), default, others, is_loopback(listener), tls)


def create_config(
    sessions: SessionPool, authenticator: Authenticator, policy: RequestPolicy, tls: TlsFiles | None = None
) -> uvicorn.Config:
    """Configure the API, MCP and the web page, with all middleware."""
    app = create_app(sessions)
    add_mcp(app, sessions)
    add_page(app)
    scoped = ShutdownMiddleware(RequestScopeMiddleware(app, sessions.open_scope))
    return create_uvicorn_config(wrap_with_middleware(scoped, authenticator, policy), policy, tls=tls)


def create_uvicorn_config(
    app: ASGIApp,
    policy: RequestPolicy,
    *,
    tls: TlsFiles | None = None,
    header_seconds: float = HEADER_SECONDS,
    unauthenticated: UnauthenticatedConnections | None = None,
) -> uvicorn.Config:
    """Configure uvicorn without an access log (login URLs contain codes) and without trusting `X-Forwarded-…`."""
    return uvicorn.Config(
        app,
        http=create_protocol(header_seconds, unauthenticated),
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=SHUTDOWN_GRACE_SECONDS,
        h11_max_incomplete_event_size=policy.max_header_bytes + policy.max_url_bytes,
        ssl_certfile=tls.certfile if tls else None,
        ssl_keyfile=tls.keyfile if tls else None,
    )


def wrap_with_middleware(app: ASGIApp, authenticator: Authenticator, policy: RequestPolicy) -> ASGIApp:
    """Wrap the app in its middleware, from the inside out: the last one sees a request first."""
    rate_limiter = AuthRateLimiter(policy)
    app = BodyLimitMiddleware(app, policy)
    app = CheckMiddleware(app, policy, check_read_only)
    app = LogoutMiddleware(app, policy)
    app = CheckMiddleware(app, policy, check_csrf)
    app = AuthenticationMiddleware(app, authenticator, rate_limiter, policy)
    app = LoginMiddleware(app, authenticator, rate_limiter, policy)
    app = CheckMiddleware(app, policy, check_head, check_host, check_origin)
    return SecurityHeadersMiddleware(app)


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
        """Handle signals, because uvicorn would raise captured ones again, and exit through them."""
        before = {number: signal.signal(number, self.handle_exit) for number in _STOP_SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _raise_file_limit() -> None:
    """Raise the limit of open files, which many systems set to a few hundred: connections are open files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY:
        limit = MAX_CONNECTIONS if hard == resource.RLIM_INFINITY else min(hard, MAX_CONNECTIONS)
        with suppress(OSError, ValueError):  # then fewer connections are possible
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, limit), hard))


def _configure_logging() -> None:
    """Log only unexpected errors, on stderr."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("plait: %(message)s"))
    handler.addFilter(is_unexpected)
    for name in ("uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.ERROR)


def check_tls_files(tls: TlsFiles) -> None:
    """Raise UserError if the files can't be used. Without a key file, the key is in the certificate file."""
    certfile, key = tls.certfile, tls.keyfile or tls.certfile
    for option, path in (("--certfile", certfile), ("--keyfile", key)):
        try:
            os.close(open_regular_file(path, follow_links=True))
        except OSError as error:
            hint = "Name the PEM file itself; check the path with ls -l."
            raise UserError(f"{option} {path} can't be read: {error.strerror}", hint=hint) from error
    if key.stat().st_mode & stat.S_IRWXO:
        raise UserError(f"the key {key} is readable by others", hint=f"chmod 600 {key}")

    def refuse_passphrase() -> str:  # otherwise OpenSSL prompts on the terminal
        raise UserError(
            f"the key {key} is protected by a passphrase",
            hint="Use one without: openssl pkey -in KEY -out PLAIN.",
        )

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certfile, key, password=refuse_passphrase)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise UserError(
                f"the key {key} does not belong to the certificate {certfile}",
                hint="Use the key that the certificate was made for.",
            ) from error
        raise UserError(
            f"{certfile} and {key} can't be used: {error.reason or 'they are not PEM files'}",
            hint="Both must be PEM files: a certificate (with its chain), and its key.",
        ) from error
    except OSError as error:
        raise UserError(f"{certfile} can't be used: {error.strerror}", hint="Check that it is a PEM file.") from error


_WILDCARD_HOSTS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - recognised, not bound to


def bind_listener(host: str, port: int) -> socket.socket:
    """Bind the socket; raises UserError. Port 0: any free port."""
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
        raise _describe_bind_error(host, port, error) from error
    return listener


def make_base_url(host: str, port: int, *, tls: bool) -> str:
    """Return the server's URL for a browser on this machine."""
    name = _WILDCARD_HOSTS.get(host, host)
    return f"{'https' if tls else 'http'}://{f'[{name}]' if ':' in name else name}:{port}"


def is_loopback(listener: socket.socket) -> bool:
    """Whether only this machine can reach it."""
    return ipaddress.ip_address(str(listener.getsockname()[0]).partition("%")[0]).is_loopback


def _resolve_host(host: str, port: int) -> tuple[int, tuple[object, ...]]:
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        raise _make_address_error(host) from error
    family, _, _, _, address = min(addresses, key=lambda candidate: candidate[0] != socket.AF_INET)
    return family, address


def _describe_bind_error(host: str, port: int, error: OSError) -> PlaitError:
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
            return _make_address_error(host)
        case _:
            return UserError(f"can't listen on {host}:{port}: {error.strerror}")


def _make_address_error(host: str) -> UserError:
    return UserError(
        f"--host {host} is not an address of this machine",
        hint="Use 127.0.0.1 for this machine only, 0.0.0.0 for all interfaces.",
    )


def _describe_port_owner(port: int) -> str:
    """Describe the process that listens there, if the system reveals it."""
    import psutil  # only for this error

    with suppress(psutil.Error, OSError):
        for connection in psutil.net_connections("tcp"):
            if (
                connection.status == psutil.CONN_LISTEN
                and connection.laddr
                and connection.laddr.port == port
                and connection.pid
            ):
                command = psutil.Process(connection.pid).cmdline()
                is_plait = "serve" in command and any("plait" in arg for arg in command)
                name = "another plait serve" if is_plait else psutil.Process(connection.pid).name()
                return f" by {name} (process {connection.pid})"
    return ""


def is_unexpected(record: logging.LogRecord) -> bool:
    """Whether the log record is of an error. Requests that uvicorn cancels at shutdown are expected."""
    cause = record.exc_info[1] if record.exc_info else None
    return not isinstance(cause, asyncio.CancelledError) and not str(record.msg).startswith("Cancel %s")
