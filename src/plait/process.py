"""The engine's process: `python -m plait.process STATE TOP [--held]`. Fronts start it; nobody else needs to.

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
from plait.config.model import Config, Layer
from plait.core.errors import PlaitError
from plait.core.requests import ChangeEngineSettings
from plait.engine import log
from plait.engine.loop import Engine
from plait.engine.reactor import SelectReactor
from plait.ports import JournalBusyError
from plait.wiring import DOORBELL, HELD, Place, inbox, may_go
from plait.wiring.engine import engine_config, engine_parts, lease


def main(words: list[str]) -> int:
    state, top = (Path(word) for word in words[:2])
    os.chdir("/")  # it keeps no folder from being removed
    place = Place(top, state, repository=state.name == "plait")
    if HELD in words[2:] and not may_go(place):
        return 0  # whoever started it has no use for it
    try:
        while serve(place):
            pass
    except JournalBusyError:
        return 0  # another one is at work
    except PlaitError as error:
        log.say(f"error: {error.message} ({error.hint})")
        return 1
    except Exception as error:  # noqa: BLE001 - the log is the only one to tell
        log.say_trace(error)
        return 4
    return 0


def serve(place: Place) -> bool:
    """One tenure. True: somebody asked for something while it was leaving, so that it has to come back.

    The lease is given back before the inbox is looked at a last time: a request that comes later finds no engine and
    starts one, a request that came earlier is seen.
    """
    engine = Engine(os.getpid(), __version__)
    with ExitStack() as stack:
        journal = stack.enter_context(closing(lease(place)))
        reactor = stack.enter_context(closing(SelectReactor()))
        bell = stack.enter_context(_doorbell(place))
        config = engine_config(place, journal, log.say)
        parts = engine_parts(place, config, journal, engine, reactor)
        for onlooker in parts.onlookers:
            stack.callback(onlooker.close)
        for part in (parts.inbox, parts.commons, parts.executor, parts.settler, parts.hands):
            stack.callback(part.close)
        stack.callback(parts.awake.release)
        stack.enter_context(_heeding(lambda: reactor.post(engine.leave)))
        if bell is not None:
            reactor.watch(bell, lambda: _answer(bell, engine))
        engine.open(parts, _wanted(config))
        while not engine.over:
            reactor.step(engine.longest())
            engine.turn()
        engine.release()
    return not engine.dismissed and _asked(place)


def _wanted(config: Config) -> ChangeEngineSettings:
    """What somebody has set; what nobody has stays as it is."""
    fields = tuple(
        name
        for name in ("parallel_limit", "agent_limits")
        if config.given[f"engine.{name}"].layer is not Layer.DEFAULT
    )
    return ChangeEngineSettings(f"settings-{uuid4()}", config.engine_settings(), fields)


@contextmanager
def _doorbell(place: Place) -> Iterator[int | None]:
    """None where the file system has no FIFOs: then requests are found by looking."""
    try:
        bell = _hung_up(place.state / DOORBELL)
    except OSError as error:
        log.say(f"warning: there is no doorbell: {error}")
        yield None
        return
    try:
        yield bell
    finally:
        os.close(bell)


def _hung_up(path: Path) -> int:
    if path.exists() and not path.is_fifo():
        path.unlink()  # a copy or a backup made a file of it, which nobody can wait for
    with suppress(FileExistsError):
        os.mkfifo(path, 0o600)
    # For reading and writing, so that it never comes to an end when the last front hangs up.
    return os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)


def _answer(bell: int, engine: Engine) -> None:
    with suppress(BlockingIOError):
        os.read(bell, 4096)
    engine.ring()


def _asked(place: Place) -> bool:
    with closing(inbox(place)) as requests:
        return bool(requests.pending())


@contextmanager
def _heeding(leave: Callable[[], None]) -> Iterator[None]:
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
