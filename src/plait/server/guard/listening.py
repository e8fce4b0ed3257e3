"""How uvicorn is told to listen: nothing that the guard relies on is left to its defaults."""

from __future__ import annotations

from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from plait.core.frozen import dataclass
from plait.server.guard.protocol import HEAD_SECONDS, guarded_protocol
from plait.server.guard.rules import Rules
from plait.server.guard.strangers import Strangers


@dataclass(frozen=True, slots=True)
class Tls:
    certfile: Path
    keyfile: Path | None = None


def listening(  # noqa: PLR0913 - each is an option of `plait serve`, or a bound that tests set
    app: ASGIApp,
    rules: Rules,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    tls: Tls | None = None,
    head_seconds: float = HEAD_SECONDS,
    strangers: Strangers | None = None,
) -> uvicorn.Config:
    """No log of requests: the address of a login holds its code. What a client says about its own address, and about TLS
    (`X-Forwarded-…`), is not believed.
    """
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        http=guarded_protocol(head_seconds, strangers),
        ws="none",
        access_log=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
        h11_max_incomplete_event_size=rules.head + rules.url,
        ssl_certfile=tls.certfile if tls else None,
        ssl_keyfile=tls.keyfile if tls else None,
    )
