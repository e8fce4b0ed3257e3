"""The actor of a node: it brings requests to the node's daemon, which it starts when needed.

There is one for each node, detached and named, so that all engines use the same. It can't read what it carries. When
the daemon has ended because nothing is left to do, the actor ends, too.
"""

from __future__ import annotations

import os
import platform
import shutil
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import chain, count
from pathlib import Path

from plait import __version__
from plait.core.errors import PlaitError
from plait.git.command import Git
from plait.runtime.ray import node_daemon, wire
from plait.system.atomic_files import make_private_folder, replace_file
from plait.system.flock import hold_lock

FOLDER_VARIABLE = "PLAIT_NODE_FOLDER"  # overrides where a node keeps its files
WATCH_SECONDS = 0.5
PATIENCE_SECONDS = 2.0  # for an engine that has just asked who serves here
UNASKED_SECONDS = 60.0  # until an actor ends whose daemon no engine asks for
_NODE_FILE = "node"


class Gateway:
    """Passes requests to the node's daemon. `end` ends the actor, so that Ray does not start it again."""

    def __init__(self, node: str, folder: str, end: Callable[[], None]) -> None:
        self._node = node
        self._root = find_root(folder)
        self._folder: Path | None = None
        self._end = end
        self._lock = threading.Lock()
        self._described_at = time.monotonic()
        threading.Thread(target=self._watch, daemon=True).start()

    def describe(self, version: bytes) -> bytes:
        """Return NodeFacts, encoded, for an engine of this version of plait.

        For another version, nothing is started, and this actor, which may be older than what is installed here, doesn't
        stay for it.
        """
        problem, key = _find_problem(), b""
        if not problem and version == __version__.encode():
            self._described_at = time.monotonic()
            try:
                key = self._ensure_daemon()
            except (PlaitError, OSError) as error:
                problem = f"{error}"
        facts = wire.NodeFacts(__version__, platform.python_version(), key, problem)
        return wire.encode(facts)

    def ask(self, data: bytes) -> bytes:
        """Return the daemon's answer; empty if it has another key now, or if this actor was not asked for its key."""
        if self._folder is None:
            return b""
        try:
            answer = node_daemon.ask(self._folder, data)
        except (OSError, EOFError):
            return b""
        return answer[1:] if answer[:1] == node_daemon.ANSWER_PREFIX else b""

    def _ensure_daemon(self) -> bytes:
        # Two nodes of this machine might choose the same folder. Those of others, which may share it, don't wait.
        with self._lock, hold_lock(self._root / f"{socket.gethostname()}.lock"):
            return node_daemon.ensure_running(self._claim_folder())

    def _claim_folder(self) -> Path:
        """Claim a folder for this node: several nodes may be on one machine, or share a home folder."""
        if self._folder is None:
            host = socket.gethostname()
            own = (file.parent for file in self._root.glob(f"*/{_NODE_FILE}") if file.read_text() == self._node)
            names = chain([host], (f"{host}~{number}" for number in count(2)))  # no host is called so
            free = (path for name in names if not node_daemon.is_running(path := self._root / name))
            folder = next(own, None) or next(free)
            make_private_folder(folder)
            replace_file(folder / _NODE_FILE, self._node.encode())
            self._folder = folder
        return self._folder

    def _watch(self) -> None:
        """Start a daemon that was killed once more; end the actor when it has no daemon to serve."""
        while True:
            time.sleep(WATCH_SECONDS)
            with self._lock:  # otherwise a daemon that is being started would be mistaken for one that has ended
                if self._is_needed():
                    continue
                with suppress(Exception):  # the head can't be reached: try again
                    self._end()
                    return

    def _is_needed(self) -> bool:
        folder, patience = self._folder, UNASKED_SECONDS
        if folder is not None:
            if node_daemon.is_running(folder):
                return True
            if (folder / node_daemon.ENDED_FILE).exists():
                patience = PATIENCE_SECONDS
            elif (folder / node_daemon.SOCKET).exists():
                with suppress(PlaitError, OSError):  # `describe` says why it does not start
                    node_daemon.ensure_running(folder)
                    return True
        return time.monotonic() - self._described_at < patience


def find_root(folder: str) -> Path:
    """Return the folder of the setting on this machine; an environment variable overrides it."""
    return Path(os.environ.get(FOLDER_VARIABLE) or Path.home() / folder)


def _find_problem() -> str:
    """Say why no attempt can run here; empty if attempts can."""
    if shutil.which("git") is None:
        return "there is no git: install git 2.38 or newer there"
    try:
        Git(Path("/")).run("version")
    except PlaitError as error:
        return f"git does not work: {error.message}"
    return ""
