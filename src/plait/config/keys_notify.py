"""The settings of notifications. Where news of a person's work goes is that person's to say, and no repository's."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from plait.config import kinds
from plait.config.key import AnyKey, Key
from plait.config.kinds import Kind, Unfit
from plait.core.tiding import USUAL, TidingKind

HIDDEN = "…"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?=://.)")
_BETWEEN = re.compile(r"[\s,]+(?=[A-Za-z][A-Za-z0-9+.-]*://)")  # a comma may be part of an address


def addresses() -> Kind[tuple[str, ...]]:
    each = kinds.texts("")

    def read(said: object) -> tuple[str, ...]:
        found = each.read(said)
        if not all(_SCHEME.match(url) and url.isprintable() for url in found):
            raise Unfit('Each begins with its service, such as "slack://" or "mailto://".')
        return found

    def hear(said: str) -> object:
        return _BETWEEN.split(said.strip()) if said.strip() else []

    return Kind("an address that apprise knows, or a list of them", read, list, hear)


def webhook() -> Kind[str | None]:
    one = kinds.text("an address")

    def read(said: object) -> str | None:
        url = one.read(said)
        if url is not None and not _reachable(url):
            raise Unfit
        return url

    allowed = 'an address that begins with "https://" or "http://", or "" for none'
    return Kind(allowed, read, one.plain, spell=one.spell)


def _reachable(url: str) -> bool:
    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    return named and parts.scheme in {"http", "https"} and url.isprintable() and " " not in url


def whole_path() -> Kind[str | None]:
    """It must not depend on where somebody stands: an engine stands nowhere."""
    one = kinds.text("a file")

    def read(said: object) -> str | None:
        path = one.read(said)
        if path is not None and not path.startswith(("/", "~/")):
            raise Unfit("Write the whole path; ~/ is your own folder.")
        return path

    return Kind('the whole path of a file, or "" for none', read, one.plain, spell=one.spell)


def several() -> Kind[tuple[TidingKind, ...]]:
    each, words = kinds.choice(TidingKind), kinds.texts("", split=True)

    def read(said: object) -> tuple[TidingKind, ...]:
        return tuple(dict.fromkeys(map(each.read, words.read(said))))

    def plain(values: tuple[TidingKind, ...]) -> list[str]:
        return [value.value for value in values]

    return Kind(f"a list of {each.allowed}", read, plain, words.hear, choices=each.choices)


def scheme_of(url: str) -> str:
    """The service is named; all else may be a key, also where another address has its host."""
    found = _SCHEME.match(url)
    return f"{found[0].lower()}://{HIDDEN}" if found else HIDDEN


def host_of(url: str) -> str:
    """Whatever follows the host may be a key."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{port}/{HIDDEN}"


NOTIFY: tuple[AnyKey, ...] = (
    Key(
        "notify.urls",
        addresses(),
        (),
        "where you are told, as addresses of apprise (slack://…, mailto://…, ntfy://…)",
        page="notifyUrls",
        private=True,
        hide=lambda urls: tuple(map(scheme_of, urls)),
    ),
    Key(
        "notify.webhook",
        webhook(),
        None,
        "the address that gets each message as JSON, with a signature",
        page="notifyWebhook",
        private=True,
        hide=lambda url: url and host_of(url),
    ),
    Key(
        "notify.secret_file",
        whole_path(),
        None,
        "the file with the secret that the webhook's signature is made with, which only you may read (mode 600)",
        page="notifySecretFile",
        private=True,
    ),
    Key(
        "notify.secret",
        kinds.text("a secret"),
        None,
        "the secret itself, in the place of that file: for the variable PLAIT_NOTIFY_SECRET",
        page="notifySecret",
        private=True,
        hide=lambda secret: secret and HIDDEN,
    ),
    Key(
        "notify.on",
        several(),
        USUAL,
        "what you are told of",
        page="notifyOn",
        private=True,
    ),
    Key(
        "notify.bell",
        kinds.switch(),
        default=True,
        about="ring the terminal's bell when a batch that is watched there has ended or needs you",
        page="notifyBell",
        private=True,
    ),
)
