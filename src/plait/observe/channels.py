"""A webhook: each message as JSON to one address, signed so that whoever gets it knows whom it is from."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable
from ipaddress import ip_address
from urllib.parse import urlsplit

from plait import __version__
from plait.config.notify_keys import mask_to_host
from plait.observe.channels__message import DeliveryError, NotificationMessage

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
        import httpx  # noqa: PLC0415 - only for those who send something

        try:
            with (
                httpx.Client(
                    timeout=self._timeout, follow_redirects=False, trust_env=not _is_local(self._url)
                ) as client,
                client.stream("POST", self._url, content=body, headers=headers) as answer,
            ):
                return answer.status_code
        except httpx.TimeoutException:
            raise DeliveryError(
                f"there was no answer within {self._timeout:g} s", is_retryable=True
            ) from None
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
