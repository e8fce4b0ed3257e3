"""One host's REST API over HTTP: typed answers, or a typed no. The token goes to this host and to no other."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import TypeVar
from urllib.parse import urljoin, urlsplit

import httpx
import msgspec

from plait import __version__
from plait.adapters.forge.proxy import proxy_for
from plait.adapters.forge.scrub import scrubbed
from plait.adapters.forge.trusted import certificates

T = TypeVar("T")

_CONNECT = 10.0  # seconds
_MOST = 16 << 20  # bytes of an answer
_HOPS = 4
_TELLING = ("message", "error", "errors")  # where an answer may say what went wrong
_MOVED = frozenset({301, 302, 307, 308})
_LIMITED = frozenset({403, 429, 503})
_PASSING = frozenset({500, 502, 503, 504})
_WORTH_WAITING = 30.0  # seconds


class Refused(Exception):  # noqa: N818 - an answer, which becomes an error where its meaning is known
    """The forge said no. `wait` is how long it asks to be left alone."""

    def __init__(self, status: int, said: str, wait: float | None = None) -> None:
        super().__init__(f"{status} {said}".strip())
        self.status = status
        self.said = said
        self.wait = wait

    def pause(self, usual: float) -> float | None:
        """After how many seconds it is worth asking again; None: it is not."""
        if self.wait is not None:
            return self.wait if self.wait <= _WORTH_WAITING else None
        return usual if self.status in _PASSING else None


class Unreachable(Exception):  # noqa: N818 - as above
    """Nobody answered, or not in a way that means anything. `passing`: it may be otherwise in a moment."""

    def __init__(self, said: str, *, passing: bool = True) -> None:
        super().__init__(said)
        self.said = said
        self.passing = passing

    def pause(self, usual: float) -> float | None:
        return usual if self.passing else None


class Wire:
    def __init__(
        self,
        api: str,
        headers: Mapping[str, str],
        environment: Mapping[str, str],
        secrets: tuple[str, ...],
        patience: float,
    ) -> None:
        """`secrets` are in no message."""
        self._api = api
        self._secrets = secrets
        self._host = urlsplit(api).hostname or ""
        self._client = _client(api, headers, environment, patience)

    def close(self) -> None:
        self._client.close()

    def ask(
        self,
        method: str,
        path: str,
        gives: type[T],
        *,
        query: Mapping[str, str] | None = None,
        send: Mapping[str, object] | None = None,
    ) -> T:
        """Raises Refused or Unreachable."""
        url = str(httpx.URL(f"{self._api}{path}", params=query or None))
        for _ in range(_HOPS):
            status, headers, data = self._exchange(method, url, send)
            if status not in _MOVED:
                return self._read(status, headers, data, gives)
            url = self._onward(url, headers.get("location", ""))
        raise Unreachable(f"{self._host} redirects for ever", passing=False)

    def _exchange(
        self, method: str, url: str, send: Mapping[str, object] | None
    ) -> tuple[int, httpx.Headers, bytes]:
        content = None if send is None else msgspec.json.encode(send)
        kind = {} if send is None else {"Content-Type": "application/json"}
        try:
            with self._client.stream(method, url, content=content, headers=kind) as answer:
                return answer.status_code, answer.headers, b"".join(self._bounded(answer.iter_bytes()))
        except httpx.TimeoutException as error:
            raise Unreachable(f"{self._host} did not answer in time") from error
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            raise Unreachable(f"{self._host} can't be reached: {self._clean(str(error))}") from error

    def _bounded(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        left = _MOST
        for piece in pieces:
            left -= len(piece)
            if left < 0:
                raise Unreachable(f"{self._host} answered with more than anybody reads", passing=False)
            yield piece

    def _onward(self, url: str, location: str) -> str:
        """Within the host only."""
        further = urljoin(url, location)
        if not location or _origin(further) != _origin(self._api):
            other = self._clean(urlsplit(further).hostname or "nowhere")
            raise Unreachable(
                f"{self._host} sends us on to {other}, which is not told the token", passing=False
            )
        return further

    def _read(self, status: int, headers: httpx.Headers, data: bytes, gives: type[T]) -> T:
        if not 200 <= status < 300:
            said = self._clean(complaint(data))
            raise Refused(status, said, _wait(status, headers, said))
        try:
            return msgspec.json.decode(data, type=gives)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            said = f"{self._host} answers in a way that no such forge does"
            raise Unreachable(f"{said}: {self._clean(str(error))}", passing=False) from error

    def _clean(self, text: str) -> str:
        return scrubbed(text, self._secrets)


def _client(
    api: str, headers: Mapping[str, str], environment: Mapping[str, str], patience: float
) -> httpx.Client:
    proxy = proxy_for(api, environment)
    try:
        return httpx.Client(
            headers={"User-Agent": f"plait/{__version__}", **headers},
            timeout=httpx.Timeout(patience, connect=min(patience, _CONNECT)),
            verify=certificates(api, environment),
            proxy=proxy,
            trust_env=False,  # the environment is the one of whoever asked, and ~/.netrc is nobody's business
            follow_redirects=False,
        )
    except (ImportError, ValueError, httpx.InvalidURL) as error:
        raise Unreachable(f"the proxy can't be used: {scrubbed(str(error))}", passing=False) from error


def _origin(url: str) -> tuple[str, str, int | None]:
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname or "", parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    except ValueError:
        return "", "", None


def _wait(status: int, headers: httpx.Headers, said: str) -> float | None:
    """How long a limit lasts, by its own account."""
    if status not in _LIMITED:
        return None
    if after := headers.get("retry-after"):
        return _seconds(after)
    if (
        headers.get("x-ratelimit-remaining") == "0"
        and (reset := headers.get("x-ratelimit-reset", "")).isdecimal()
    ):
        return max(0.0, int(reset[:15]) - time.time())
    return 60.0 if status == 429 or "rate limit" in said else None


def _seconds(after: str) -> float:
    if after.isdecimal():
        return float(after[:9])
    try:
        return max(0.0, parsedate_to_datetime(after).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 60.0


def complaint(data: bytes) -> str:
    """What an answer says went wrong, in the words of any of the forges."""
    try:
        said: object = msgspec.json.decode(data[:65_536])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    return "; ".join(dict.fromkeys(_words(said)))


def _words(said: object) -> Iterator[str]:
    match said:
        case str():
            yield said
        case list():
            for each in said:
                yield from _words(each)
        case dict() if any(name in said for name in _TELLING):
            for name in _TELLING:
                yield from _words(said.get(name))
        case {"field": str(where), "code": str(code)}:
            yield f"{where} is {code}"
        case dict():
            for name, each in said.items():
                yield from (f"{name} {word}" for word in _words(each))
        case _:
            return
