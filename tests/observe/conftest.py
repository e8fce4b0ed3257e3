from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.webhook_receiver import WebhookReceiver, webhook_receiver


@pytest.fixture
def receiver() -> Iterator[WebhookReceiver]:
    with webhook_receiver() as made:
        yield made
