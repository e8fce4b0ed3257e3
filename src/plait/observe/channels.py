"""Notification channels: a signed webhook, and everything that apprise supports."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit
from uuid import uuid4

from plait import __version__
from plait.config.notify_keys import mask_to_host, mask_to_scheme
from plait.core.fast_dataclass import dataclass
from plait.core.notifications import Notification
from plait.core.settings import NotificationKind
from plait.system.atomic_files import NotPrivateError, read_private_file

TEST_TYPE = "test"
SIGNATURE_HEADER, DELIVERY_HEADER = "Plait-Signature", "Plait-Delivery"
WEBHOOK_TIMEOUT_SECONDS = 10.0  # for each of connecting, sending and the answer

_MAX_TIMESTAMP = 253_402_300_799.0  # the end of the year 9999, the last that can be written
_RETRYABLE_STATUSES = frozenset({408, 425, 429})
_MAX_SECRET_BYTES = 4096


@dataclass(frozen=True, slots=True)
class NotificationMessage:
    """A message. `type` is the notification's kind, or `test`. `delivery` is the same for every try."""

    type: str
    title: str
    text: str
    project: str
    delivery: str
    at: float
    batch: str | None = None
    task: str | None = None
    until: float | None = None
    seq: int | None = None

    def body(self) -> bytes:
        """Return the body as ASCII JSON, so any task name can be sent."""
        content = {
            "type": self.type,
            "title": self.title,
            "text": self.text,
            "batchId": self.batch,
            "taskId": self.task,
            "at": _format_time(self.at),
            "until": None if self.until is None else _format_time(self.until),
            "seq": self.seq,
            "project": self.project,
        }
        return json.dumps(content).encode("ascii")


class DeliveryError(Exception):
    """A message wasn't delivered; says why, without secrets."""

    def __init__(self, message: str, *, hint: str = "", is_retryable: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.is_retryable = is_retryable


class NotificationChannel(Protocol):
    @property
    def name(self) -> str:
        """The address without secrets."""

    @property
    def key(self) -> str:
        """An id of the channel that doesn't reveal its address."""

    def send(self, message: NotificationMessage) -> None:
        """Send a message; raises DeliveryError. It may take a while, but not forever."""


def build_message(notification: Notification, project: str, journal: str) -> NotificationMessage:
    kind = notification.kind.value
    return NotificationMessage(
        kind,
        notification.title,
        notification.text,
        project,
        f"{journal}:{notification.seq}:{kind}",
        notification.at,
        notification.batch,
        notification.task,
        notification.until,
        notification.seq,
    )


def build_test_message(project: str, at: float) -> NotificationMessage:
    delivery = f"{TEST_TYPE}:{uuid4()}"
    return NotificationMessage(TEST_TYPE, "plait test notification", "Notifications work.", project, delivery, at)


def _format_time(at: float) -> str:
    time_ = datetime.fromtimestamp(min(max(at, 0.0), _MAX_TIMESTAMP), UTC)
    return time_.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def sign_body(secret: bytes, body: bytes, at: int) -> str:
    """Sign the time with the body, so an old message can't be replayed."""
    signature = hmac.new(secret, f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={signature}"


class WebhookChannel:
    """A webhook. `secret` is called for each message and may raise DeliveryError; None: messages aren't signed."""

    def __init__(
        self,
        url: str,
        secret: Callable[[], bytes | None],
        *,
        timeout: float = WEBHOOK_TIMEOUT_SECONDS,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._url, self._secret = url, secret
        self._timeout, self._wall = timeout, wall

    @property
    def name(self) -> str:
        return mask_to_host(self._url)

    @property
    def key(self) -> str:
        return hashlib.sha256(self._url.encode()).hexdigest()[:16]

    def send(self, message: NotificationMessage) -> None:
        body, secret = message.body(), self._secret()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"plait/{__version__}",
            DELIVERY_HEADER: message.delivery,
        }
        if secret is not None:
            headers[SIGNATURE_HEADER] = sign_body(secret, body, int(self._wall()))
        _check_status(self._post(body, headers))

    def _post(self, body: bytes, headers: dict[str, str]) -> int:
        """Post a body and return the status of the answer. The answer's body isn't read, and httpx's messages aren't
        shown: they may name the address.
        """
        import httpx

        try:
            with (
                httpx.Client(
                    timeout=self._timeout, follow_redirects=False, trust_env=not _is_local(self._url)
                ) as client,
                client.stream("POST", self._url, content=body, headers=headers) as answer,
            ):
                return answer.status_code
        except httpx.TimeoutException:
            raise DeliveryError(f"there was no answer within {self._timeout:g} s", is_retryable=True) from None
        except httpx.ConnectError:
            raise DeliveryError("connection failed", is_retryable=True) from None
        except (httpx.HTTPError, OSError) as error:
            raise DeliveryError(f"the connection broke ({type(error).__name__})", is_retryable=True) from None
        except (httpx.InvalidURL, ValueError, ImportError) as error:
            raise DeliveryError(f"the address or its proxy can't be used ({type(error).__name__})") from None


def _check_status(status: int) -> None:
    if 200 <= status < 300:
        return
    if 300 <= status < 400:
        raise DeliveryError(
            f"it answered {status}, and messages are not sent on to other addresses",
            hint="Set notify.webhook to where it leads.",
        )
    raise DeliveryError(f"it answered {status}", is_retryable=status >= 500 or status in _RETRYABLE_STATUSES)


def _is_local(url: str) -> bool:
    """Whether the address is on this machine, where no proxy is used."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def read_secret(path: Path) -> bytes:
    """Read the secret without surrounding white space. Raises DeliveryError: unsigned messages aren't sent."""
    try:
        secret = read_private_file(path.expanduser(), _MAX_SECRET_BYTES + 1, follow_links=True).strip()
    except NotPrivateError:
        raise DeliveryError(f"others can read the secret {path}", hint=f"chmod 600 {path}") from None
    except (OSError, RuntimeError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise DeliveryError(f"the secret {path} can't be read: {why}", hint=_build_hint(path)) from None
    if not secret or len(secret) > _MAX_SECRET_BYTES:
        raise DeliveryError(f"{path} doesn't hold a secret", hint=_build_hint(path))
    return secret


def _build_hint(path: Path) -> str:
    return f"Make one: umask 077; openssl rand -hex 32 > {path}"


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
        """Send a message. Apprise reports the reason of a failure only to its logger, together with the address."""
        try:
            delivered = _notify(self._url, message)
        except ImportError:
            hint = "pip install 'plait[notify]'"
            raise DeliveryError("this service needs apprise, which isn't installed", hint=hint) from None
        except Exception as error:  # noqa: BLE001 - a service's own module may do anything
            raise DeliveryError(f"the service failed ({type(error).__name__})", is_retryable=True) from None
        if delivered is None:
            raise DeliveryError(
                "apprise doesn't know this kind of address", hint="Its documentation lists the services and their URLs."
            )
        if not delivered:
            raise DeliveryError("the service refused it", is_retryable=True)


def _notify(url: str, message: NotificationMessage) -> bool | None:
    """Send by apprise; None: it doesn't know the service, or the address is incomplete. Else whether it was sent."""
    from apprise import Apprise, AppriseAsset, NotifyFormat  # an extra, and slow to import

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
