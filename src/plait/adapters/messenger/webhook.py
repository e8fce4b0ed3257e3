"""A webhook: each message as JSON to one address, signed so that whoever gets it knows whom it is from."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Callable
from ipaddress import ip_address
from urllib.parse import urlsplit

from plait import __version__
from plait.adapters.messenger.message import Message, Undelivered
from plait.config.keys_notify import host_of

SIGNATURE, DELIVERY = "Plait-Signature", "Plait-Delivery"
PATIENCE = 10.0  # seconds for each of connecting, sending and the first of an answer
_BUSY = frozenset({408, 425, 429})


def signature(secret: bytes, body: bytes, at: int) -> str:
    """Over the time and the body, so that neither can be changed, and an old message can't be sent again for ever."""
    told = hmac.new(secret, f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={told}"


class Webhook:
    """`secret` is asked at each message, and raises Undelivered; None: messages are not signed."""

    def __init__(
        self,
        url: str,
        secret: Callable[[], bytes | None],
        *,
        patience: float = PATIENCE,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._url, self._secret = url, secret
        self._patience, self._wall = patience, wall

    @property
    def name(self) -> str:
        return host_of(self._url)

    @property
    def mark(self) -> str:
        return hashlib.sha256(self._url.encode()).hexdigest()[:16]

    def send(self, message: Message) -> None:
        body, secret = message.body(), self._secret()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"plait/{__version__}",
            DELIVERY: message.delivery,
        }
        if secret is not None:
            headers[SIGNATURE] = signature(secret, body, int(self._wall()))
        _judge(self._post(body, headers))

    def _post(self, body: bytes, headers: dict[str, str]) -> int:
        """The status of the answer. Nothing of what else it says is read, and nothing that httpx says is told: it may
        name the address.
        """
        import httpx  # noqa: PLC0415 - only for those who send something

        try:
            with (
                httpx.Client(
                    timeout=self._patience, follow_redirects=False, trust_env=not _near(self._url)
                ) as client,
                client.stream("POST", self._url, content=body, headers=headers) as answer,
            ):
                return answer.status_code
        except httpx.TimeoutException:
            raise Undelivered(f"there was no answer within {self._patience:g} s", again=True) from None
        except httpx.ConnectError:
            raise Undelivered("nobody can be reached there", again=True) from None
        except (httpx.HTTPError, OSError) as error:
            raise Undelivered(f"the connection broke ({type(error).__name__})", again=True) from None
        except (httpx.InvalidURL, ValueError, ImportError) as error:
            raise Undelivered(f"the address or its proxy can't be used ({type(error).__name__})") from None


def _judge(status: int) -> None:
    if 200 <= status < 300:
        return
    if 300 <= status < 400:
        raise Undelivered(
            f"it answered {status}, and messages are not sent on to other addresses",
            hint="Set notify.webhook to where it leads.",
        )
    raise Undelivered(f"it answered {status}", again=status >= 500 or status in _BUSY)


def _near(url: str) -> bool:
    """On this machine, where no proxy is asked."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
