"""The settings of notifications. Only the user's own count: they decide where messages about the work are sent."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from plait.config import value_types
from plait.config.key import ConfigTable, Key
from plait.core.settings import DEFAULT_NOTIFICATION_KINDS, NotificationKind

MASKED = "…"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?=://.)")
_URL_SEPARATOR = re.compile(r"[\s,]+(?=[A-Za-z][A-Za-z0-9+.-]*://)")  # a comma may be part of an address


def apprise_urls() -> value_types.ValueType[tuple[str, ...]]:
    texts = value_types.text_list("")

    def read(value: object) -> tuple[str, ...]:
        urls = texts.read(value)
        if not all(_SCHEME.match(url) and url.isprintable() for url in urls):
            raise value_types.InvalidValueError('Each begins with its service, such as "slack://" or "mailto://".')
        return urls

    def parse_text(text: str) -> object:
        return _URL_SEPARATOR.split(text.strip()) if text.strip() else []

    allowed = "an address that apprise knows, or a list of them"
    return value_types.ValueType(allowed, read, list, parse_text, kind=value_types.ValueKind.LIST, json_type=list[str])


def mask_to_scheme(url: str) -> str:
    """Return only the scheme, which names the service; anything else may be a key, even in the host's place."""
    scheme = _SCHEME.match(url)
    return f"{scheme[0].lower()}://{MASKED}" if scheme else MASKED


def mask_to_host(url: str) -> str:
    """Return scheme and host; anything after the host may be a key."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}/{MASKED}"


class NotifyConfig(
    ConfigTable, name="notify", about="Notifications. Only read from your own config, never from a repository."
):
    urls = Key(
        apprise_urls(),
        (),
        "where to send notifications, as Apprise URLs (slack://…, mailto://…, ntfy://…)",
        json_name="notifyUrls",
        user_only=True,
        mask=lambda urls: tuple(map(mask_to_scheme, urls)),
    )
    webhook = Key(
        value_types.http_url(),
        None,
        "URL that gets each notification as signed JSON",
        json_name="notifyWebhook",
        user_only=True,
        mask=lambda url: url and mask_to_host(url),
    )
    secret_file = Key(
        value_types.absolute_path(),
        None,
        "file with the secret that signs the webhook's messages, readable only by you (mode 600)",
        json_name="notifySecretFile",
        user_only=True,
    )
    secret = Key(
        value_types.optional_text("a secret"),
        None,
        "the secret itself, instead of that file: for the variable PLAIT_NOTIFY_SECRET",
        json_name="notifySecret",
        user_only=True,
        mask=lambda secret: secret and MASKED,
    )
    on = Key(
        value_types.choice_list(NotificationKind),
        DEFAULT_NOTIFICATION_KINDS,
        "events to notify about",
        json_name="notifyOn",
        user_only=True,
    )
    bell = Key(
        value_types.boolean(),
        default=True,
        about="ring the terminal's bell when a batch that is watched there has ended or needs you",
        json_name="notifyBell",
        user_only=True,
    )
