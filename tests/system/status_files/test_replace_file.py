"""A whole text in place of another: people who save at the same moment lose nothing, whatever that moment is."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from plait.system.status_files import SourceWriteError, replace_file_text
from tests.support.status_file import StatusFileSetup, intercept_steps

BEFORE = "# Walls\n\nOf brick.\n\nTall.\n"
AFTER = "# High walls\n\nOf brick.\n\nTall.\n"
THEIRS = "# Walls\n\nOf brick.\n\nTall.\n\nThick.\n"
BOTH = "# High walls\n\nOf brick.\n\nTall.\n\nThick.\n"


def put(site: StatusFileSetup) -> bool:
    return replace_file_text(site.path, BEFORE, AFTER, locks=site.locks, pause=site.pauses.append)


def sites() -> Iterator[StatusFileSetup]:
    with TemporaryDirectory() as folder:
        for number in count():
            site = StatusFileSetup(Path(os.path.realpath(folder)) / str(number))
            site.save(BEFORE)
            yield site


def test_a_text_takes_the_place_of_another(site: StatusFileSetup) -> None:
    site.save(BEFORE)
    assert put(site)
    assert site.text == AFTER
    assert site.hidden_files == []
    assert [path.suffix for path in site.locks.iterdir()] == [".lock"]


def test_a_file_that_says_something_else_stays(site: StatusFileSetup) -> None:
    site.save(THEIRS)
    before = site.path.stat()
    assert not put(site)
    assert (site.text, site.path.stat().st_ino) == (THEIRS, before.st_ino)


def test_a_missing_file_is_told(site: StatusFileSetup) -> None:
    site.path.unlink()
    with pytest.raises(SourceWriteError, match="could not be written, its folder is gone") as error:
        put(site)
    assert error.value.hint == "put it back, and save again"


def test_somebody_who_saves_at_any_step_loses_nothing() -> None:
    save_at_every_step("save")  # where files can be exchanged in one step: elsewhere that is not promised


@pytest.mark.usefixtures("_either_way")
def test_somebody_who_writes_into_the_file_at_any_step_loses_nothing() -> None:
    save_at_every_step("overwrite")


def save_at_every_step(way: str) -> None:
    ends = set()
    for number, site in enumerate(sites(), 1):
        steps: list[str] = []

        def act(
            count: int,
            name: str,
            site: StatusFileSetup = site,
            number: int = number,
            steps: list[str] = steps,
        ) -> None:
            steps.append(name)
            if count == number and len(steps) == number:
                getattr(site, way)(site.text.replace("Tall.\n", "Tall.\n\nThick.\n"))

        with intercept_steps(act):
            done = put(site)
        told = f"step {number} of {steps}"
        ends.add((done, site.text))
        assert site.text in ({BOTH, AFTER} if done else {THEIRS}), told
        assert site.text != AFTER or number > len(steps), told
        assert site.hidden_files == [], told
        if number > len(steps):
            break
    assert ends >= {(True, BOTH), (False, THEIRS), (True, AFTER)}


@pytest.mark.usefixtures("_either_way")
def test_a_disk_that_fails_at_any_step_leaves_one_of_the_two_whole() -> None:
    for number, site in enumerate(sites(), 1):
        steps: list[str] = []

        def act(count: int, name: str, number: int = number, steps: list[str] = steps) -> None:
            steps.append(name)
            if count >= number:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        try:
            with intercept_steps(act):
                put(site)
        except SourceWriteError as error:
            assert "there is no room" in error.message  # noqa: PT017 - not every step is one that matters
        assert site.text in {BEFORE, AFTER}, f"from step {number} on of {steps}"
        site.save(BEFORE)
        put(site)  # whatever was left is taken up
        assert site.text in {BEFORE, AFTER}
        assert site.hidden_files == [], f"from step {number} on of {steps}"
        if number > len(steps):
            break
