"""The settings saved in the journal agree with its records, whenever an engine dies."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from plait.client.session import Session, new_request_id, open_session
from plait.core.reducers import evolve
from plait.core.requests import Request, SaveSettings
from plait.core.state import State
from plait.store.journal_reader import open_journal_reader
from plait.store.project_files import JOURNAL_FILE
from tests.support.temp_project import TempProject, temp_project, use_environment

if TYPE_CHECKING:
    from tests.support.engine_harness import EngineHarness

PATIENCE = 60.0


def save(**changes: str | None) -> Request:
    return SaveSettings(new_request_id(), tuple(changes.items()))


def test_saved_settings_can_be_read_from_the_journal(harness: EngineHarness) -> None:
    engine = harness.engine()
    harness.request(save(retries="1", verify='"make"'))
    assert engine.wait_until(lambda: harness.journal.settings() == {"retries": "1", "verify": '"make"'})
    harness.request(save(verify=None, gate='"make all"'))
    assert engine.wait_until(lambda: harness.journal.settings() == {"retries": "1", "gate": '"make all"'})


def test_refused_settings_are_not_saved(harness: EngineHarness) -> None:
    engine = harness.engine()
    harness.request(SaveSettings("bad", (("retries", "1"), ("", "2"))))
    harness.request(save(repairs="3"))
    assert engine.wait_until(lambda: harness.journal.settings() != {})
    assert harness.journal.settings() == {"repairs": "3"}


def test_the_next_engine_restores_the_settings_from_the_records(harness: EngineHarness) -> None:
    first = harness.engine()
    harness.request(save(retries="1", verify='"make"'))
    assert first.wait_until(lambda: harness.journal.settings() != {})
    first.kill()
    harness.journal.commit({"retries": None, "verify": '"true"', "nobody": "1"})
    second = harness.engine()
    assert second.wait_until(lambda: harness.journal.settings() == {"retries": "1", "verify": '"make"'})


@pytest.fixture
def project(tmp_path: Path) -> Iterator[TempProject]:
    with temp_project(tmp_path / "project", repository=False) as made, use_environment(made.env):
        yield made


def test_settings_and_records_agree_after_a_kill_at_any_instant(project: TempProject) -> None:
    chance, wanted = Random(6), dict[str, str]()
    for number in range(8):
        wanted[f"s{number}"] = str(number)
        with open_session(project.place) as session:  # another one each time: none that has seen too many die
            session.enqueue([save(**{f"s{number}": str(number)})])
            _kill(session, chance)
        recorded, saved = _read_settings(project)
        assert saved == recorded
    with open_session(project.place) as session:
        assert session.send(save(last="1")).granted
    recorded, saved = _read_settings(project)
    assert saved == recorded == wanted | {"last": "1"}
    project.wait_for_exit()


def _kill(session: Session, chance: Random) -> None:
    """Some time after one is there: it may not have begun, or be in the midst of a commit, or done."""
    deadline, at = time.monotonic() + PATIENCE, chance.uniform(0.0, 0.15)
    while session.find_engine() is None:
        assert time.monotonic() < deadline, "nobody comes"
        session.ensure_engine()
        session.wait(0.01)
    session.wait(at)
    engine = session.find_engine()
    if engine is not None and engine.pid:
        with suppress(ProcessLookupError):
            os.kill(engine.pid, signal.SIGKILL)
    while session.find_engine() is not None:
        assert time.monotonic() < deadline, "it does not go"
        session.wait(0.01)
    session.refresh()


def _read_settings(project: TempProject) -> tuple[Mapping[str, str], Mapping[str, str]]:
    path = project.place.state / JOURNAL_FILE
    if not path.exists():
        return {}, {}
    state = State()
    with closing(open_journal_reader(path)) as reader:
        for record in reader.read():
            evolve(state, record)
        return state.saved, reader.settings()
