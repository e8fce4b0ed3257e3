"""The messenger: tells people, where they are, what they want to be told of. The engine never waits for it."""

from __future__ import annotations

from plait.observe.channels import WebhookChannel
from plait.observe.channels__apprised import AppriseChannel
from plait.observe.channels__message import (
    DeliveryError,
    NotificationChannel,
    NotificationMessage,
    build_test_message,
)
from plait.observe.notifier import Notifier, NotifierOptions
from plait.observe.notifier__memory import DeliveryLog

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
