"""Full or broken disks: the file stays complete, no edit is lost, and the error says what went wrong."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from plait.system import file_exchange
from plait.system.status_files import SourceWriteError, WriteResult
from tests.support.status_file import StatusFileSetup, intercept_steps

START = "# Tasks\none: pending\ntwo: pending\nthree: pending\n"
DONE = "# Tasks\none: completed\ntwo: pending\nthree: completed\n"


@contextmanager
def failing(number: int, times: float, error: int) -> Iterator[list[str]]:
    """From the so-manieth step on, so many steps fail. Gives the names of the steps that were made."""
    made: list[str] = []

    def act(count: int, name: str) -> None:
        made.append(name)
        if number <= count < number + times:
            raise OSError(error, os.strerror(error))

    with intercept_steps(act):
        yield made


def sites() -> Iterator[StatusFileSetup]:
    with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        for number in count():
            source = StatusFileSetup(Path(folder) / str(number))
            source.save(START)
            yield source


@pytest.mark.usefixtures("_either_way")
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
def test_one_failed_step_is_retried(error: int) -> None:
    for number, source in enumerate(sites(), 1):
        saved: list[str] = []
        with failing(number, 1, error) as made:
            written = source.write_during_edits(saved)
        printed = f"step {number} of {made}"
        assert written == WriteResult(changed=True), printed
        assert source.text.startswith(DONE), printed
        assert sorted(source.text[len(DONE) :].splitlines()) == ["early", "late"], printed
        assert source.hidden_files == [], printed
        if number > len(made):
            break
    assert number > 30


@pytest.mark.usefixtures("_either_way")
def test_a_disk_that_fails_from_any_step_on_loses_nothing() -> None:
    for number, source in enumerate(sites(), 1):
        saved: list[str] = []
        printed = f"from step {number} on"
        with failing(number, float("inf"), errno.ENOSPC) as made:
            if number <= 30:
                with pytest.raises(SourceWriteError, match="there is not enough space: No space left on device"):
                    source.write_during_edits(saved)
            else:
                with suppress(SourceWriteError):
                    source.write_during_edits(saved)
        whole = {*START.splitlines()} - {"one: pending", "three: pending"}
        assert whole <= {*source.text.splitlines()}, printed
        source.write("one", "three")
        assert {*DONE.splitlines(), *saved} <= {*source.text.splitlines()}, printed
        assert source.hidden_files == [], printed
        if number > len(made):
            break


def test_a_refused_write_leaves_no_files(source: StatusFileSetup, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", refuse)
    before = source.path.stat()
    with pytest.raises(SourceWriteError) as error:
        source.write("one")
    assert str(error.value) == (
        f"no status could be written to {source.path}, there is not enough space: No space left on device\n"
        "  free some space; the statuses are kept in plait's own records and written when plait next runs here"
    )
    assert source.pauses == [0.05, 0.2, 0.8]
    assert (source.path.stat().st_ino, source.path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert source.hidden_files == []


def test_a_write_whose_intent_cannot_be_written_leaves_no_files(
    source: StatusFileSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(SourceWriteError, match="check the disk"):
        source.write("one")
    assert source.hidden_files == []


def test_a_file_size_limit_is_an_error(source: StatusFileSetup) -> None:
    """write(2) itself fails, after a part."""
    source.save(START + "x" * 100_000)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        with pytest.raises(SourceWriteError, match="there is not enough space: File too large"):
            source.write("one")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert source.text == START + "x" * 100_000
    assert source.hidden_files == []
    source.write("one")
    assert "one: completed" in source.text


FILL = """
import sys
from pathlib import Path
from plait.system.status_files import SourceWriteError
from tests.support.status_file import StatusFileSetup
site = StatusFileSetup(Path(sys.argv[1]))
text = "one: pending\\n" + "x" * 100_000
site.save(text)
full = site.checkout / "full"
try:
    with full.open("wb") as file:
        while True:
            file.write(b"x" * 1000)
            file.flush()
except OSError:
    pass
try:
    site.write("one")
except SourceWriteError as error:
    print("not enough space" in error.message, site.text == text, site.hidden_files)
full.unlink()
print(site.write("one").changed, "one: completed" in site.text, site.hidden_files)
"""


def test_a_full_disk_is_an_error(tmp_path: Path) -> None:
    """With a small file system of its own, where one may be mounted."""
    through = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")
    mount = f"mount -t tmpfs -o size=800k none '{tmp_path}'"
    if subprocess.run(["env", *through, mount], check=False, capture_output=True).returncode:
        pytest.skip("mounting is not permitted here")
    command = [*through, f'{mount} && exec "$@"', "sh", sys.executable, "-c", FILL, str(tmp_path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["True True []", "True True []"]


def test_a_version_that_reads_back_differently_is_not_exchanged(
    source: StatusFileSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_bytes = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read_bytes(path).replace(b"completed", b"complXted"))
    before = source.path.stat().st_ino
    with pytest.raises(SourceWriteError, match="what was written reads back differently"):
        source.write("one")
    assert source.path.stat().st_ino == before
    assert source.hidden_files == []


def test_a_file_that_reads_back_differently_after_the_exchange_is_an_error(
    source: StatusFileSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that gives back something else, once: the next try finds all well."""
    real, lies = file_exchange.read_snapshot, ["three: p3nding"]

    def read(path: Path) -> file_exchange.FileSnapshot:
        snapshot = real(path)
        if path == source.path and "one: completed" in snapshot.text and lies:
            return file_exchange.FileSnapshot(
                snapshot.text.replace("three: pending", lies.pop()), snapshot.stat, is_complete=True
            )
        return snapshot

    monkeypatch.setattr(file_exchange, "read_snapshot", read)
    assert source.write("one") == WriteResult(changed=True)
    assert source.pauses == [0.05]
    assert source.text == START.replace("one: pending", "one: completed")
