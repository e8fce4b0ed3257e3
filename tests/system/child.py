"""What other engines do to the commons. Run as `child.py <what> <folder> …`; each line is a fact."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from subprocess import DEVNULL, Popen

from plait.system import engine_slots
from plait.system.engine_slots import ProcessIdentity, identify_process
from plait.system.shared_state import SharedState
from plait.system.sleep_inhibitor import SleepInhibitor


def say(*args: object) -> None:
    sys.stdout.write(f"{' '.join(map(str, args))}\n")
    sys.stdout.flush()


def work() -> Popen[bytes]:
    """An attempt: it outlives its engine."""
    return Popen(["sleep", "600"], start_new_session=True, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)


def hold(folder: Path, engine: str, slots: str, attempts: str) -> None:
    """Hold so many slots with so many attempts until stdin ends; say who they are."""
    shared = SharedState(folder, engine=engine)
    pids = [work().pid for _ in range(int(attempts))]
    with shared.lock() as read_others:
        shared.record_usage(int(slots), pids)
    say(read_others.slots, *pids)
    sys.stdin.read()
    shared.close()


def stop(folder: Path, engine: str) -> None:
    """Be stopped while holding the lock."""
    shared = SharedState(folder, engine=engine)
    with shared.lock():
        shared.record_usage(3, [])
        say("held")
        os.kill(os.getpid(), signal.SIGSTOP)
    say("over")
    sys.stdin.read()


def crowd(folder: Path, engine: str, limit: str, turns: str, dies: str) -> None:
    """Take a slot when there is one, else give one back; say how many attempts of all engines ran at most.

    It may die at its end with what it holds: in its turn, or after it.
    """
    engine_slots.LOCK_TIMEOUT_SECONDS = 60.0  # a slow machine is not what is tried here
    shared, chance = SharedState(folder, engine=engine), Random(engine)
    mine: list[Popen[bytes]] = []
    maximum = 0
    for turn in range(int(turns)):
        with shared.lock() as read_others:
            if read_others.slots + len(mine) < int(limit) and chance.random() < 0.8:
                mine.append(work())
                _note(folder, mine[-1].pid)
            elif mine:
                ended = mine.pop(0)
                ended.kill()
                ended.wait()
            maximum = max(maximum, _alive(folder))
            shared.record_usage(len(mine), [each.pid for each in mine])
            if dies == "in" and turn == int(turns) - 1:
                say(maximum)
                os.kill(os.getpid(), signal.SIGKILL)
    say(maximum)
    if dies == "after":
        os.kill(os.getpid(), signal.SIGKILL)
    with shared.lock():
        for each in mine:
            each.kill()
            each.wait()
        shared.record_usage(0, [])
    shared.close()


def _note(folder: Path, pid: int) -> None:
    with (folder.parent / "attempts").open("a") as file:
        started = identify_process(pid)
        assert started
        file.write(f"{pid} {started.start}\n")


def _alive(folder: Path) -> int:
    try:
        lines = (folder.parent / "attempts").read_text().splitlines()
    except FileNotFoundError:
        return 0
    return sum(ProcessIdentity(*map(int, line.split())).is_alive for line in lines)


def lease(folder: Path, engine: str, first: str, stop: str, count: str) -> None:
    """Lease so many blocks, and say which; at the word, so that all do it at once."""
    shared = SharedState(folder, engine=engine, ports=range(int(first), int(stop)))
    say("ready")
    sys.stdin.readline()
    leased = [shared.lease_ports("batch", f"task {number}") for number in range(int(count))]
    say(*(block.start for block in leased if block))
    sys.stdin.read()


def awake(_: Path) -> None:
    """Keep the machine awake until killed."""
    keeper = SleepInhibitor(enabled=True)
    keeper.acquire()
    say("held")
    sys.stdin.read()


WHAT: dict[str, Callable[..., None]] = {f.__name__: f for f in (hold, stop, crowd, lease, awake)}

if __name__ == "__main__":
    what, folder, *words = sys.argv[1:]
    WHAT[what](Path(folder), *words)
