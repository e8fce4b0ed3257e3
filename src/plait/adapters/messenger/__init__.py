"""The messenger: tells people, where they are, what they want to be told of. The engine never waits for it."""

from __future__ import annotations

from plait.adapters.messenger.apprised import AppriseChannel
from plait.adapters.messenger.memory import DeliveryLog
from plait.adapters.messenger.message import (
    NotificationChannel,
    NotificationMessage,
    DeliveryError,
    build_test_message,
)
from plait.adapters.messenger.messenger import NotifierOptions, Notifier
from plait.adapters.messenger.webhook import WebhookChannel

__all__ = [
    "NotificationChannel",
    "AppriseChannel",
    "NotifierOptions",
    "DeliveryLog",
    "NotificationMessage",
    "Notifier",
    "DeliveryError",
    "WebhookChannel",
    "build_test_message",
]
