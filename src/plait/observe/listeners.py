"""The listeners to the engine's records: the notifier and the tracer that the settings ask for."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from plait import __version__
from plait.config.config import Config
from plait.config.notify_keys import NotifyConfig
from plait.core.events import Record
from plait.core.fast_dataclass import dataclass
from plait.core.state import State
from plait.git.location import RepoLocation
from plait.system import log

if TYPE_CHECKING:
    from plait.observe.channels import NotificationChannel


class RecordListener(Protocol):
    """Gets every durable record. It never blocks the engine and never raises."""

    def replay(self, record: Record) -> None:
        """Take a record from before this engine started."""

    def handle_records(self, state: State, records: Sequence[Record]) -> None:
        """Take these records, which are durable and folded into `state`."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being delivered any more, so that the engine may exit."""

    def close(self) -> None: ...


_OTEL_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


def open_listeners(location: RepoLocation, config: Config, journal: str) -> Iterator[RecordListener]:
    """Open the configured listeners; `journal` is the journal's id."""
    if config.engine.traces or _is_otel_enabled(os.environ):
        from plait.observe.tracing import open_tracer  # few engines have one

        yield open_tracer(location.state, journal, config.engine.traces, __version__, log.write_line)
    if has_receivers(config):
        from plait.observe.notifier import DeliveryLog, Notifier, NotifierOptions

        options = NotifierOptions(frozenset(config.notify.on), location.top.name, journal)
        yield Notifier(options, open_channels(config), DeliveryLog(location.state, journal), log.write_line)


def _is_otel_enabled(variables: Mapping[str, str]) -> bool:
    """Whether OpenTelemetry's own variables ask for traces."""
    off = variables.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    none = variables.get("OTEL_TRACES_EXPORTER", "").strip().lower() == "none"
    named = any(variables.get(name, "").strip() for name in _OTEL_ENDPOINTS)
    return named and not (off or none)


def has_receivers(config: Config) -> bool:
    """Whether notifications are configured."""
    return bool(config.notify.urls or config.notify.webhook)


def open_channels(config: Config) -> list[NotificationChannel]:
    from plait.observe.channels import AppriseChannel, WebhookChannel

    notify = config.notify
    hooks: list[NotificationChannel] = []
    if notify.webhook:
        hooks.append(WebhookChannel(notify.webhook, partial(_load_secret, notify)))
    return [*hooks, *map(AppriseChannel, notify.urls)]


def _load_secret(notify: NotifyConfig) -> bytes | None:
    """Load the secret; `notify.secret` takes precedence over `notify.secret_file`."""
    from plait.observe.channels import read_secret

    if notify.secret is not None:
        return notify.secret.encode()
    return read_secret(Path(notify.secret_file)) if notify.secret_file is not None else None


@dataclass(frozen=True, slots=True)
class DeliveryResult:
    """The result of a delivery. `address` is masked; `error` "": the message was delivered."""

    address: str
    error: str = ""
    hint: str = ""


def send_test_message(location: RepoLocation, config: Config) -> list[DeliveryResult]:
    """Send a test message once to each channel."""
    from plait.observe.channels import DeliveryError, build_test_message

    message, results = build_test_message(location.top.name, time.time()), []
    for channel in open_channels(config):
        try:
            channel.send(message)
        except DeliveryError as error:
            results.append(DeliveryResult(channel.name, error.message, error.hint))
        else:
            results.append(DeliveryResult(channel.name))
    return results
