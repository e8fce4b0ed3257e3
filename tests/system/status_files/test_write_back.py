"""What a write leaves behind when nobody disturbs it: the file with the statuses in it, and nothing else changed."""

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
        site = StatusFileSetup(Path(name))
        site.save("one: pending\n")
        site.locks.mkdir(parents=True)
        for each in (site.folder, site.checkout, site.locks.parent, site.locks):
            each.chmod(0o777)
        yield site
        site.checkout.chmod(0o777)


def test_statuses_are_put_in_and_nothing_stays_beside_the_file(site: StatusFileSetup) -> None:
    assert site.write("one", "three") == WriteResult(changed=True)
    assert site.text == "# Tasks\none: completed\ntwo: pending\nthree: completed\n"
    assert site.hidden_files == []
    assert {each.suffix for each in site.locks.iterdir()} == {".lock"}
    assert site.pauses == []


@pytest.mark.parametrize(
    "data",
    [
        b"one: pending\r\nother\r\n",
        b"\xef\xbb\xbfhead\none: pending\n",
        b"not UTF-8: \xff\xfe\xc3\none: pending\n\x00",
        b"trailing   \n\none: pending\r\n\rmixed\n\xe2\x80\xa8end without end",
    ],
)
def test_every_other_byte_is_kept(site: StatusFileSetup, data: bytes) -> None:
    site.path.write_bytes(data)
    site.write("one")
    assert site.path.read_bytes() == data.replace(b"one: pending", b"one: completed")


def test_nothing_is_written_when_nothing_changes(site: StatusFileSetup) -> None:
    site.write("one")
    os.utime(site.path, ns=(1, 1))
    before, folder = site.path.stat(), site.checkout.stat()
    assert site.write("one") == WriteResult(changed=False)
    assert site.write() == WriteResult(changed=False)
    after = site.path.stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_ctime_ns) == (before.st_ino, 1, before.st_ctime_ns)
    assert site.checkout.stat().st_mtime_ns == folder.st_mtime_ns, "not even a name came and went"


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o664, 0o755, 0o640])
def test_the_mode_is_kept(site: StatusFileSetup, mode: int) -> None:
    site.path.chmod(mode)
    site.write("one")
    assert stat.S_IMODE(site.path.stat().st_mode) == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_the_owner_is_kept(site: StatusFileSetup) -> None:
    os.chown(site.path, 1234, 4321)
    site.write("one")
    assert (site.path.stat().st_uid, site.path.stat().st_gid) == (1234, 4321)


def test_attributes_are_kept(site: StatusFileSetup) -> None:
    try:
        os.setxattr(site.path, "user.colour", b"green")
    except (AttributeError, OSError):
        pytest.skip("no attributes here")
    site.write("one")
    assert os.getxattr(site.path, "user.colour") == b"green"


def test_a_link_stays_a_link(site: StatusFileSetup) -> None:
    real = site.folder / "elsewhere" / "TASKS.md"
    real.parent.mkdir()
    site.path.rename(real)
    site.path.symlink_to("../elsewhere/TASKS.md")
    assert site.write("one").changed
    assert site.path.is_symlink()
    assert "one: completed" in real.read_text()
    assert [each.name for each in real.parent.iterdir()] == ["TASKS.md"]


def test_a_file_is_locked_under_its_real_name(site: StatusFileSetup) -> None:
    (site.checkout / "alias.md").symlink_to("TODO.md")
    site.write("one")
    site.name = "alias.md"
    site.write("two")
    assert len(list(site.locks.iterdir())) == 1


def test_other_hard_links_keep_the_old_text_and_it_is_said(site: StatusFileSetup) -> None:
    before = site.text
    other = site.checkout / "other.md"
    os.link(site.path, other)
    (problem,) = site.write("one").problems
    assert problem.severity is Severity.WARNING
    assert problem.message == "this file had 2 names (hard links): only this one has the new statuses"
    assert problem.at == Origin("TODO.md")
    assert other.read_text() == before
    assert "one: completed" in site.text
    assert site.write("two").problems == ()


def test_an_absolute_path_is_taken_as_it_is(site: StatusFileSetup, tmp_path: Path) -> None:
    writer = StatusFileWriter(str(site.path), rewrite_statuses)
    assert write_statuses(tmp_path / "anywhere", writer, [make_change("one")], locks=site.locks).changed


def test_a_task_that_is_gone_is_reported_and_the_others_are_written(site: StatusFileSetup) -> None:
    written = site.write("one", "four")
    assert written.changed
    (problem,) = written.problems
    assert "four was removed from the file or is ambiguous" in problem.message
    assert "one: completed" in site.text
    assert len(site.pauses) == 5, "it may be about to come back"
    assert sum(site.pauses) < 0.5


def test_a_file_that_is_gone_is_reported(site: StatusFileSetup) -> None:
    site.path.unlink()
    (problem,) = site.write("one").problems
    assert problem.message == "this file is not there any more: no status was written"
    assert problem.at == Origin("TODO.md")
    assert not site.path.exists()
    assert site.hidden_files == []


def test_a_file_is_made_where_the_format_wants_it(site: StatusFileSetup) -> None:
    site.name = "status.json"
    umask = os.umask(0o027)
    try:
        assert site.write("one", creates=True) == WriteResult(changed=True)
    finally:
        os.umask(umask)
    assert site.text == "one: completed\n"
    assert stat.S_IMODE(site.path.stat().st_mode) == 0o640
    assert site.hidden_files == []
    assert site.write("one", creates=True) == WriteResult(changed=False)
    site.write("one", mark=SourceStatus.FAILED, creates=True)
    assert site.text == "one: failed\n"


def test_no_folder_is_made(site: StatusFileSetup) -> None:
    site.name = "outputs/status.json"
    assert site.write("one", creates=True) == WriteResult(changed=False)
    assert not (site.checkout / "outputs").exists()


def test_nothing_is_made_of_nothing(site: StatusFileSetup) -> None:
    site.name = "status.json"
    assert site.write(creates=True) == WriteResult(changed=False)
    assert not site.path.exists()


def test_a_folder_that_is_gone_is_an_error(site: StatusFileSetup) -> None:
    site.name = "gone/TODO.md"
    with pytest.raises(SourceWriteError) as error:
        site.write("one")
    assert error.value.fault is Fault.WORLD
    assert f"no status could be written to {site.path}, its folder is gone: No such file or directory" in str(
        error.value
    )


@pytest.mark.parametrize("what", ["pipe", "folder"])
def test_what_is_no_file_is_let_be(site: StatusFileSetup, what: str) -> None:
    site.path.unlink()
    if what == "pipe":
        os.mkfifo(site.path)
    else:
        site.path.mkdir()
    with pytest.raises(SourceWriteError, match="this is not a regular file"):
        site.write("one")
    assert site.hidden_files == []


def test_a_read_only_file_is_let_be(public: StatusFileSetup) -> None:
    public.path.chmod(0o444)
    with nobody(), pytest.raises(SourceWriteError) as error:
        public.write("one")
    assert f"no status could be written to {public.path}, that is not permitted: it is read-only" in str(error.value)
    assert "check the owner and the mode" in error.value.hint
    assert public.text == "one: pending\n"
    assert public.hidden_files == []


def test_a_read_only_folder_is_let_be(public: StatusFileSetup) -> None:
    public.path.chmod(0o666)
    public.checkout.chmod(0o555)
    with nobody(), pytest.raises(SourceWriteError, match="not permitted: Permission denied"):
        public.write("one")
    assert public.text == "one: pending\n"


def test_a_folder_for_locks_that_cant_be_made(public: StatusFileSetup) -> None:
    public.locks.rmdir()
    public.locks.parent.chmod(0o555)
    with nobody(), pytest.raises(SourceWriteError, match=r"not permitted: Permission denied \(.*locks"):
        public.write("one")


def test_a_long_name(site: StatusFileSetup) -> None:
    site.name = "é" * 120 + ".md"
    site.save("one: pending\n")
    assert site.write("one").changed
    assert decode(site.path.read_bytes()) == "one: completed\n"
