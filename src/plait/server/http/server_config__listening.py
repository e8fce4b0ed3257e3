"""How uvicorn is told to listen: nothing that the guard relies on is left to its defaults."""

from __future__ import annotations

from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from plait.core.fast_dataclass import dataclass
from plait.server.http.connections import HEADER_SECONDS, create_protocol
from plait.server.http.connections__strangers import UnauthenticatedConnections
from plait.server.http.middleware.policy import RequestPolicy


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
