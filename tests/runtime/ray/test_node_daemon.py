"""The process that serves engines on a node."""

from __future__ import annotations

import errno
from multiprocessing.connection import Listener
from pathlib import Path
from typing import Any, Never

import psutil

from plait.runtime.ray import node_daemon
from tests.support.waiting import wait_until


def test_it_is_no_child_of_the_process_that_starts_it(tmp_path: Path) -> None:
    """A worker of Ray's kills its children when it exits."""
    folder = tmp_path / "node"
    key = node_daemon.ensure_running(folder)
    [daemon] = [each for each in psutil.process_iter(["cmdline"]) if str(folder) in (each.info["cmdline"] or ())]
    try:
        assert daemon.pid not in {child.pid for child in psutil.Process().children(recursive=True)}
        assert node_daemon.ensure_running(folder) == key
    finally:
        daemon.terminate()
        wait_until(lambda: not node_daemon.is_running(folder))
    assert not (folder / node_daemon.SOCKET).exists()
    assert (folder / node_daemon.LOG_FILE).read_text() == ""


def test_it_serves_again_when_it_may_open_files_again() -> None:
    """Else it could neither be used nor replaced while it ends what engines have there."""
    errors = [OSError(errno.EMFILE, "too many open files"), OSError("it is closed")]

    class FullListener(Listener):
        def __init__(self) -> None:
            pass

        def accept(self) -> Never:
            raise errors.pop(0)

    unused: Any = None
    node_daemon._accept(FullListener(), unused)
    assert errors == []
