"""A stub engine: it takes the lease and journals requests and decisions, but performs nothing.

`python -m tests.support.stub_engine STATE COUNT` prints "ready" when it has the lease, and kills itself at request COUNT.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from plait.core.reducers import evolve
from plait.core.reports import EngineTaken
from plait.core.requests import Request, Submit
from plait.core.scheduler.rules import decide_due, fold_incoming
from plait.core.state import State
from plait.git.location import RepoLocation
from plait.store import batch_files
from plait.store.inbox import open_inbox
from plait.store.interfaces import Inbox
from plait.store.journal_writer import open_journal_writer
from plait.store.project_files import INBOX_FILE, JOURNAL_FILE
from plait.store.state_claim import claim_state
from plait.system.state_paths import StateFolder
from tests.support.waiting import TIMEOUT_SECONDS

READY = "ready\n"


class StubEngines:
    """All stub engines of a project."""

    def __init__(self, place: RepoLocation) -> None:
        self._place = place
        self.started: list[subprocess.Popen[str]] = []

    def start(self, kill_after: int = -1) -> int:
        """Start one and return its process id, maybe before it has the lease."""
        words = [sys.executable, "-m", "tests.support.stub_engine", str(self._place.state), str(kill_after)]
        child = subprocess.Popen(words, text=True, stdout=subprocess.PIPE)  # our own module
        self.started.append(child)
        return child.pid

    def start_and_wait(self, kill_after: int = -1) -> None:
        """Start one and wait until it has the lease."""
        self.start(kill_after)
        out = self.started[-1].stdout
        assert out is not None
        assert out.readline() == READY

    def kill_all(self) -> None:
        for child in self.started:
            child.kill()
            child.communicate()
        self.started.clear()


@contextmanager
def stub_engines(place: RepoLocation) -> Iterator[StubEngines]:
    made = StubEngines(place)
    try:
        yield made
    finally:
        made.kill_all()


def wait_for_requests(inbox: Inbox) -> Sequence[Request]:
    """Those that are pending, as soon as there is one; none after a while."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not (requests := inbox.pending()) and time.monotonic() < deadline:
        time.sleep(0.002)
    return requests


def answer_requests(folder: Path, kill_after: int) -> None:
    claim_state(folder)
    state, journal, inbox = (
        State(),
        open_journal_writer(folder / JOURNAL_FILE),
        open_inbox(folder / INBOX_FILE),
    )
    for record in journal.read():
        evolve(state, record)
    journal.append(fold_incoming(state, [EngineTaken(os.getpid())], time.time()))
    sys.stdout.write(READY)
    sys.stdout.flush()
    while requests := wait_for_requests(inbox):
        for request in requests:
            if isinstance(request, Submit):
                # The files must be there before the request is.
                batch_files.read_batch_inputs(StateFolder(folder), request.batch)
            kill_after -= 1
            if not kill_after:
                os.kill(os.getpid(), signal.SIGKILL)
            records = fold_incoming(state, [request], time.time())
            journal.append([*records, *decide_due(state, time.time())[0]])
            inbox.mark_taken([request.id])


if __name__ == "__main__":
    answer_requests(Path(sys.argv[1]), int(sys.argv[2]))
