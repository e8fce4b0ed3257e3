"""What other processes do to a file that plait writes to. Run as `child.py <what> <folder> …`; each line is a fact."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from random import Random

from plait.sources.formats import load_format
from plait.sources.source_model import SourceStatus
from plait.sources.status_changes import StatusChange
from plait.system import file_exchange
from plait.system.status_files import write_statuses
from tests.support.status_file import StatusFileSetup, intercept_steps

START = "# Tasks\none: pending\ntwo: pending\nthree: pending\n"
DONE = "# Tasks\none: completed\ntwo: pending\nthree: completed\n"


def say(word: object) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def crashes(folder: Path, method: str, carry_on: str) -> None:
    """A write is killed at its first step, its second, and so on; say what came of it, until one comes to its end."""
    if method == "three":
        file_exchange._system_call = lambda: None  # type: ignore[assignment]
    for number in count(1):
        source = StatusFileSetup(folder / str(number))
        source.save(START)
        saved = killed_at(number, source) if carry_on != "twice" else killed_twice(number, source)
        lines = source.text.splitlines()
        whole = {"# Tasks", "two: pending"} <= {*lines} and lines[1].startswith("one: ")
        if carry_on == "edited":
            source.save(f"{source.text}edited\n")
            saved.append("edited")
        source.write("one", "three")
        kept = {*DONE.splitlines(), *saved} == {*source.text.splitlines()}
        say(f"{number} {whole} {kept and len(source.text.splitlines()) == len(saved) + 4} {source.hidden_files}")
        if not (folder / "killed").exists():
            return
        (folder / "killed").unlink()


def killed_twice(number: int, source: StatusFileSetup) -> list[str]:
    """The first one died when it had displaced a person's edit; the second one is killed while it restores it."""

    def dies() -> None:
        raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        source.write("one", exchanging=[lambda: source.save(f"{START}edit\n"), dies])
    return ["edit", *killed_at(number, source)]


def killed_at(number: int, source: StatusFileSetup) -> list[str]:
    """What others had saved when it was killed."""
    log = source.folder / "saved"

    def die(step: int, _: str) -> None:
        if step == number:
            (source.folder.parent / "killed").touch()
            os.kill(os.getpid(), signal.SIGKILL)

    class Saved(list[str]):
        def append(self, line: str) -> None:
            with log.open("a") as file:
                file.write(f"{line}\n")

    log.touch()
    child = os.fork()
    if child == 0:
        with intercept_steps(die):
            source.write_during_edits(Saved())
        os._exit(0)
    os.waitpid(child, 0)
    return log.read_text().splitlines()


FIRST, LAST = "# TODO", "<!-- the end -->"
TASKS = 30
MARKS = (SourceStatus.DOING, SourceStatus.DONE, SourceStatus.BLOCKED, SourceStatus.TODO)
LINE = re.compile(
    r"(?:|# TODO|<!-- the end -->|### \d+\. Do part \d+(?: \u2705)?|- by editor \d: (?:note|count) \d+"
    r"|- \*\*(?:Status|Started|Completed|Blocked|Blocking Reason)\*\*: .+)"
)


def begin(folder: Path, _: str = "") -> None:
    """The file that all of them write to."""
    folder.joinpath("checkout").mkdir()
    tasks = (f"### {n}. Do part {n}\n- **Status**: [NOT STARTED]\n\n" for n in range(1, TASKS + 1))
    (folder / "progress").touch()
    (folder / "checkout" / "TODO.md").write_text(f"{FIRST}\n\n{''.join(tasks)}{LAST}\n")


def plait(folder: Path, seed: str, saves: str) -> None:
    """Set the status of one task after another, until the editors have saved so often; say which got which.

    The computer is slow: there is time for others in the last instant before an exchange, and right after it.
    """
    chance, real = Random(int(seed)), file_exchange.exchange_files

    def slow(temp: Path, path: Path) -> None:
        time.sleep(chance.choice((0, 0.005, 0.02)))
        real(temp, path)
        time.sleep(chance.choice((0, 0.005, 0.02)))

    file_exchange.exchange_files = slow
    say("ready")
    while sum(log.read_text().count("+") for log in folder.glob("editor.*")) < int(saves):
        number, mark = chance.randint(1, TASKS), chance.choice(MARKS)
        settle(folder, {number: mark})
        say(f"{number} {mark}")
        with (folder / "progress").open("a") as progress:
            progress.write(".")


def settle(folder: Path, marks: dict[int, SourceStatus]) -> None:
    now = datetime.now(UTC)
    changes = [StatusChange(str(n), mark, now, "TODO.md", f"Do part {n}") for n, mark in marks.items()]
    (writer,) = load_format("todo").writers("TODO.md", changes)
    written = write_statuses(folder / "checkout", writer, changes, locks=folder / "locks")
    for problem in written.problems:
        say(f"problem: {problem.message}")


def half(folder: Path, first: str) -> None:
    """Set every second task to done, one by one."""
    for number in range(int(first), TASKS + 1, 2):
        settle(folder, {number: SourceStatus.DONE})


def editor(folder: Path, who: str, seed: str) -> None:
    """Open, edit, save, over and over, knowing nothing of plait; say what was added (+) and taken out (-).

    The editors take turns, so that they don't undo each other's work themselves; and now and then they wait until plait
    has written something, because on a slow computer it would never get so far.
    """
    path, draft, chance, own = (
        folder / "checkout" / "TODO.md",
        folder / f"draft{who}",
        Random(int(seed)),
        [""],
    )
    with (folder / "turn").open("w") as turn:
        for number in count(1):
            fcntl.flock(turn, fcntl.LOCK_EX)
            lines = path.read_text().splitlines()
            time.sleep(chance.choice((0, 0.0005, 0.002)))  # a person thinks
            added, removed = edit(lines, f"- by editor {who}:", number, chance, own)
            draft.write_text("".join(f"{line}\n" for line in lines))
            draft.replace(path)
            fcntl.flock(turn, fcntl.LOCK_UN)
            for line in removed:
                say(f"- {line}")
            say(f"+ {added}")
            time.sleep(chance.choice((0, 0.001, 0.005, 0.02)))
            if number % 8 == 0 and not progressed(folder):
                return


def progressed(folder: Path) -> bool:
    """Wait until plait has written something, or until all is over."""
    progress = folder / "progress"
    before = progress.stat().st_size
    while progress.stat().st_size == before:
        if (folder / "stop").exists():
            return False
        time.sleep(0.001)
    return True


def edit(lines: list[str], name: str, number: int, chance: Random, own: list[str]) -> tuple[str, list[str]]:
    """Change one's own line, or add one and perhaps take another out."""
    counts = [line for line in lines if line.startswith(f"{name} count")]
    notes = [line for line in lines if line.startswith(f"{name} note")]
    if counts and chance.random() < 0.3:
        place = lines.index(counts[0])
        lines[:] = [line for line in lines if line not in counts]
        lines.insert(place, f"{name} count {number}")
        own[0], removed = lines[place], own[0]
        return own[0], [*counts, removed]
    removals = [chance.choice(notes)] if notes and chance.random() * 40 < len(notes) else []
    lines[:] = [line for line in lines if line not in removals]
    line = f"{name} {'note' if own[0] else 'count'} {number}"
    own[0] = own[0] or line
    lines.insert(chance.randrange(1, len(lines)), line)
    return line, removals


def watch(folder: Path, _: str = "") -> None:
    """Look at the file all the time; say how many versions were seen, and each one that was not whole."""
    path, last, step_count = folder / "checkout" / "TODO.md", "", 0
    while not (folder / "stop").exists():
        text = path.read_text()
        if text != last:
            step_count, last = step_count + 1, text
            lines = text.split("\n")
            odd = [line for line in lines if not LINE.fullmatch(line)]
            tasks = [line.split(".")[0] for line in lines if line.startswith("### ")]
            if odd or lines[0] != FIRST or lines[-2:] != [LAST, ""] or len({*tasks}) != TASKS:
                say(f"torn: {odd} {lines[0]!r} {lines[-2:]} {len(tasks)} tasks")
            if len(tasks) > TASKS:
                say(f"doubled: {[task for task in tasks if tasks.count(task) > 1]} {text!r}")
    say(f"seen {step_count}")


WHAT: dict[str, Callable[..., None]] = {
    "crashes": crashes,
    "begin": begin,
    "plait": plait,
    "half": half,
    "editor": editor,
    "watch": watch,
}

if __name__ == "__main__":
    _, what, folder, *others = sys.argv
    WHAT[what](Path(folder), *others)
