"""A stream ends with the key that opened it: who listens must not go on listening after a rotation."""

from __future__ import annotations

from collections.abc import Callable

from starlette.types import Message, Send

from plait.core.errors import WorldError


def end_when_revoked(
    send: Send, is_valid: Callable[[], object], seconds: float, now: Callable[[], float]
) -> Send:
    """`send`, until what was presented is good no more. The response ends then as if it were complete, so that the app
    hears of a disconnect and the client comes back, to be asked again. One of a known length is always sent whole.
    """
    streams, over, looked = False, False, now()

    async def guarded(message: Message) -> None:
        nonlocal streams, over, looked
        if over:
            return
        if message["type"] == "http.response.start":
            streams = all(name.lower() != b"content-length" for name, _ in message.get("headers", ()))
        elif streams and now() - looked >= seconds:
            looked = now()
            over = not _is_still_valid(is_valid)
        await send(message if not over else {"type": "http.response.body", "body": b"", "more_body": False})

    return guarded


def _is_still_valid(is_valid: Callable[[], object]) -> bool:
    try:
        return bool(is_valid())
    except WorldError:
        return False
