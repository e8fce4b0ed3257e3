"""A message: a tiding on its way, and who gets it.

A webhook: each message as JSON to one address, signed so that whoever gets it knows whom it is from.

The secret of a webhook, from a file that nobody else can read.

All the others: chats, mail, phones, as apprise knows them.
"""

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


_MAX_TIMESTAMP = 253_402_300_799.0  # of the year 9999: what lies beyond can't be written


@dataclass(frozen=True, slots=True)
class NotificationMessage:
    """`type` is the tiding's kind, or `test`. `delivery` is the same however often it is sent."""

    type: str
    title: str
    text: str
    batch: str | None
    task: str | None
    at: float
    until: float | None
    seq: int | None
    project: str
    delivery: str

    def body(self) -> bytes:
        """JSON in ASCII: whatever a task is called, it can be sent."""
        told = {
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
        return json.dumps(told).encode("ascii")


class DeliveryError(Exception):
    """Why somebody was not told, without anything secret. `again`: it may be otherwise in a moment."""

    def __init__(self, message: str, *, hint: str = "", is_retryable: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.is_retryable = is_retryable


class NotificationChannel(Protocol):
    @property
    def name(self) -> str:
        """What anybody may see of the address."""

    @property
    def key(self) -> str:
        """It tells this one from all others, and tells nothing about it."""

    def send(self, message: NotificationMessage) -> None:
        """Raises Undelivered. It takes its time, but not for ever."""


def build_message(tiding: Notification, project: str, journal: str) -> NotificationMessage:
    return NotificationMessage(
        tiding.kind.value,
        tiding.title,
        tiding.text,
        tiding.batch,
        tiding.task,
        tiding.at,
        tiding.until,
        tiding.seq,
        project,
        f"{journal}:{tiding.seq}:{tiding.kind.value}",
    )


def build_test_message(project: str, at: float) -> NotificationMessage:
    """For whoever wants to see whether messages arrive."""
    text = "This is a test, and nothing has happened."
    delivery = f"{TEST_TYPE}:{uuid4()}"
    return NotificationMessage(TEST_TYPE, "plait reaches you", text, None, None, at, None, None, project, delivery)


def _format_time(at: float) -> str:
    told = datetime.fromtimestamp(min(max(at, 0.0), _MAX_TIMESTAMP), UTC)
    return told.isoformat(timespec="milliseconds").replace("+00:00", "Z")


SIGNATURE_HEADER, DELIVERY_HEADER = "Plait-Signature", "Plait-Delivery"


WEBHOOK_TIMEOUT_SECONDS = 10.0  # seconds for each of connecting, sending and the first of an answer


_RETRYABLE_STATUSES = frozenset({408, 425, 429})


def sign_body(secret: bytes, body: bytes, at: int) -> str:
    """Over the time and the body, so that neither can be changed, and an old message can't be sent again for ever."""
    told = hmac.new(secret, f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={told}"


class WebhookChannel:
    """`secret` is asked at each message, and raises Undelivered; None: messages are not signed."""

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
        """The status of the answer. Nothing of what else it says is read, and nothing that httpx says is told: it may
        name the address.
        """
        import httpx  # only for those who send something

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
            raise DeliveryError("nobody can be reached there", is_retryable=True) from None
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
    """On this machine, where no proxy is asked."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


_MAX_SECRET_BYTES = 4096  # bytes


def read_secret(path: Path) -> bytes:
    """Without the white space around it. Raises Undelivered: what can't be signed is not sent."""
    try:
        found = read_private_file(path.expanduser(), _MAX_SECRET_BYTES + 1, follow_links=True).strip()
    except NotPrivateError:
        raise DeliveryError(f"the secret {path} could be read by others", hint=f"chmod 600 {path}") from None
    except (OSError, RuntimeError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise DeliveryError(f"the secret {path} can't be read: {why}", hint=_build_hint(path)) from None
    if not found or len(found) > _MAX_SECRET_BYTES:
        raise DeliveryError(f"{path} holds no secret", hint=_build_hint(path))
    return found


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
