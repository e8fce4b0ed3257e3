"""The engine's process: `python -m plait.engine STATE TOP [--held]`, started by front ends.

It locks the journal, works until nothing is left to do, and exits. A second one finds the lock held and exits at once.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from types import FrameType
from uuid import uuid4

from plait import __version__
from plait.config.config import Config, Layer
from plait.core.errors import PlaitError
from plait.core.requests import ChangeEngineSettings
from plait.engine.app import build_dependencies, load_engine_config
from plait.engine.daemon import DOORBELL_FIFO, HELD_FLAG, wait_for_release
from plait.engine.loop import Engine
from plait.git.location import RepoLocation
from plait.runtime.reactor import SelectReactor
from plait.store.interfaces import JournalBusyError
from plait.store.journal_writer import open_journal_writer
from plait.store.project_files import JOURNAL_FILE, open_project_inbox
from plait.store.state_claim import claim_state
from plait.system import log


def main(argv: list[str]) -> int:
    state, top = (Path(path) for path in argv[:2])
    os.chdir("/")  # so that the folder it was started in can be removed
    location = RepoLocation(top, state, repository=state.name == "plait")
    if HELD_FLAG in argv[2:] and not wait_for_release(location):
        return 0  # it is not needed
    try:
        while run_engine(location):
            pass
    except JournalBusyError:
        return 0  # another engine runs
    except PlaitError as error:
        log.write_line(f"error: {error.message} ({error.hint})")
        return 1
    except Exception as error:  # noqa: BLE001 - it belongs in the log
        log.write_traceback(error)
        return 4
    return 0


def run_engine(location: RepoLocation) -> bool:
    """Run one engine. Return True if a request came while it was exiting, so that it has to run again.

    The lock is released before the inbox is read a last time: a request that comes later finds no engine and starts
    one.
    """
    claim_state(location.state)  # however this engine was started, nothing in foreign state runs
    engine = Engine(os.getpid(), __version__)
    with ExitStack() as stack:
        journal = stack.enter_context(closing(open_journal_writer(location.state / JOURNAL_FILE)))
        reactor = stack.enter_context(closing(SelectReactor()))
        doorbell = stack.enter_context(_open_doorbell(location))
        config = load_engine_config(location, journal)
        parts = build_dependencies(location, config, journal, engine, reactor)
        for listener in parts.listeners:
            stack.callback(listener.close)
        for part in (parts.inbox, parts.shared, parts.attempts.executors, parts.workers):
            stack.callback(part.close)
        stack.callback(parts.sleep_inhibitor.release)
        stack.enter_context(_handle_signals(lambda: reactor.call_soon(engine.stop)))
        if doorbell is not None:
            reactor.watch(doorbell, lambda: _drain_doorbell(doorbell, engine))
        engine.open(parts, _engine_settings_request(config))
        while not engine.is_finished:
            reactor.step(engine.max_sleep())
            engine.tick()
        engine.release()
    if engine.was_stopped:
        return False
    with closing(open_project_inbox(location)) as inbox:
        return bool(inbox.pending())


def _engine_settings_request(config: Config) -> ChangeEngineSettings:
    """Make the request for the engine settings that are configured; the others stay as they are."""
    fields = tuple(
        name
        for name in ("parallel_limit", "agent_limits")
        if config.origins[f"engine.{name}"].layer is not Layer.DEFAULT
    )
    return ChangeEngineSettings(f"settings-{uuid4()}", config.engine_settings(), fields)


@contextmanager
def _open_doorbell(location: RepoLocation) -> Iterator[int | None]:
    """Yield the descriptor of the wake-up FIFO; None where the file system has no FIFOs: then the inbox is polled."""
    try:
        doorbell = _make_fifo(location.state / DOORBELL_FIFO)
    except OSError as error:
        log.write_line(f"warning: can't make the wake-up FIFO, polling instead: {error}")
        yield None
        return
    try:
        yield doorbell
    finally:
        os.close(doorbell)


def _make_fifo(path: Path) -> int:
    if path.exists() and not path.is_fifo():
        path.unlink()  # a copy or a backup made a file of it
    with suppress(FileExistsError):
        os.mkfifo(path, 0o600)
    # For reading and writing, so that it has no end of file when the last writer closes it.
    return os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)


def _drain_doorbell(doorbell: int, engine: Engine) -> None:
    with suppress(BlockingIOError):
        os.read(doorbell, 4096)
    engine.wake()


@contextmanager
def _handle_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Stop the engine on SIGTERM; a terminal's signals don't. Handlers, not SIG_IGN, which children would inherit."""

    def handle(number: int, _: FrameType | None) -> None:
        if number == signal.SIGTERM:
            stop()

    old = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


if __name__ == "__main__":
    # Descriptors inherited from a front end (a lock, a pipe) must not be held for as long as a batch runs.
    os.closerange(3, 4096)
    sys.exit(main(sys.argv[1:]))
