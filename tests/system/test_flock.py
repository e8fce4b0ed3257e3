from __future__ import annotations

import os
from pathlib import Path
from threading import Thread

import pytest

from plait.system.flock import hold_lock, try_lock, try_lock_folder


def test_a_lock_excludes_other_holders_and_makes_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "lock"
    with hold_lock(path), try_lock(path) as is_held:
        assert not is_held
    assert path.parent.stat().st_mode & 0o777 == 0o700
    with try_lock(path) as is_held:
        assert is_held


def test_shared_holders_exclude_only_an_exclusive_one(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with hold_lock(path, shared=True), try_lock(path, shared=True) as is_shared, try_lock(path) as is_held:
        assert is_shared
        assert not is_held


def test_a_waiter_is_told_before_it_waits(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    events: list[str] = []

    def wait() -> None:
        with hold_lock(path, on_wait=release.close):
            events.append("acquired")

    release = _Held(path, events)
    thread = Thread(target=wait)
    thread.start()
    thread.join(30)
    assert events == ["released", "acquired"]


def test_a_lock_file_that_is_removed_while_waiting_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    held = _Held(path, [])

    def remove_and_release() -> None:
        path.unlink()
        held.close()

    with hold_lock(path, on_wait=remove_and_release), try_lock(path) as is_held:
        assert not is_held


def test_a_link_is_not_used_as_a_lock_file(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to("elsewhere")
    with pytest.raises(OSError, match="symbolic links"), hold_lock(tmp_path / "lock"):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_a_folder_is_locked_until_the_descriptor_is_closed(tmp_path: Path) -> None:
    fd = try_lock_folder(tmp_path)
    assert fd is not None
    assert try_lock_folder(tmp_path) is None
    os.close(fd)
    again = try_lock_folder(tmp_path)
    assert again is not None
    os.close(again)


class _Held:
    """A lock that another thread can release."""

    def __init__(self, path: Path, events: list[str]) -> None:
        self._lock, self._events = hold_lock(path), events
        self._lock.__enter__()

    def close(self) -> None:
        self._events.append("released")
        self._lock.__exit__(None, None, None)
