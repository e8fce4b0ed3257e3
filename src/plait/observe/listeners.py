"""Who is told what happens, as the settings say, and how."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from plait.config.config import Config, NotifyConfig
from plait.core.fast_dataclass import dataclass
from plait.git.location import RepoLocation

if TYPE_CHECKING:  # few have somebody to tell, and importing what tells them takes its time
    from plait.observe.channels__message import NotificationChannel
    from plait.store.interfaces import RecordListener


def has_receivers(config: Config) -> bool:
    """Whether anybody is to be told anything."""
    return bool(config.notify.urls or config.notify.webhook)


def open_notifier(
    place: RepoLocation, config: Config, journal: str, log: Callable[[str], None]
) -> RecordListener:
    from plait.observe.notifier import Notifier, NotifierOptions  # noqa: PLC0415
    from plait.observe.notifier__memory import DeliveryLog  # noqa: PLC0415

    errand = NotifierOptions(frozenset(config.notify.on), place.top.name, journal)
    return Notifier(errand, open_channels(config), DeliveryLog(place.state, journal), log)


def open_channels(config: Config) -> list[NotificationChannel]:
    from plait.observe.channels import WebhookChannel  # noqa: PLC0415
    from plait.observe.channels__apprised import AppriseChannel  # noqa: PLC0415

    notify = config.notify
    hooks: list[NotificationChannel] = []
    if notify.webhook:
        hooks.append(WebhookChannel(notify.webhook, partial(_load_secret, notify)))
    return [*hooks, *map(AppriseChannel, notify.urls)]


def _load_secret(notify: NotifyConfig) -> bytes | None:
    """The one that stands in the settings counts before the one in a file."""
    from plait.observe.channels__secret import read_secret  # noqa: PLC0415

    if notify.secret is not None:
        return notify.secret.encode()
    return read_secret(Path(notify.secret_file)) if notify.secret_file is not None else None


@dataclass(frozen=True, slots=True)
class DeliveryResult:
    """`address` is what anybody may see of it; `error` "": the message has arrived there."""

    address: str
    error: str = ""
    hint: str = ""


def send_test_message(place: RepoLocation, config: Config) -> list[DeliveryResult]:
    """Send a test message to everybody, once; what came of it for each."""
    from plait.observe.channels__message import DeliveryError, build_test_message  # noqa: PLC0415

    message, tried = build_test_message(place.top.name, time.time()), []
    for each in open_channels(config):
        try:
            each.send(message)
        except DeliveryError as error:
            tried.append(DeliveryResult(each.name, error.message, error.hint))
        else:
            tried.append(DeliveryResult(each.name))
    return tried
