"""A write without other writers: the file gets the statuses, and nothing else changes."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from plait.core.errors import Fault
from plait.core.plan import Severity
from plait.core.task import Origin
from plait.sources.source_model import SourceStatus
from plait.sources.status_changes import StatusFileWriter
from plait.sources.text import decode
from plait.system.status_files import SourceWriteError, WriteResult, write_statuses
from tests.support.status_file import StatusFileSetup, make_change, rewrite_statuses

pytestmark = pytest.mark.usefixtures("_either_way")


@contextmanager
def nobody() -> Iterator[None]:
    """Without the rights of root, to whom every file is open."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def public() -> Iterator[StatusFileSetup]:
    """Where anybody may work."""
    with TemporaryDirectory() as name:
        source = StatusFileSetup(Path(name))
        source.save("one: pending\n")
        source.locks.mkdir(parents=True)
        for each in (source.folder, source.checkout, source.locks.parent, source.locks):
            each.chmod(0o777)
        yield source
        source.checkout.chmod(0o777)


def test_statuses_are_written_and_no_other_file_is_left(source: StatusFileSetup) -> None:
    assert source.write("one", "three") == WriteResult(changed=True)
    assert source.text == "# Tasks\none: completed\ntwo: pending\nthree: completed\n"
    assert source.hidden_files == []
    assert {each.suffix for each in source.locks.iterdir()} == {".lock"}
    assert source.pauses == []


@pytest.mark.parametrize(
    "data",
    [
        b"one: pending\r\nother\r\n",
        b"\xef\xbb\xbfhead\none: pending\n",
        b"not UTF-8: \xff\xfe\xc3\none: pending\n\x00",
        b"trailing   \n\none: pending\r\n\rmixed\n\xe2\x80\xa8end without end",
    ],
)
def test_every_other_byte_is_kept(source: StatusFileSetup, data: bytes) -> None:
    source.path.write_bytes(data)
    source.write("one")
    assert source.path.read_bytes() == data.replace(b"one: pending", b"one: completed")


def test_nothing_is_written_when_nothing_changes(source: StatusFileSetup) -> None:
    source.write("one")
    os.utime(source.path, ns=(1, 1))
    before, folder = source.path.stat(), source.checkout.stat()
    assert source.write("one") == WriteResult(changed=False)
    assert source.write() == WriteResult(changed=False)
    after = source.path.stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_ctime_ns) == (before.st_ino, 1, before.st_ctime_ns)
    assert source.checkout.stat().st_mtime_ns == folder.st_mtime_ns, "not even a name came and went"


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o664, 0o755, 0o640])
def test_the_mode_is_kept(source: StatusFileSetup, mode: int) -> None:
    source.path.chmod(mode)
    source.write("one")
    assert stat.S_IMODE(source.path.stat().st_mode) == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_the_owner_is_kept(source: StatusFileSetup) -> None:
    os.chown(source.path, 1234, 4321)
    source.write("one")
    assert (source.path.stat().st_uid, source.path.stat().st_gid) == (1234, 4321)


def test_attributes_are_kept(source: StatusFileSetup) -> None:
    try:
        os.setxattr(source.path, "user.colour", b"green")
    except (AttributeError, OSError):
        pytest.skip("no attributes here")
    source.write("one")
    assert os.getxattr(source.path, "user.colour") == b"green"


def test_a_link_stays_a_link(source: StatusFileSetup) -> None:
    real = source.folder / "elsewhere" / "TASKS.md"
    real.parent.mkdir()
    source.path.rename(real)
    source.path.symlink_to("../elsewhere/TASKS.md")
    assert source.write("one").changed
    assert source.path.is_symlink()
    assert "one: completed" in real.read_text()
    assert [each.name for each in real.parent.iterdir()] == ["TASKS.md"]


def test_a_file_is_locked_under_its_real_name(source: StatusFileSetup) -> None:
    (source.checkout / "alias.md").symlink_to("TODO.md")
    source.write("one")
    source.name = "alias.md"
    source.write("two")
    assert len(list(source.locks.iterdir())) == 1


def test_other_hard_links_keep_the_old_text_with_a_note(source: StatusFileSetup) -> None:
    before = source.text
    other = source.checkout / "other.md"
    os.link(source.path, other)
    (problem,) = source.write("one").problems
    assert problem.severity is Severity.INFO
    assert problem.message == "this file had 2 names (hard links): only this one has the new statuses"
    assert problem.at == Origin("TODO.md")
    assert other.read_text() == before
    assert "one: completed" in source.text
    assert source.write("two").problems == ()


def test_an_absolute_path_is_taken_as_it_is(source: StatusFileSetup, tmp_path: Path) -> None:
    writer = StatusFileWriter(str(source.path), rewrite_statuses)
    assert write_statuses(tmp_path / "anywhere", writer, [make_change("one")], locks=source.locks).changed


def test_a_task_that_is_gone_is_reported_and_the_others_are_written(source: StatusFileSetup) -> None:
    written = source.write("one", "four")
    assert written.changed
    (problem,) = written.problems
    assert "four was removed from the file or is ambiguous" in problem.message
    assert "one: completed" in source.text
    assert len(source.pauses) == 5, "it may be about to come back"
    assert sum(source.pauses) < 0.5


def test_a_missing_file_is_reported(source: StatusFileSetup) -> None:
    source.path.unlink()
    (problem,) = source.write("one").problems
    assert problem.message == "this file is not there any more: no status was written"
    assert problem.at == Origin("TODO.md")
    assert not source.path.exists()
    assert source.hidden_files == []


def test_a_status_file_is_created_if_the_format_needs_one(source: StatusFileSetup) -> None:
    source.name = "status.json"
    umask = os.umask(0o027)
    try:
        assert source.write("one", creates=True) == WriteResult(changed=True)
    finally:
        os.umask(umask)
    assert source.text == "one: completed\n"
    assert stat.S_IMODE(source.path.stat().st_mode) == 0o640
    assert source.hidden_files == []
    assert source.write("one", creates=True) == WriteResult(changed=False)
    source.write("one", mark=SourceStatus.FAILED, creates=True)
    assert source.text == "one: failed\n"


def test_no_folder_is_created(source: StatusFileSetup) -> None:
    source.name = "outputs/status.json"
    assert source.write("one", creates=True) == WriteResult(changed=False)
    assert not (source.checkout / "outputs").exists()


def test_no_file_is_created_for_an_empty_text(source: StatusFileSetup) -> None:
    source.name = "status.json"
    assert source.write(creates=True) == WriteResult(changed=False)
    assert not source.path.exists()


def test_a_missing_folder_is_an_error(source: StatusFileSetup) -> None:
    source.name = "gone/TODO.md"
    with pytest.raises(SourceWriteError) as error:
        source.write("one")
    assert error.value.fault is Fault.WORLD
    assert f"no status could be written to {source.path}, its folder is gone: No such file or directory" in str(
        error.value
    )


@pytest.mark.parametrize("what", ["pipe", "folder"])
def test_a_path_that_is_not_a_file_is_refused(source: StatusFileSetup, what: str) -> None:
    source.path.unlink()
    if what == "pipe":
        os.mkfifo(source.path)
    else:
        source.path.mkdir()
    with pytest.raises(SourceWriteError, match="not a regular file"):
        source.write("one")
    assert source.hidden_files == []


def test_a_read_only_file_is_not_written(public: StatusFileSetup) -> None:
    public.path.chmod(0o444)
    with nobody(), pytest.raises(SourceWriteError) as error:
        public.write("one")
    assert f"no status could be written to {public.path}, that is not permitted: it is read-only" in str(error.value)
    assert "check the owner and the mode" in error.value.hint
    assert public.text == "one: pending\n"
    assert public.hidden_files == []


def test_a_file_in_a_read_only_folder_is_not_written(public: StatusFileSetup) -> None:
    public.path.chmod(0o666)
    public.checkout.chmod(0o555)
    with nobody(), pytest.raises(SourceWriteError, match="not permitted: Permission denied"):
        public.write("one")
    assert public.text == "one: pending\n"


def test_a_lock_folder_that_cannot_be_made_is_an_error(public: StatusFileSetup) -> None:
    public.locks.rmdir()
    public.locks.parent.chmod(0o555)
    with nobody(), pytest.raises(SourceWriteError, match=r"not permitted: Permission denied \(.*locks"):
        public.write("one")


def test_a_file_with_a_long_name_is_written(source: StatusFileSetup) -> None:
    source.name = "é" * 120 + ".md"
    source.save("one: pending\n")
    assert source.write("one").changed
    assert decode(source.path.read_bytes()) == "one: completed\n"
