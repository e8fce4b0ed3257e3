"""Who is told what happens, as the settings say, and how."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from plait.config.model import Config, NotifyConfig
from plait.core.frozen import dataclass
from plait.wiring import Place

if TYPE_CHECKING:  # few have somebody to tell, and importing what tells them takes its time
    from plait.adapters.messenger import Addressee
    from plait.ports import Onlooker


def somebody(config: Config) -> bool:
    """Whether anybody is to be told anything."""
    return bool(config.notify.urls or config.notify.webhook)


def messenger(place: Place, config: Config, journal: str, say: Callable[[str], None]) -> Onlooker:
    from plait.adapters.messenger import Errand, Memory, Messenger  # noqa: PLC0415

    errand = Errand(frozenset(config.notify.on), place.top.name, journal)
    return Messenger(errand, addressees(config), Memory(place.state, journal), say)


def addressees(config: Config) -> list[Addressee]:
    from plait.adapters.messenger import Apprised, Webhook  # noqa: PLC0415

    notify = config.notify
    hooks: list[Addressee] = []
    if notify.webhook:
        hooks.append(Webhook(notify.webhook, partial(_secret, notify)))
    return [*hooks, *map(Apprised, notify.urls)]


def _secret(notify: NotifyConfig) -> bytes | None:
    """The one that stands in the settings counts before the one in a file."""
    from plait.adapters.messenger.secret import read_secret  # noqa: PLC0415

    if notify.secret is not None:
        return notify.secret.encode()
    return read_secret(Path(notify.secret_file)) if notify.secret_file is not None else None


@dataclass(frozen=True, slots=True)
class Tried:
    """`address` is what anybody may see of it; `error` "": the message has arrived there."""

    address: str
    error: str = ""
    hint: str = ""


def try_out(place: Place, config: Config) -> list[Tried]:
    """Send a test message to everybody, once; what came of it for each."""
    from plait.adapters.messenger import Undelivered, trial  # noqa: PLC0415

    message, tried = trial(place.top.name, time.time()), []
    for each in addressees(config):
        try:
            each.send(message)
        except Undelivered as error:
            tried.append(Tried(each.name, error.message, error.hint))
        else:
            tried.append(Tried(each.name))
    return tried
