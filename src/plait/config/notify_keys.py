"""The settings of notifications. Where news of a person's work goes is that person's to say, and no repository's."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from plait.config import value_types
from plait.config.key import AnyKey, Key
from plait.config.value_types import InvalidValue, ValueType
from plait.core.settings import DEFAULT_NOTIFICATION_KINDS, NotificationKind

MASKED = "…"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?=://.)")
_URL_SEPARATOR = re.compile(r"[\s,]+(?=[A-Za-z][A-Za-z0-9+.-]*://)")  # a comma may be part of an address


def apprise_urls() -> ValueType[tuple[str, ...]]:
    each = value_types.text_list("")

    def read(said: object) -> tuple[str, ...]:
        found = each.read(said)
        if not all(_SCHEME.match(url) and url.isprintable() for url in found):
            raise InvalidValue('Each begins with its service, such as "slack://" or "mailto://".')
        return found

    def hear(said: str) -> object:
        return _URL_SEPARATOR.split(said.strip()) if said.strip() else []

    return ValueType("an address that apprise knows, or a list of them", read, list, hear)


def http_url() -> ValueType[str | None]:
    one = value_types.optional_text("an address")

    def read(said: object) -> str | None:
        url = one.read(said)
        if url is not None and not _is_http_url(url):
            raise InvalidValue
        return url

    allowed = 'an address that begins with "https://" or "http://", or "" for none'
    return ValueType(allowed, read, one.plain, format_value=one.format_value)


def _is_http_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return named and parts.scheme in {"http", "https"} and url.isprintable() and " " not in url


def absolute_path() -> ValueType[str | None]:
    """It must not depend on where somebody stands: an engine stands nowhere."""
    one = value_types.optional_text("a file")

    def read(said: object) -> str | None:
        path = one.read(said)
        if path is not None and not path.startswith(("/", "~/")):
            raise InvalidValue("Write the whole path; ~/ is your own folder.")
        return path

    return ValueType('the whole path of a file, or "" for none', read, one.plain, format_value=one.format_value)


def notification_kinds() -> ValueType[tuple[NotificationKind, ...]]:
    each, words = value_types.choice(NotificationKind), value_types.text_list("", split=True)

    def read(said: object) -> tuple[NotificationKind, ...]:
        return tuple(dict.fromkeys(map(each.read, words.read(said))))

    def plain(values: tuple[NotificationKind, ...]) -> list[str]:
        return [value.value for value in values]

    return ValueType(f"a list of {each.allowed}", read, plain, words.parse_text, choices=each.choices)


def mask_to_scheme(url: str) -> str:
    """The service is named; all else may be a key, also where another address has its host."""
    found = _SCHEME.match(url)
    return f"{found[0].lower()}://{MASKED}" if found else MASKED


def mask_to_host(url: str) -> str:
    """Whatever follows the host may be a key."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}/{MASKED}"


NOTIFY_KEYS: tuple[AnyKey, ...] = (
    Key(
        "notify.urls",
        apprise_urls(),
        (),
        "where you are told, as addresses of apprise (slack://…, mailto://…, ntfy://…)",
        page="notifyUrls",
        user_only=True,
        mask=lambda urls: tuple(map(mask_to_scheme, urls)),
    ),
    Key(
        "notify.webhook",
        http_url(),
        None,
        "the address that gets each message as JSON, with a signature",
        page="notifyWebhook",
        user_only=True,
        mask=lambda url: url and mask_to_host(url),
    ),
    Key(
        "notify.secret_file",
        absolute_path(),
        None,
        "the file with the secret that the webhook's signature is made with, which only you may read (mode 600)",
        page="notifySecretFile",
        user_only=True,
    ),
    Key(
        "notify.secret",
        value_types.optional_text("a secret"),
        None,
        "the secret itself, in the place of that file: for the variable PLAIT_NOTIFY_SECRET",
        page="notifySecret",
        user_only=True,
        mask=lambda secret: secret and MASKED,
    ),
    Key(
        "notify.on",
        notification_kinds(),
        DEFAULT_NOTIFICATION_KINDS,
        "what you are told of",
        page="notifyOn",
        user_only=True,
    ),
    Key(
        "notify.bell",
        value_types.boolean(),
        default=True,
        about="ring the terminal's bell when a batch that is watched there has ended or needs you",
        page="notifyBell",
        user_only=True,
    ),
)
