"""The engine's process: `python -m plait.engine STATE TOP [--held]`. Fronts start it; nobody else needs to.

It takes the lease, works until nothing is left to do, and leaves. A second one finds the lease taken and leaves at once.
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
from plait.engine.app import build_dependencies, load_engine_config, lock_project_journal
from plait.engine.daemon import DOORBELL_FIFO, HELD_FLAG, wait_for_release
from plait.engine.loop import Engine
from plait.engine.reactor import SelectReactor
from plait.git.location import RepoLocation
from plait.store.interfaces import JournalBusyError
from plait.store.project_files import open_project_inbox
from plait.system import log


def main(words: list[str]) -> int:
    state, top = (Path(word) for word in words[:2])
    os.chdir("/")  # it keeps no folder from being removed
    place = RepoLocation(top, state, repository=state.name == "plait")
    if HELD_FLAG in words[2:] and not wait_for_release(place):
        return 0  # whoever started it has no use for it
    try:
        while run_engine(place):
            pass
    except JournalBusyError:
        return 0  # another one is at work
    except PlaitError as error:
        log.write_line(f"error: {error.message} ({error.hint})")
        return 1
    except Exception as error:  # noqa: BLE001 - the log is the only one to tell
        log.write_traceback(error)
        return 4
    return 0


def run_engine(place: RepoLocation) -> bool:
    """One tenure. True: somebody asked for something while it was leaving, so that it has to come back.

    The lease is given back before the inbox is looked at a last time: a request that comes later finds no engine and
    starts one, a request that came earlier is seen.
    """
    engine = Engine(os.getpid(), __version__)
    with ExitStack() as stack:
        journal = stack.enter_context(closing(lock_project_journal(place)))
        reactor = stack.enter_context(closing(SelectReactor()))
        bell = stack.enter_context(_open_doorbell(place))
        config = load_engine_config(place, journal, log.write_line)
        parts = build_dependencies(place, config, journal, engine, reactor)
        for onlooker in parts.listeners:
            stack.callback(onlooker.close)
        for part in (parts.inbox, parts.shared, parts.attempts.executor, parts.status_writer, parts.workers):
            stack.callback(part.close)
        stack.callback(parts.sleep_inhibitor.release)
        stack.enter_context(_handle_signals(lambda: reactor.call_soon(engine.stop)))
        if bell is not None:
            reactor.watch(bell, lambda: _drain_doorbell(bell, engine))
        engine.open(parts, _engine_settings_request(config))
        while not engine.is_finished:
            reactor.step(engine.max_sleep())
            engine.tick()
        engine.release()
    return not engine.was_stopped and _has_requests(place)


def _engine_settings_request(config: Config) -> ChangeEngineSettings:
    """What somebody has set; what nobody has stays as it is."""
    fields = tuple(
        name
        for name in ("parallel_limit", "agent_limits")
        if config.origins[f"engine.{name}"].layer is not Layer.DEFAULT
    )
    return ChangeEngineSettings(f"settings-{uuid4()}", config.engine_settings(), fields)


@contextmanager
def _open_doorbell(place: RepoLocation) -> Iterator[int | None]:
    """None where the file system has no FIFOs: then requests are found by looking."""
    try:
        bell = _make_fifo(place.state / DOORBELL_FIFO)
    except OSError as error:
        log.write_line(f"warning: there is no doorbell: {error}")
        yield None
        return
    try:
        yield bell
    finally:
        os.close(bell)


def _make_fifo(path: Path) -> int:
    if path.exists() and not path.is_fifo():
        path.unlink()  # a copy or a backup made a file of it, which nobody can wait for
    with suppress(FileExistsError):
        os.mkfifo(path, 0o600)
    # For reading and writing, so that it never comes to an end when the last front hangs up.
    return os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)


def _drain_doorbell(bell: int, engine: Engine) -> None:
    with suppress(BlockingIOError):
        os.read(bell, 4096)
    engine.wake()


def _has_requests(place: RepoLocation) -> bool:
    with closing(open_project_inbox(place)) as requests:
        return bool(requests.pending())


@contextmanager
def _handle_signals(leave: Callable[[], None]) -> Iterator[None]:
    """Asked to end, it leaves; a terminal that goes away is none of its business. Handlers, since exec resets them."""

    def heed(number: int, _: FrameType | None) -> None:
        if number == signal.SIGTERM:
            leave()

    old = {number: signal.signal(number, heed) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


if __name__ == "__main__":
    # What a front was born with (a lock, the end of somebody's pipe) is not to be held for as long as a batch runs.
    os.closerange(3, 4096)
    sys.exit(main(sys.argv[1:]))
