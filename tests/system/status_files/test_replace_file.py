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


def put(source: StatusFileSetup) -> bool:
    return replace_file_text(source.path, BEFORE, AFTER, locks=source.locks, pause=source.pauses.append)


def sites() -> Iterator[StatusFileSetup]:
    with TemporaryDirectory() as folder:
        for number in count():
            source = StatusFileSetup(Path(os.path.realpath(folder)) / str(number))
            source.save(BEFORE)
            yield source


def test_a_text_is_replaced(source: StatusFileSetup) -> None:
    source.save(BEFORE)
    assert put(source)
    assert source.text == AFTER
    assert source.hidden_files == []
    assert [path.suffix for path in source.locks.iterdir()] == [".lock"]


def test_a_file_with_another_text_stays(source: StatusFileSetup) -> None:
    source.save(THEIRS)
    before = source.path.stat()
    assert not put(source)
    assert (source.text, source.path.stat().st_ino) == (THEIRS, before.st_ino)


def test_a_missing_file_is_an_error(source: StatusFileSetup) -> None:
    source.path.unlink()
    with pytest.raises(SourceWriteError, match="could not be written, its folder is gone") as error:
        put(source)
    assert error.value.hint == "put it back, and save again"


def test_a_save_at_any_step_is_kept() -> None:
    save_at_every_step("save")  # where files can be exchanged in one step: elsewhere that is not promised


@pytest.mark.usefixtures("_either_way")
def test_a_write_in_place_at_any_step_is_kept() -> None:
    save_at_every_step("overwrite")


def save_at_every_step(method: str) -> None:
    ends = set()
    for number, source in enumerate(sites(), 1):
        steps: list[str] = []

        def act(
            count: int,
            name: str,
            source: StatusFileSetup = source,
            number: int = number,
            steps: list[str] = steps,
        ) -> None:
            steps.append(name)
            if count == number and len(steps) == number:
                getattr(source, method)(source.text.replace("Tall.\n", "Tall.\n\nThick.\n"))

        with intercept_steps(act):
            done = put(source)
        printed = f"step {number} of {steps}"
        ends.add((done, source.text))
        assert source.text in ({BOTH, AFTER} if done else {THEIRS}), printed
        assert source.text != AFTER or number > len(steps), printed
        assert source.hidden_files == [], printed
        if number > len(steps):
            break
    assert ends >= {(True, BOTH), (False, THEIRS), (True, AFTER)}


@pytest.mark.usefixtures("_either_way")
def test_a_disk_error_at_any_step_leaves_the_old_or_the_new_text() -> None:
    for number, source in enumerate(sites(), 1):
        steps: list[str] = []

        def act(count: int, name: str, number: int = number, steps: list[str] = steps) -> None:
            steps.append(name)
            if count >= number:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        try:
            with intercept_steps(act):
                put(source)
        except SourceWriteError as error:
            assert "there is not enough space" in error.message  # noqa: PT017 - not every step is one that matters
        assert source.text in {BEFORE, AFTER}, f"from step {number} on of {steps}"
        source.save(BEFORE)
        put(source)  # whatever was left is taken up
        assert source.text in {BEFORE, AFTER}
        assert source.hidden_files == [], f"from step {number} on of {steps}"
        if number > len(steps):
            break
