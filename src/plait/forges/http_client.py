"""An HTTP client for one host's REST API, with typed answers and errors. The token is sent to this host only."""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import TypeVar
from urllib.parse import urljoin, urlsplit

import httpx
import msgspec

from plait import __version__
from plait.forges.forge import ForgeError, is_loopback_host, redact_line
from plait.system.decoders import decode_json

T = TypeVar("T")


_CONNECT_TIMEOUT_SECONDS = 10.0
_MAX_RESPONSE_BYTES = 16 << 20
_MAX_REDIRECTS = 4
_ERROR_KEYS = ("message", "error", "errors")  # where an answer may say what went wrong
_REDIRECT_STATUSES = frozenset({301, 302, 307, 308})
_RATE_LIMIT_STATUSES = frozenset({403, 429, 503})
_TRANSIENT_STATUSES = frozenset({500, 502, 503, 504})
_MAX_WAIT_SECONDS = 30.0


class HttpRefusedError(Exception):
    """The forge refused. `wait` is how many seconds it asks to wait, if it does."""

    def __init__(self, status: int, detail: str, wait: float | None = None) -> None:
        super().__init__(f"{status} {detail}".strip())
        self.status = status
        self.detail = detail
        self.wait = wait

    def find_retry_pause(self, usual: float) -> float | None:
        """Return the seconds until a retry makes sense; None if it never does."""
        if self.wait is not None:
            return self.wait if self.wait <= _MAX_WAIT_SECONDS else None
        return usual if self.status in _TRANSIENT_STATUSES else None


class HttpUnreachableError(Exception):
    """The forge gave no answer, or none that makes sense. `is_transient`: a retry may help."""

    def __init__(self, detail: str, *, is_transient: bool = True) -> None:
        super().__init__(detail)
        self.detail = detail
        self.is_transient = is_transient

    def find_retry_pause(self, usual: float) -> float | None:
        return usual if self.is_transient else None


class ForgeHttpClient:
    def __init__(
        self,
        api: str,
        headers: Mapping[str, str],
        environment: Mapping[str, str],
        secrets: tuple[str, ...],
        timeout: float,
    ) -> None:
        """Open the client; `secrets` are masked in messages."""
        self._api = api
        self._secrets = secrets
        self._host = urlsplit(api).hostname or ""
        self._client = _open_client(api, headers, environment, timeout)

    def close(self) -> None:
        self._client.close()

    def request(
        self,
        method: str,
        path: str,
        result_type: type[T],
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, object] | None = None,
    ) -> T:
        """Send a request and parse the answer; raises HttpRefusedError or HttpUnreachableError."""
        url = str(httpx.URL(f"{self._api}{path}", params=query or None))
        for _ in range(_MAX_REDIRECTS):
            status, headers, data = self._exchange(method, url, body)
            if status not in _REDIRECT_STATUSES:
                return self._decode(status, headers, data, result_type)
            url = self._follow_redirect(url, headers.get("location", ""))
        raise HttpUnreachableError(f"{self._host} redirects too often", is_transient=False)

    def _exchange(self, method: str, url: str, send: Mapping[str, object] | None) -> tuple[int, httpx.Headers, bytes]:
        content = None if send is None else msgspec.json.encode(send)
        content_type = {} if send is None else {"Content-Type": "application/json"}
        try:
            with self._client.stream(method, url, content=content, headers=content_type) as response:
                return response.status_code, response.headers, b"".join(self._limit_size(response.iter_bytes()))
        except httpx.TimeoutException as error:
            raise HttpUnreachableError(f"{self._host} did not answer in time") from error
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            raise HttpUnreachableError(f"{self._host} can't be reached: {self._redact(str(error))}") from error

    def _limit_size(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        remaining = _MAX_RESPONSE_BYTES
        for chunk in chunks:
            remaining -= len(chunk)
            if remaining < 0:
                raise HttpUnreachableError(f"{self._host} sent an answer that is too large", is_transient=False)
            yield chunk

    def _follow_redirect(self, url: str, location: str) -> str:
        """Return the new URL; raises HttpUnreachableError if it is on another host."""
        new_url = urljoin(url, location)
        if not location or _parse_origin(new_url) != _parse_origin(self._api):
            other_host = self._redact(urlsplit(new_url).hostname or "nowhere")
            raise HttpUnreachableError(
                f"{self._host} redirects to {other_host}, which must not get the token", is_transient=False
            )
        return new_url

    def _decode(self, status: int, headers: httpx.Headers, data: bytes, result_type: type[T]) -> T:
        if not 200 <= status < 300:
            detail = self._redact(extract_error(data))
            raise HttpRefusedError(status, detail, _parse_retry_after(status, headers, detail))
        try:
            return decode_json(data, result_type)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            detail = f"{self._host} sent an unexpected answer: {self._redact(str(error))}"
            raise HttpUnreachableError(detail, is_transient=False) from error

    def _redact(self, text: str) -> str:
        return redact_line(text, self._secrets)


def _open_client(api: str, headers: Mapping[str, str], environment: Mapping[str, str], timeout: float) -> httpx.Client:
    proxy = find_proxy(api, environment)
    try:
        return httpx.Client(
            headers={"User-Agent": f"plait/{__version__}", **headers},
            timeout=httpx.Timeout(timeout, connect=min(timeout, _CONNECT_TIMEOUT_SECONDS)),
            verify=load_certificates(api, environment),
            proxy=proxy,
            trust_env=False,  # the environment is a parameter, and ~/.netrc is not read
            follow_redirects=False,
        )
    except (ImportError, ValueError, httpx.InvalidURL) as error:
        raise ForgeError(f"the proxy can't be used: {redact_line(str(error))}") from error


def _parse_origin(url: str) -> tuple[str, str, int | None]:
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname or "", parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    except ValueError:
        return "", "", None


def _parse_retry_after(status: int, headers: httpx.Headers, detail: str) -> float | None:
    """Return how long the forge asks to wait, in seconds; None if it does not."""
    if status not in _RATE_LIMIT_STATUSES:
        return None
    if after := headers.get("retry-after"):
        return _parse_seconds(after)
    if headers.get("x-ratelimit-remaining") == "0" and (reset := headers.get("x-ratelimit-reset", "")).isdecimal():
        return max(0.0, int(reset[:15]) - time.time())
    return 60.0 if status == 429 or "rate limit" in detail else None


def _parse_seconds(after: str) -> float:
    if after.isdecimal():
        return float(after[:9])
    try:
        return max(0.0, parsedate_to_datetime(after).timestamp() - time.time())
    except (ValueError, OverflowError):
        return 60.0


def extract_error(data: bytes) -> str:
    """Extract the messages from an error answer of any of the forges."""
    try:
        content: object = msgspec.json.decode(data[:65_536])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""
    return "; ".join(dict.fromkeys(_collect_messages(content)))


def _collect_messages(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _collect_messages(item)
        case dict() if any(name in value for name in _ERROR_KEYS):
            for name in _ERROR_KEYS:
                yield from _collect_messages(value.get(name))
        case {"field": str(field), "code": str(code)}:
            yield f"{field} is {code}"
        case dict():
            for name, item in value.items():
                yield from (f"{name} {message}" for message in _collect_messages(item))
        case _:
            return


def find_proxy(url: str, environment: Mapping[str, str]) -> str | None:
    """Return the proxy for a URL, or None; none for loopback, where plain http may carry a token."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_loopback_host(host):
        return None
    # If a name is set in both cases, lower case wins: it sorts last.
    names = sorted(name for name in environment if name.lower().endswith("_proxy"))
    proxies = {name.lower().removesuffix("_proxy"): environment[name] for name in names}
    if _is_excluded(host, proxies.get("no", "")):
        return None
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return proxy if not proxy or "://" in proxy else f"http://{proxy}"


def _is_excluded(host: str, hosts: str) -> bool:
    """Whether no_proxy excludes the host. It names hosts with their subdomains, with or without a port or a leading
    dot; `*` means every host.
    """
    for entry in hosts.replace(",", " ").lower().split():
        name = entry.partition(":")[0].removeprefix("*").removeprefix(".")
        if entry == "*" or (name and (host == name or host.endswith(f".{name}"))):
            return True
    return False


def load_certificates(url: str, environment: Mapping[str, str]) -> ssl.SSLContext:
    """Load Python's certificates, the machine's, and those named in the environment; none for plain http."""
    if not url.startswith("https:"):
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context = httpx.create_ssl_context(trust_env=False)
    context.load_default_certs()
    for name in ("SSL_CERT_FILE", "GIT_SSL_CAINFO"):
        if path := environment.get(name):
            try:
                context.load_verify_locations(path)
            except (OSError, ssl.SSLError) as error:
                raise ForgeError(f"the certificates in {path} ({name}) can't be read: {error}") from error
    return context
