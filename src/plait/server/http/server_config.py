"""The uvicorn configuration, the order of the middleware, and checks of TLS files."""

from __future__ import annotations

import os
import ssl
import stat
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from plait.core.errors import UserError
from plait.core.fast_dataclass import dataclass
from plait.server.auth import Authenticator
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
)
from plait.server.http.middleware.security_headers import SecurityHeadersMiddleware


@dataclass(frozen=True, slots=True)
class TlsFiles:
    certfile: Path
    keyfile: Path | None = None


def create_uvicorn_config(  # noqa: PLR0913 - options of `plait serve`, and limits that tests set
    app: ASGIApp,
    policy: RequestPolicy,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    tls: TlsFiles | None = None,
    header_seconds: float = HEADER_SECONDS,
    unauthenticated: UnauthenticatedConnections | None = None,
) -> uvicorn.Config:
    """Without an access log, since login URLs contain codes, and without trust in `X-Forwarded-…` headers."""
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        http=create_protocol(header_seconds, unauthenticated),
        ws="none",
        access_log=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
        h11_max_incomplete_event_size=policy.max_header_bytes + policy.max_url_bytes,
        ssl_certfile=tls.certfile if tls else None,
        ssl_keyfile=tls.keyfile if tls else None,
    )


def check_tls_files(certfile: Path, keyfile: Path | None = None) -> UserError | None:
    """None if they can be used. Without a key file, the key is in the certificate file."""
    key = keyfile or certfile
    for option, path in (("--certfile", certfile), ("--keyfile", key)):
        if problem := _check_readable(option, path):
            return problem
    if key.stat().st_mode & stat.S_IRWXO:
        return UserError(f"the key {key} is readable by others", hint=f"chmod 600 {key}")
    return _check_key_pair(certfile, key)


def _check_readable(option: str, path: Path) -> UserError | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        return UserError(f"{option} {path} can't be read: {error.strerror}", hint="Check the path: ls -l.")
    try:
        regular = stat.S_ISREG(os.fstat(fd).st_mode)
    finally:
        os.close(fd)
    return None if regular else UserError(f"{option} {path} is not a file", hint="Name the PEM file itself.")


def _check_key_pair(certfile: Path, key: Path) -> UserError | None:
    def ask() -> str:  # otherwise OpenSSL prompts on the terminal
        raise UserError(
            f"the key {key} is protected by a passphrase",
            hint="Use one without: openssl pkey -in KEY -out PLAIN.",
        )

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certfile, key, password=ask)
    except UserError as problem:
        return problem
    except ssl.SSLError as error:
        return _describe_ssl_error(error, certfile, key)
    except OSError as error:
        return UserError(f"{certfile} can't be used: {error.strerror}", hint="Check that it is a PEM file.")
    return None


def _describe_ssl_error(error: ssl.SSLError, certfile: Path, key: Path) -> UserError:
    if error.reason == "KEY_VALUES_MISMATCH":
        return UserError(
            f"the key {key} does not belong to the certificate {certfile}",
            hint="Use the key that the certificate was made for.",
        )
    return UserError(
        f"{certfile} and {key} can't be used: {error.reason or 'they are not PEM files'}",
        hint="Both must be PEM files: a certificate (with its chain), and its key.",
    )


def wrap_with_middleware(app: ASGIApp, authenticator: Authenticator, policy: RequestPolicy) -> ASGIApp:
    """From the inside out: the last one sees a request first."""
    rate_limiter = AuthRateLimiter(policy)
    app = BodyLimitMiddleware(app, policy)
    app = CheckMiddleware(app, policy, check_read_only)
    app = LogoutMiddleware(app, policy)
    app = CheckMiddleware(app, policy, check_csrf)
    app = AuthenticationMiddleware(app, authenticator, rate_limiter, policy)
    app = LoginMiddleware(app, authenticator, rate_limiter, policy)
    app = CheckMiddleware(app, policy, check_head, check_host, check_origin)
    return SecurityHeadersMiddleware(app)
