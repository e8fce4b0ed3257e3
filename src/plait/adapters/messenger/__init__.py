"""The messenger: tells people, where they are, what they want to be told of. The engine never waits for it."""

from __future__ import annotations

from plait.adapters.messenger.apprised import Apprised
from plait.adapters.messenger.memory import Memory
from plait.adapters.messenger.message import Addressee, Message, Undelivered, trial
from plait.adapters.messenger.messenger import Errand, Messenger
from plait.adapters.messenger.webhook import Webhook

__all__ = [
    "Addressee",
    "Apprised",
    "Errand",
    "Memory",
    "Message",
    "Messenger",
    "Undelivered",
    "Webhook",
    "trial",
]
