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
@pytest.mark.parametrize("way", ["one", "three"])
def test_killed_at_each_step_in_turn(way: str, carry_on: str) -> None:
    """Two people save while it writes. Then another one edits what it left; or what died first was the write before it."""
    with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        command = [sys.executable, str(CHILD), "crashes", folder, way, carry_on]
        said = run(command, stdout=PIPE, text=True, check=True).stdout.splitlines()
    assert said == [f"{number} True True []" for number in range(1, len(said) + 1)]
    assert len(said) > 40


def dies() -> None:
    raise KeyboardInterrupt


def saves(site: StatusFileSetup, line: str) -> Callable[[], None]:
    return lambda: site.save(f"{site.text}{line}\n")


def died_lingering(site: StatusFileSetup) -> None:
    """Somebody's edit was displaced and put back; it died while it waited for others who had not seen it."""
    with pytest.raises(KeyboardInterrupt):
        site.write("one", exchanging=[saves(site, "edit")], pausing=[do_nothing] * 2 + [dies])
    assert "edit" in site.text.splitlines()
    assert site.hidden_files == []


@pytest.mark.usefixtures("_either_way")
def test_an_edit_that_was_displaced_and_not_yet_looked_at_comes_back(site: StatusFileSetup) -> None:
    with pytest.raises(KeyboardInterrupt):
        site.write("one", exchanging=[saves(site, "edit"), dies])
    assert site.text == "# Tasks\none: completed\ntwo: pending\nthree: pending\n"
    (left,) = site.hidden_files
    assert (site.checkout / left).read_text() == "# Tasks\none: pending\ntwo: pending\nthree: pending\nedit\n"
    site.write("two")
    assert site.text == "# Tasks\none: completed\ntwo: completed\nthree: pending\nedit\n"
    assert site.hidden_files == []
    assert {each.suffix for each in site.locks.iterdir()} == {".lock"}


@pytest.mark.parametrize("age", [0, 3600])
@pytest.mark.parametrize("mark", ["pending", "completed"])
def test_an_edit_that_was_just_to_be_put_back_comes_back(site: StatusFileSetup, mark: str, age: int) -> None:
    theirs = site.text.replace("one: pending", f"one: {mark}") + "edit\n"
    with pytest.raises(KeyboardInterrupt):
        site.write("one", exchanging=[lambda: site.save(theirs), do_nothing, dies])
    assert "edit" not in site.text
    (intent,) = site.locks.glob("*.intent")
    os.utime(intent, (time() - age, time() - age))
    saves(site, "later")()
    site.write("two")
    assert {"edit", "later", "one: completed", "two: completed"} <= {*site.text.splitlines()}
    assert site.hidden_files == []


def test_it_comes_back_even_if_there_is_nothing_to_write(site: StatusFileSetup) -> None:
    with pytest.raises(KeyboardInterrupt):
        site.write("one", exchanging=[saves(site, "edit"), dies])
    assert site.write().changed
    assert "edit" in site.text.splitlines()


def test_a_version_that_was_not_put_any_more_is_removed(site: StatusFileSetup) -> None:
    with pytest.raises(KeyboardInterrupt):
        site.write("one", exchanging=[dies])
    assert len(site.hidden_files) == 1
    site.save(site.text.replace("one: pending", "one: blocked"))
    site.write("two")
    assert "one: blocked" in site.text, "what it would have written is not written later"
    assert site.hidden_files == []


def test_what_others_with_other_locks_left_is_not_ours_to_judge(site: StatusFileSetup) -> None:
    with pytest.raises(KeyboardInterrupt):
        site.write("one", exchanging=[saves(site, "edit"), dies])
    left = site.hidden_files
    writer, changes = StatusFileWriter("TODO.md", rewrite_statuses), [make_change("two")]
    write_statuses(site.checkout, writer, changes, locks=site.folder / "other locks")
    assert site.hidden_files == left


def test_who_had_opened_a_version_without_the_edit_may_save_it_after_the_crash(site: StatusFileSetup) -> None:
    before = site.text
    died_lingering(site)
    site.save(f"{before}stale\n")
    site.write("two")
    assert {"edit", "stale", "two: completed"} <= {*site.text.splitlines()}


def test_what_is_taken_out_long_after_a_crash_stays_out(site: StatusFileSetup) -> None:
    died_lingering(site)
    (intent,) = site.locks.glob("*.intent")
    os.utime(intent, (0, 0))
    site.save(site.text.replace("edit\n", ""))
    site.write("two")
    assert site.text == "# Tasks\none: completed\ntwo: completed\nthree: pending\n"


def test_a_damaged_intent_stops_nobody(site: StatusFileSetup) -> None:
    died_lingering(site)
    (intent,) = site.locks.glob("*.intent")
    intent.write_bytes(intent.read_bytes()[:40])
    assert site.write("two").changed
    assert list(site.locks.glob("*.intent")) == []
