"""All the others: chats, mail, phones, as apprise knows them."""

from __future__ import annotations

import hashlib

from plait.config.notify_keys import mask_to_scheme
from plait.core.notifications__tiding import NotificationKind
from plait.observe.channels__message import TEST_TYPE, DeliveryError, NotificationMessage

_APPRISE_TYPES = {
    TEST_TYPE: "info",
    NotificationKind.FINISHED: "success",
    NotificationKind.FAILED: "failure",
    NotificationKind.CANCELLED: "info",
    NotificationKind.TASK_FAILED: "failure",
    NotificationKind.NEEDS_PERSON: "warning",
    NotificationKind.LIMIT: "warning",
    NotificationKind.UNPUBLISHED: "failure",
}


class AppriseChannel:
    def __init__(self, url: str) -> None:
        self._url = url

    @property
    def name(self) -> str:
        return mask_to_scheme(self._url)

    @property
    def key(self) -> str:
        return hashlib.sha256(self._url.encode()).hexdigest()[:16]

    def send(self, message: NotificationMessage) -> None:
        """Why it did not arrive apprise tells only to its own log, together with the address."""
        try:
            told = _notify(self._url, message)
        except ImportError:
            hint = "pip install 'plait[notify]'"
            raise DeliveryError("apprise is not installed, which knows this service", hint=hint) from None
        except Exception as error:  # noqa: BLE001 - a service's own module may do anything
            raise DeliveryError(f"it could not be told ({type(error).__name__})", is_retryable=True) from None
        if told is None:
            raise DeliveryError(
                "apprise knows no such address", hint="Its pages list the services, and how to name them."
            )
        if not told:
            raise DeliveryError("it could not be told, or did not want to be", is_retryable=True)


def _notify(url: str, message: NotificationMessage) -> bool | None:
    """None: there is no such service, or the address lacks something."""
    from apprise import Apprise, AppriseAsset, NotifyFormat  # noqa: PLC0415 - an extra, and slow to import

    to = Apprise(asset=AppriseAsset(async_mode=False, storage_mode="memory"))
    if not to.add(url):
        return None
    return bool(
        to.notify(
            body=message.text or message.title,
            title=f"{message.project}: {message.title}",
            notify_type=_APPRISE_TYPES[message.type],
            body_format=NotifyFormat.TEXT,
        )
    )
