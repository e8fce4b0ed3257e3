"""Saved settings: set and removed by name, with limits on their size."""

from __future__ import annotations

import pytest

from plait.core import settings
from plait.core.decisions import RequestGranted, RequestRefused
from plait.core.requests import SaveSettings
from plait.testing.script import Script


def save(script: Script, **changes: str | None) -> str:
    """Why not; empty if they were saved."""
    return answered(script, *changes.items())


def answered(script: Script, *changes: tuple[str, str | None]) -> str:
    decided = script.request(lambda name: SaveSettings(name, changes))
    [answer] = [each for each in decided if isinstance(each, RequestGranted | RequestRefused)]
    return answer.why if isinstance(answer, RequestRefused) else ""


def test_saved_settings_are_set_changed_and_removed_one_by_one() -> None:
    script = Script("a")
    assert save(script, retries="1", verify='"make"') == ""
    assert save(script, retries="2", gate='"make all"', never=None) == ""
    assert script.state.saved == {"retries": "2", "verify": '"make"', "gate": '"make all"'}
    assert save(script, verify=None) == ""
    assert script.state.saved == {"retries": "2", "gate": '"make all"'}


def test_saving_settings_needs_no_batch() -> None:
    script = Script("a")
    script.exit_attempt("a")
    assert save(script, retries="1") == ""


def test_a_second_copy_changes_nothing() -> None:
    script = Script("a")
    script.apply(SaveSettings("same", (("retries", "1"),)))
    save(script, retries="2")
    assert script.apply(SaveSettings("same", (("retries", "1"),))) == []
    assert script.state.saved == {"retries": "2"}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("", "1"), "the name of a saved setting must have from 1 to 100 characters"),
        (("n" * 101, None), "the name of a saved setting must have from 1 to 100 characters"),
        (
            ("verify", "x" * 16_385),
            "verify is too long to be saved: 16385 characters, the limit is 16384",
        ),
    ],
)
def test_an_invalid_setting_is_refused_and_nothing_is_saved(change: tuple[str, str | None], why: str) -> None:
    script = Script("a")
    assert answered(script, ("retries", "1"), change) == why
    assert script.state.saved == {}


def test_the_number_of_saved_settings_is_limited() -> None:
    script = Script("a")
    assert answered(script, *((f"s{number}", "1") for number in range(settings.MAX_SAVED_SETTINGS))) == ""
    assert save(script, one_more="1") == f"no more than {settings.MAX_SAVED_SETTINGS} settings can be saved"
    assert save(script, s0=None, one_more="1") == ""
    assert len(script.state.saved) == settings.MAX_SAVED_SETTINGS
