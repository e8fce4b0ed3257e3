"""Everybody else, through apprise: it is the real one, and sends to a receiver on this machine."""

from __future__ import annotations

import json
import sys

import pytest

from plait.adapters.messenger import Apprised, Undelivered, trial
from plait.adapters.messenger.apprised import _TYPES
from plait.adapters.messenger.message import TRIAL, message_of
from plait.core.tiding import Tiding, TidingKind
from plait.testing.receiver import Receiver

# Its modules for other services are imported too, and what those import may be on its way out.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
TIDING = Tiding(TidingKind.FAILED, "7f3a", None, "batch 7f3a has ended", "1 failed\n<b>03</b>", 1e9, 412)


def to(receiver: Receiver) -> Apprised:
    return Apprised(f"json://127.0.0.1:{receiver.port}/hunter2")


def test_a_message_arrives(receiver: Receiver, capfd: pytest.CaptureFixture[str]) -> None:
    to(receiver).send(message_of(TIDING, "app", "j"))
    (letter,) = receiver.letters
    said = json.loads(letter.body)
    assert said["title"] == "app: batch 7f3a has ended"
    assert said["message"] == "1 failed\n<b>03</b>"
    assert said["type"] == "failure"
    assert "hunter2" not in "".join(capfd.readouterr())


@pytest.mark.parametrize("status", [404, 500])
def test_who_refuses_is_tried_again_and_named_by_the_service_alone(
    receiver: Receiver, status: int, capfd: pytest.CaptureFixture[str]
) -> None:
    receiver.status = status
    with pytest.raises(Undelivered) as caught:
        to(receiver).send(trial("app", 0.0))
    assert caught.value.again
    assert "hunter2" not in f"{caught.value}{caught.value.hint}{to(receiver).name}"
    assert to(receiver).name == "json://…"
    assert "hunter2" not in "".join(capfd.readouterr())


@pytest.mark.parametrize("url", ["nosuchservice://hunter2/x", "slack://hunter2"])
def test_an_address_that_apprise_does_not_know_is_given_up(
    url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Undelivered, match="knows no such address") as caught:
        Apprised(url).send(trial("app", 0.0))
    assert not caught.value.again
    assert "hunter2" not in "".join(capfd.readouterr()) + str(caught.value) + caught.value.hint


def test_without_the_extra_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)
    with pytest.raises(Undelivered, match="not installed") as caught:
        Apprised("json://127.0.0.1").send(trial("app", 0.0))
    assert caught.value.hint == "pip install 'plait[notify]'"
    assert not caught.value.again


def test_every_kind_has_a_type_of_apprise() -> None:
    assert set(_TYPES) == {*TidingKind, TRIAL}
