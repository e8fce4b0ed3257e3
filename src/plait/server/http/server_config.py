"""How uvicorn is told to listen: nothing that the guard relies on is left to its defaults.

Whether a certificate and its key will do, told before anything listens.
"""

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
    ReadOnlyMiddleware,
)
from plait.server.http.middleware.login import LoginMiddleware, LogoutMiddleware
from plait.server.http.middleware.origin_checks import (
    CsrfMiddleware,
    HostCheckMiddleware,
    OriginCheckMiddleware,
)
from plait.server.http.middleware.policy import RequestPolicy
from plait.server.http.middleware.request_limits import BodyLimitMiddleware, HeaderLimitMiddleware
from plait.server.http.middleware.security_headers import SecurityHeadersMiddleware


@dataclass(frozen=True, slots=True)
class TlsFiles:
    certfile: Path
    keyfile: Path | None = None


def create_uvicorn_config(  # noqa: PLR0913 - each is an option of `plait serve`, or a bound that tests set
    app: ASGIApp,
    policy: RequestPolicy,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    tls: TlsFiles | None = None,
    header_seconds: float = HEADER_SECONDS,
    unauthenticated: UnauthenticatedConnections | None = None,
) -> uvicorn.Config:
    """No log of requests: the address of a login holds its code. What a client says about its own address, and about TLS
    (`X-Forwarded-…`), is not believed.
    """
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
    """None if the server can be started with these. Without a key file, the key is in the certificate's."""
    key = keyfile or certfile
    for option, path in (("--certfile", certfile), ("--keyfile", key)):
        if problem := _check_readable(option, path):
            return problem
    if key.stat().st_mode & stat.S_IRWXO:
        return UserError(f"the key {key} could be read by others", hint=f"chmod 600 {key}")
    return _check_key_pair(certfile, key)


def _check_readable(option: str, path: Path) -> UserError | None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        return UserError(f"{option} {path} can't be read: {error.strerror}", hint="See that the path is right: ls -l.")
    try:
        regular = stat.S_ISREG(os.fstat(fd).st_mode)
    finally:
        os.close(fd)
    return None if regular else UserError(f"{option} {path} is no file", hint="Name the PEM file itself.")


def _check_key_pair(certfile: Path, key: Path) -> UserError | None:
    def ask() -> str:  # else OpenSSL asks on the terminal, where there may be none
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
        return UserError(f"{certfile} can't be used: {error.strerror}", hint="See that it is a PEM file.")
    return None


def _describe_ssl_error(error: ssl.SSLError, certfile: Path, key: Path) -> UserError:
    if error.reason == "KEY_VALUES_MISMATCH":
        return UserError(
            f"the key {key} does not belong to the certificate {certfile}",
            hint="Name the two that were made together.",
        )
    return UserError(
        f"{certfile} and {key} can't be used: {error.reason or 'they are no PEM files'}",
        hint="Both have to be PEM files: a certificate (with its chain), and its key.",
    )


def wrap_with_middleware(app: ASGIApp, authenticator: Authenticator, policy: RequestPolicy) -> ASGIApp:
    """From the inside out: what stands further down is asked first."""
    rate_limiter = AuthRateLimiter(policy)
    app = BodyLimitMiddleware(app, policy)
    app = ReadOnlyMiddleware(app)
    app = LogoutMiddleware(app, policy)
    app = CsrfMiddleware(app)
    app = AuthenticationMiddleware(app, authenticator, rate_limiter, policy)
    app = LoginMiddleware(app, authenticator, rate_limiter, policy)
    app = OriginCheckMiddleware(app, policy)
    app = HostCheckMiddleware(app, policy)
    app = HeaderLimitMiddleware(app, policy)
    return SecurityHeadersMiddleware(app)
