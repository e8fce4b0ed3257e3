"""One plait at a time writes a file."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from plait.system.status_files import SourceWriteError, hold_file_lock
from tests.support.status_file import StatusFileSetup


def test_waiting_for_another_plait_ends_with_an_error_that_names_the_lock(source: StatusFileSetup) -> None:
    source.write("one")
    (lock,) = source.locks.iterdir()
    fd = os.open(lock, os.O_RDWR)
    fcntl.flock(fd, fcntl.LOCK_EX)
    with pytest.raises(SourceWriteError) as error:
        source.write("two")
    assert error.value.message == (
        f"another plait has been writing {source.path} for 30 seconds: no status was written"
    )
    assert error.value.hint == f"look for a hanging plait; the lock is {lock}"
    assert sum(source.pauses) == pytest.approx(30)
    assert "two: pending" in source.text
    source.pauses.clear()
    assert source.write("two", pausing=[lambda: None, lambda: os.close(fd)]).changed
    assert len(source.pauses) == 2


def test_a_removed_lock_file_is_locked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock, real = tmp_path / "a.lock", fcntl.flock
    removals = [lock.unlink]

    def overtaken(fd: int, kind: int) -> None:
        real(fd, kind)
        for remove in removals:
            remove()
        removals.clear()

    monkeypatch.setattr(fcntl, "flock", overtaken)
    with hold_file_lock(lock, tmp_path, lambda _: None):
        fd = os.open(lock, os.O_RDWR)
        with pytest.raises(BlockingIOError):
            real(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(fd)


def test_the_lock_is_free_after_an_error(source: StatusFileSetup) -> None:
    source.name = "gone/TODO.md"
    for _ in range(2):
        with pytest.raises(SourceWriteError, match="its folder is gone"):
            source.write("one")
    assert source.pauses == [0.05, 0.2, 0.8] * 2, "between the tries, and not for the lock"
