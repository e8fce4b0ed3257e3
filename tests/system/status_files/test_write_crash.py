"""A writer killed at any instant: the file is whole, and the next write finds what it needs to lose nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE, run
from tempfile import TemporaryDirectory
from time import time

import pytest

from plait.sources.status_changes import StatusFileWriter
from plait.system.status_files import write_statuses
from tests.support.status_file import StatusFileSetup, do_nothing, make_change, rewrite_statuses

CHILD = Path(__file__).with_name("child.py")


@pytest.mark.parametrize("carry_on", ["at once", "edited", "twice"])
@pytest.mark.parametrize("method", ["one", "three"])
def test_a_kill_at_any_step_loses_nothing(method: str, carry_on: str) -> None:
    """Two people save while it writes. Then another one edits what it left; or what died first was the write before it."""
    with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        command = [sys.executable, str(CHILD), "crashes", folder, method, carry_on]
        lines = run(command, stdout=PIPE, text=True, check=True).stdout.splitlines()
    assert lines == [f"{number} True True []" for number in range(1, len(lines) + 1)]
    assert len(lines) > 40


def dies() -> None:
    raise KeyboardInterrupt


def saves(source: StatusFileSetup, line: str) -> Callable[[], None]:
    return lambda: source.save(f"{source.text}{line}\n")


def died_lingering(source: StatusFileSetup) -> None:
    """A person's edit was displaced and merged; plait died while it waited for programs that lacked it."""
    with pytest.raises(KeyboardInterrupt):
        source.write("one", exchanging=[saves(source, "edit")], pausing=[do_nothing] * 2 + [dies])
    assert "edit" in source.text.splitlines()
    assert source.hidden_files == []


@pytest.mark.usefixtures("_either_way")
def test_a_displaced_edit_is_restored_after_a_kill(source: StatusFileSetup) -> None:
    with pytest.raises(KeyboardInterrupt):
        source.write("one", exchanging=[saves(source, "edit"), dies])
    assert source.text == "# Tasks\none: completed\ntwo: pending\nthree: pending\n"
    (left,) = source.hidden_files
    assert (source.checkout / left).read_text() == "# Tasks\none: pending\ntwo: pending\nthree: pending\nedit\n"
    source.write("two")
    assert source.text == "# Tasks\none: completed\ntwo: completed\nthree: pending\nedit\n"
    assert source.hidden_files == []
    assert {each.suffix for each in source.locks.iterdir()} == {".lock"}


@pytest.mark.parametrize("age", [0, 3600])
@pytest.mark.parametrize("mark", ["pending", "completed"])
def test_an_edit_that_was_being_merged_is_restored_after_a_kill(source: StatusFileSetup, mark: str, age: int) -> None:
    their_version = source.text.replace("one: pending", f"one: {mark}") + "edit\n"
    with pytest.raises(KeyboardInterrupt):
        source.write("one", exchanging=[lambda: source.save(their_version), do_nothing, dies])
    assert "edit" not in source.text
    (intent,) = source.locks.glob("*.intent")
    os.utime(intent, (time() - age, time() - age))
    saves(source, "later")()
    source.write("two")
    assert {"edit", "later", "one: completed", "two: completed"} <= {*source.text.splitlines()}
    assert source.hidden_files == []


def test_a_displaced_edit_is_restored_even_if_no_status_changes(source: StatusFileSetup) -> None:
    with pytest.raises(KeyboardInterrupt):
        source.write("one", exchanging=[saves(source, "edit"), dies])
    assert source.write().changed
    assert "edit" in source.text.splitlines()


def test_a_version_that_was_never_exchanged_is_removed(source: StatusFileSetup) -> None:
    with pytest.raises(KeyboardInterrupt):
        source.write("one", exchanging=[dies])
    assert len(source.hidden_files) == 1
    source.save(source.text.replace("one: pending", "one: blocked"))
    source.write("two")
    assert "one: blocked" in source.text, "what it would have written is not written later"
    assert source.hidden_files == []


def test_leftovers_of_writers_with_other_locks_are_kept(source: StatusFileSetup) -> None:
    with pytest.raises(KeyboardInterrupt):
        source.write("one", exchanging=[saves(source, "edit"), dies])
    left = source.hidden_files
    writer, changes = StatusFileWriter("TODO.md", rewrite_statuses), [make_change("two")]
    write_statuses(source.checkout, writer, changes, locks=source.folder / "other locks")
    assert source.hidden_files == left


def test_a_save_without_the_edit_after_a_crash_is_merged(source: StatusFileSetup) -> None:
    before = source.text
    died_lingering(source)
    source.save(f"{before}stale\n")
    source.write("two")
    assert {"edit", "stale", "two: completed"} <= {*source.text.splitlines()}


def test_a_line_removed_long_after_a_crash_stays_removed(source: StatusFileSetup) -> None:
    died_lingering(source)
    (intent,) = source.locks.glob("*.intent")
    os.utime(intent, (0, 0))
    source.save(source.text.replace("edit\n", ""))
    source.write("two")
    assert source.text == "# Tasks\none: completed\ntwo: completed\nthree: pending\n"


def test_a_damaged_intent_is_ignored(source: StatusFileSetup) -> None:
    died_lingering(source)
    (intent,) = source.locks.glob("*.intent")
    intent.write_bytes(intent.read_bytes()[:40])
    assert source.write("two").changed
    assert list(source.locks.glob("*.intent")) == []
