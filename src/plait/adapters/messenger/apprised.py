"""All the others: chats, mail, phones, as apprise knows them."""

from __future__ import annotations

import hashlib

from plait.adapters.messenger.message import TRIAL, Message, Undelivered
from plait.config.keys_notify import scheme_of
from plait.core.tiding import TidingKind

_TYPES = {
    TRIAL: "info",
    TidingKind.FINISHED: "success",
    TidingKind.FAILED: "failure",
    TidingKind.CANCELLED: "info",
    TidingKind.TASK_FAILED: "failure",
    TidingKind.NEEDS_PERSON: "warning",
    TidingKind.LIMIT: "warning",
    TidingKind.UNPUBLISHED: "failure",
}


class Apprised:
    def __init__(self, url: str) -> None:
        self._url = url

    @property
    def name(self) -> str:
        return scheme_of(self._url)

    @property
    def mark(self) -> str:
        return hashlib.sha256(self._url.encode()).hexdigest()[:16]

    def send(self, message: Message) -> None:
        """Why it did not arrive apprise tells only to its own log, together with the address."""
        try:
            told = _told(self._url, message)
        except ImportError:
            hint = "pip install 'plait[notify]'"
            raise Undelivered("apprise is not installed, which knows this service", hint=hint) from None
        except Exception as error:  # noqa: BLE001 - a service's own module may do anything
            raise Undelivered(f"it could not be told ({type(error).__name__})", again=True) from None
        if told is None:
            raise Undelivered(
                "apprise knows no such address", hint="Its pages list the services, and how to name them."
            )
        if not told:
            raise Undelivered("it could not be told, or did not want to be", again=True)


def _told(url: str, message: Message) -> bool | None:
    """None: there is no such service, or the address lacks something."""
    from apprise import Apprise, AppriseAsset, NotifyFormat  # noqa: PLC0415 - an extra, and slow to import

    to = Apprise(asset=AppriseAsset(async_mode=False, storage_mode="memory"))
    if not to.add(url):
        return None
    return bool(
        to.notify(
            body=message.text or message.title,
            title=f"{message.project}: {message.title}",
            notify_type=_TYPES[message.type],
            body_format=NotifyFormat.TEXT,
        )
    )
