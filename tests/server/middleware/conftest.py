from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plait.server.auth import Authenticator, UsedCodes
from plait.store.server_tokens import TokenFiles

Headers = dict[str, str] | Sequence[tuple[str, str]]


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Reply:
    status: int
    headers: list[tuple[str, str]]
    body: bytes = b""

    def header(self, name: str) -> str | None:
        """The only header of that name, or None."""
        found = [value for key, value in self.headers if key == name]
        assert len(found) < 2, f"{name} is there twice: {found}"
        return found[0] if found else None

    def json(self) -> dict[str, Any]:  # Any: what was sent
        assert self.header("content-type") == "application/json"
        data = json.loads(self.body)
        assert isinstance(data, dict)
        return data


@dataclass
class EchoApp:
    """Answers 200, and keeps the scopes and bodies that reached it."""

    reached: list[Scope] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.reached.append(scope)
        if scope["type"] != "http":
            return
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        self.bodies.append(body)
        await send({"type": "http.response.start", "status": 200, "headers": self.headers})
        await send({"type": "http.response.body", "body": b"hello"})


@dataclass
class AsgiClient:
    """Sends requests to an ASGI app, as a server does."""

    scheme: str = "http"
    address: str = "127.0.0.1"

    def request(
        self,
        app: ASGIApp,
        method: str,
        target: str,
        headers: Headers = (),
        body: Iterable[bytes] | None = None,
    ) -> Reply:
        return asyncio.run(self.send(app, self.scope(method, target, headers), body))

    def scope(self, method: str, target: str, headers: Headers = ()) -> Scope:
        path, _, query = target.partition("?")
        pairs = list(headers.items()) if isinstance(headers, dict) else list(headers)
        if not any(name.lower() == "host" for name, _ in pairs):
            pairs.append(("host", "127.0.0.1:3001"))
        return {
            "type": "http",
            "method": method,
            "scheme": self.scheme,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in pairs],
            "client": (self.address, 4242),
        }

    async def send(self, app: ASGIApp, scope: Scope, body: Iterable[bytes] | None = None) -> Reply:
        chunks = iter(body) if body is not None else iter([b""])
        got: list[Message] = []

        async def receive() -> Message:
            chunk = next(chunks, None)
            return {
                "type": "http.request",
                "body": chunk or b"",
                "more_body": chunk is not None and body is not None,
            }

        async def send(message: Message) -> None:
            got.append(message)

        await app(scope, receive, send)
        start, *rest = got
        named = [(name.decode(), value.decode()) for name, value in start["headers"]]
        return Reply(start["status"], named, b"".join(each["body"] for each in rest))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def token_files(tmp_path: Path) -> TokenFiles:
    return TokenFiles(tmp_path / "state")


@pytest.fixture
def authenticator(token_files: TokenFiles, tmp_path: Path, clock: Clock) -> Authenticator:
    return Authenticator(token_files.read, UsedCodes(tmp_path / "state" / "spent-codes", clock).redeem, clock)


@pytest.fixture
def echo_app() -> EchoApp:
    return EchoApp()


@pytest.fixture
def client() -> AsgiClient:
    return AsgiClient()
