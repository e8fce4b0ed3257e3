from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from plait.agents.model_jobs.safe_paths import STAGING_DIR
from plait.runtime.atomic_apply import StagedWrites
from plait.runtime.workspace_files import FileChangedError, StagingError


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    (folder / "src").mkdir(parents=True)
    (folder / "src/a.py").write_text("old\n")
    (folder / ".git").mkdir()
    return folder


def tree(folder: Path) -> dict[str, bytes | str]:
    """Every name in it: a file's bytes and mode, a link's target, or that it is a folder."""
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_dir():
            found[name] = "folder"
        else:
            found[name] = oct(stat.S_IMODE(path.stat().st_mode)).encode() + b" " + path.read_bytes()
    return found


def refused(workspace: Path, files: Mapping[str, str]) -> str:
    """Why; and that nothing is different."""
    before = tree(workspace.parent)
    with StagedWrites(workspace) as staging, pytest.raises(StagingError) as caught:
        staging.apply(files)
    assert tree(workspace.parent) == before
    return caught.value.message


class TestApplying:
    def test_files_are_written_and_stay(self, workspace: Path) -> None:
        with StagedWrites(workspace) as staging:
            staging.apply({"src/a.py": "new\n", "deep/er/b.py": "b\n"})
            assert staging.read("src/a.py") == "new\n"
        assert (workspace / "src/a.py").read_text() == "new\n"
        assert (workspace / "deep/er/b.py").read_text() == "b\n"
        assert not (workspace / STAGING_DIR).exists()

    def test_mode_line_ends_and_byte_order_mark_stay(self, workspace: Path) -> None:
        file = workspace / "src/a.py"
        file.write_bytes(b"\xef\xbb\xbfa\r\nb\r\n")
        file.chmod(0o751)
        with StagedWrites(workspace) as staging:
            assert staging.read("src/a.py") == "a\nb\n"
            staging.apply({"src/a.py": "a\nc\n"})
        assert file.read_bytes() == b"\xef\xbb\xbfa\r\nc\r\n"
        assert stat.S_IMODE(file.stat().st_mode) == 0o751

    def test_mixed_line_ends_are_written_as_given(self, workspace: Path) -> None:
        (workspace / "src/a.py").write_bytes(b"a\r\nb\n")
        with StagedWrites(workspace) as staging:
            text = staging.read("src/a.py")
            assert text == "a\r\nb\n"
            staging.apply({"src/a.py": f"{text}c\n"})
        assert (workspace / "src/a.py").read_bytes() == b"a\r\nb\nc\n"

    def test_a_new_file_gets_the_default_mode(self, workspace: Path) -> None:
        (workspace / "usual").write_text("")
        with StagedWrites(workspace) as staging:
            staging.apply({"new": "x\n"})
        assert (workspace / "new").stat().st_mode == (workspace / "usual").stat().st_mode

    def test_a_file_changed_since_it_was_read_is_not_overwritten(self, workspace: Path) -> None:
        (workspace / "a.py").write_text("old\n")
        with StagedWrites(workspace) as staging:
            assert (staging.read("a.py"), staging.read("b.py")) == ("old\n", None)
            (workspace / "a.py").write_text("theirs\n")
            (workspace / "b.py").write_text("theirs too\n")
            with pytest.raises(FileChangedError, match=r"a\.py, b\.py: changed by another process"):
                staging.apply({"a.py": "mine\n", "b.py": "mine\n", "c.py": "mine\n"})
            assert staging.read("a.py") == "theirs\n"
            staging.apply({"a.py": "mine, then\n"})
            staging.apply({"a.py": "and again\n"})
        assert (workspace / "a.py").read_text() == "and again\n"
        assert (workspace / "b.py").read_text() == "theirs too\n"
        assert not (workspace / "c.py").exists()

    def test_an_unchanged_file_is_not_touched(self, workspace: Path) -> None:
        before = (workspace / "src/a.py").stat()
        with StagedWrites(workspace) as staging:
            staging.apply({"src/a.py": "old\n"})
        assert (workspace / "src/a.py").stat() == before

    def test_git_never_sees_the_staging_folder(self, workspace: Path) -> None:
        (workspace / ".git").rmdir()
        subprocess.run(["git", "init", "-q", workspace], check=True)
        with StagedWrites(workspace) as staging:
            staging.apply({"src/a.py": "new\n"})
            assert (workspace / STAGING_DIR / "record").exists()
            seen = subprocess.check_output(["git", "-C", workspace, "status", "--porcelain", "-uall"], text=True)
        assert seen == "?? src/a.py\n"

    def test_another_hard_link_keeps_its_content(self, workspace: Path) -> None:
        os.link(workspace / "src/a.py", workspace / "same")
        with StagedWrites(workspace) as staging:
            staging.apply({"src/a.py": "new\n"})
        assert (workspace / "same").read_text() == "old\n"


class TestContainment:
    @pytest.mark.parametrize(
        "path",
        [
            "../x",
            "src/../../x",
            "/tmp/x",
            "~/x",
            ".git/config",
            ".GIT/x",
            "src/.git/x",
            "a\x00b",
            "a\nb",
            "",
            "src/",
            "C:\\x",
            f"{STAGING_DIR}/record",
            "./x",
            "a//b",
        ],
    )
    def test_a_path_outside_the_workspace_is_refused(self, workspace: Path, path: str) -> None:
        assert refused(workspace, {"src/a.py": "new\n", path: "x\n"})

    def test_a_link_within_a_path_is_not_followed(self, workspace: Path, tmp_path: Path) -> None:
        (tmp_path / "outside").mkdir()
        (workspace / "link").symlink_to("../outside")
        (workspace / "loop").symlink_to("loop")
        (workspace / "inner").symlink_to("src")
        for path in ("link/x", "loop/x", "inner/x", "link/deep/x"):
            assert "a link or a file, not a folder" in refused(workspace, {"src/a.py": "new\n", path: "x\n"})

    def test_a_link_at_the_end_of_a_path_is_not_followed(self, workspace: Path, tmp_path: Path) -> None:
        (tmp_path / "secret").write_text("s")
        (workspace / "link").symlink_to("../secret")
        (workspace / "dangling").symlink_to("../nowhere")
        for path in ("link", "dangling"):
            assert "it is a link" in refused(workspace, {"src/a.py": "new\n", path: "x\n"})
            with StagedWrites(workspace) as staging, pytest.raises(StagingError, match="it is a link"):
                staging.read(path)

    def test_a_path_that_is_not_a_file_is_refused(self, workspace: Path) -> None:
        os.mkfifo(workspace / "pipe")
        assert "not a file" in refused_quietly(workspace, "pipe")
        assert "not a file" in refused_quietly(workspace, "src")
        assert "a link or a file, not a folder" in refused_quietly(workspace, "src/a.py/b")

    def test_names_that_differ_only_in_case_are_refused(self, workspace: Path) -> None:
        assert "same file on some systems" in refused(workspace, {"b/X.py": "1\n", "B/x.py": "2\n"})
        assert "can't be a file and the folder" in refused(workspace, {"b": "1\n", "b/c": "2\n"})

    def test_a_link_created_meanwhile_is_not_followed(self, workspace: Path, tmp_path: Path) -> None:
        """The workspace is the folder that was opened, whatever its name leads to afterwards."""
        (tmp_path / "other/src").mkdir(parents=True)
        with StagedWrites(workspace) as staging:
            workspace.rename(tmp_path / "moved")
            workspace.symlink_to(tmp_path / "other")
            staging.apply({"src/a.py": "new\n"})
        assert (tmp_path / "moved/src/a.py").read_text() == "new\n"
        assert list((tmp_path / "other/src").iterdir()) == []

    def test_all_errors_are_reported_at_once(self, workspace: Path) -> None:
        said = refused(workspace, {"../x": "", "src": "x\n", "src/a.py": "\ud800"})
        assert all(f"{path}: " in said for path in ("../x", "src", "src/a.py"))

    def test_a_binary_file_is_not_read(self, workspace: Path) -> None:
        (workspace / "binary").write_bytes(b"\xff\xfe")
        (workspace / "nulls").write_bytes(b"a\0b")
        with StagedWrites(workspace) as staging:
            assert staging.read("nope/nope") is None
            for path in ("binary", "nulls"):
                with pytest.raises(StagingError, match="not UTF-8 text"):
                    staging.read(path)


def refused_quietly(workspace: Path, path: str) -> str:
    with StagedWrites(workspace) as staging, pytest.raises(StagingError) as caught:
        staging.apply({path: "x\n"})
    return caught.value.message


class TestUndoing:
    def test_undo_restores_every_file(self, workspace: Path) -> None:
        (workspace / "src/a.py").chmod(0o640)
        before = tree(workspace)
        with StagedWrites(workspace) as staging:
            staging.apply({"src/a.py": "new\n", "x/y/z": "z\n"})
            staging.apply({"src/a.py": "newer\n", "x/w": "w\n"})
            staging.undo()
            assert tree(workspace) == before
            staging.apply({"src/a.py": "again\n"})
        assert (workspace / "src/a.py").read_text() == "again\n"

    def test_undo_restores_files_that_a_check_changed(self, workspace: Path) -> None:
        with StagedWrites(workspace) as staging:
            staging.apply({"src/a.py": "new\n", "b": "b\n", "c/d": "d\n"})
            (workspace / "src/a.py").write_text("formatted\n")
            (workspace / "b").unlink()
            (workspace / "c/kept").write_text("")
            staging.undo()
        assert (workspace / "src/a.py").read_text() == "old\n"
        assert sorted(tree(workspace)) == [".git", "c", "c/kept", "src", "src/a.py"]

    def test_an_exception_undoes_all_writes(self, workspace: Path) -> None:
        before = tree(workspace)

        def work() -> None:
            with StagedWrites(workspace) as staging:
                staging.apply({"src/a.py": "new\n"})
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            work()
        assert tree(workspace) == before

    def test_undo_follows_no_link(self, workspace: Path, tmp_path: Path) -> None:
        (tmp_path / "outside").mkdir()
        (tmp_path / "outside/a.py").write_text("theirs")
        with StagedWrites(workspace) as staging:
            staging.apply({"src/a.py": "new\n"})
            (workspace / "src").rename(workspace / "away")
            (workspace / "src").symlink_to(tmp_path / "outside")
            with pytest.raises(StagingError, match=r"could not be restored: src/a\.py"):
                staging.undo()
            (workspace / "src").unlink()
        assert (tmp_path / "outside/a.py").read_text() == "theirs"


class TestFailures:
    def test_a_full_disk_changes_nothing(self, small_disk: Path) -> None:
        (small_disk / "a").write_text("old\n")
        before = tree(small_disk)
        with StagedWrites(small_disk) as staging:
            with pytest.raises(StagingError, match="nothing was written: No space left"):
                staging.apply({"a": "new\n", "b/c": "x" * 300_000})
            assert tree(small_disk) == before
            staging.apply({"a": "new\n"})
            with pytest.raises(StagingError, match="nothing was written: No space left"):
                staging.apply({"a": "newer\n", "b/c": "x" * 300_000})
            assert (small_disk / "a").read_text() == "new\n"
            staging.undo()
        assert tree(small_disk) == before

    def test_one_file_that_cannot_be_written_undoes_the_others(
        self, workspace: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = tree(workspace)
        real = os.rename

        def rename(src: str, dst: str, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None) -> None:
            if dst == "last":
                raise OSError(18, "Invalid cross-device link")
            real(src, dst, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

        monkeypatch.setattr(os, "rename", rename)
        with (
            StagedWrites(workspace) as staging,
            pytest.raises(StagingError, match="Invalid cross-device link"),
        ):
            staging.apply({"src/a.py": "new\n", "x/b": "b\n", "y/last": "c\n"})
        assert tree(workspace) == before

    def test_a_foreign_folder_with_the_staging_name_is_refused(self, workspace: Path) -> None:
        (workspace / STAGING_DIR).mkdir()
        (workspace / STAGING_DIR / "theirs").write_text("x")
        with pytest.raises(StagingError, match="in the way"), StagedWrites(workspace):
            pass
        assert (workspace / STAGING_DIR / "theirs").read_text() == "x"

    def test_a_link_with_the_staging_name_is_refused(self, workspace: Path, tmp_path: Path) -> None:
        (tmp_path / "outside").mkdir()
        (workspace / STAGING_DIR).symlink_to("../outside")
        with pytest.raises(StagingError, match="in the way"), StagedWrites(workspace):
            pass

    def test_a_missing_workspace_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(StagingError, match="can't be opened"):
            StagedWrites(tmp_path / "nope")

    def test_a_second_writer_is_refused(self, workspace: Path) -> None:
        with StagedWrites(workspace), pytest.raises(StagingError, match="another process"):
            StagedWrites(workspace)
        with StagedWrites(workspace):
            pass


# For every instant a process of its own, which dies there; then the next one comes. It tells what that one found.
DYING = dedent(
    """
    import json, os, shutil, sys
    from itertools import count
    from pathlib import Path
    from plait.runtime.atomic_apply import StagedWrites

    workspace, then = Path(sys.argv[1]), sys.argv[2]

    def work(left):
        def dying(real):
            def call(*args, **more):
                nonlocal left
                left -= 1
                if left < 0:
                    os._exit(9)
                return real(*args, **more)
            return call
        for name in ("rename", "unlink", "mkdir", "rmdir", "fsync", "write"):
            setattr(os, name, dying(getattr(os, name)))
        with StagedWrites(workspace) as staging:
            staging.apply({"src/a.py": "new\\n", "x/y/b": "b\\n"})
            staging.apply({"src/a.py": "newer\\n", "x/c": "c\\n"})
            if then == "undo":
                staging.undo()
        os._exit(0)

    for instant in count():
        shutil.rmtree(workspace, ignore_errors=True)
        (workspace / "src").mkdir(parents=True)
        (workspace / "src/a.py").write_text("old\\n")
        child = os.fork()
        if not child:
            work(instant)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in (0, 9), code
        with StagedWrites(workspace) as staging:
            files = {str(p.relative_to(workspace)): p.read_text() for p in workspace.rglob("*") if p.is_file()}
            print(json.dumps([code, files, staging.changed_since, sorted(p.name for p in workspace.iterdir())]))
        if code == 0:
            break
    """
)
OLD = {"src/a.py": "old\n"}
NEW = {"src/a.py": "newer\n", "x/y/b": "b\n", "x/c": "c\n"}


@pytest.mark.parametrize("then", ["keep", "undo"])
def test_a_process_killed_at_any_instant_is_undone_or_had_finished(tmp_path: Path, then: str) -> None:
    argv = [sys.executable, "-c", DYING, str(tmp_path / "w"), then]
    output = subprocess.run(argv, check=True, timeout=120, stdout=subprocess.PIPE, text=True).stdout
    instants = [json.loads(line) for line in output.splitlines()]
    assert len(instants) > 40
    finished = False
    for _, files, left, names in instants:
        finished = finished or files == NEW
        assert files == (NEW if finished else OLD)
        assert left == []
        assert names == (["src", "x"] if finished else ["src"])
    assert finished == (then == "keep")


class TestRecovery:
    def left_by(self, workspace: Path) -> None:
        """A process that died when everything was in its place."""
        code = dedent(
            """
            import os, sys
            from pathlib import Path
            from plait.runtime.atomic_apply import StagedWrites

            staging = StagedWrites(Path(sys.argv[1])).__enter__()
            staging.apply({"src/a.py": "new\\n", "x/b": "b\\n"})
            os._exit(9)
            """
        )
        subprocess.run([sys.executable, "-c", code, str(workspace)], check=False, timeout=60)
        assert (workspace / "src/a.py").read_text() == "new\n"

    def test_the_next_process_undoes_the_writes(self, workspace: Path) -> None:
        before = tree(workspace)
        self.left_by(workspace)
        with StagedWrites(workspace) as staging:
            assert staging.changed_since == ()
        assert tree(workspace) == before

    def test_a_file_changed_since_is_kept_and_reported(self, workspace: Path) -> None:
        self.left_by(workspace)
        (workspace / "src/a.py").write_text("mine\n")
        with StagedWrites(workspace) as staging:
            assert staging.changed_since == ("src/a.py",)
        assert (workspace / "src/a.py").read_text() == "mine\n"
        assert not (workspace / "x").exists()

    def test_a_record_with_a_path_outside_the_workspace_is_refused(self, workspace: Path, tmp_path: Path) -> None:
        (tmp_path / "victim").write_text("theirs")
        self.left_by(workspace)
        record = workspace / STAGING_DIR / "record"
        for path in ("../victim", str(tmp_path / "victim")):
            record.write_text(record.read_text().replace("src/a.py", path))
            with pytest.raises(StagingError), StagedWrites(workspace):
                pass
        assert (tmp_path / "victim").read_text() == "theirs"

    @pytest.mark.parametrize("text", ["", "{", "[]", '{"layers": 1}', '{"layers": [{"made": [], "writes": [["a"]]}]}'])
    def test_a_damaged_record_is_an_error(self, workspace: Path, text: str) -> None:
        self.left_by(workspace)
        (workspace / STAGING_DIR / "record").write_text(text)
        with pytest.raises(StagingError, match="damaged"), StagedWrites(workspace):
            pass

    def test_a_file_whose_old_content_is_gone_is_reported(self, workspace: Path) -> None:
        self.left_by(workspace)
        (workspace / STAGING_DIR / "0-0.old").unlink()
        with StagedWrites(workspace) as staging:
            assert staging.changed_since == ("src/a.py",)


_NAMES = st.lists(st.sampled_from(["a", "b", "src", "Src", "..", ".git", "d"]), min_size=1, max_size=3).map("/".join)
_FILES = st.dictionaries(_NAMES, st.text("xy\n\r", max_size=6), max_size=4)


@given(st.lists(_FILES, max_size=3))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_apply_and_undo_leave_the_workspace_unchanged(tmp_path: Path, layers: list[dict[str, str]]) -> None:
    workspace = tmp_path / "w"
    (workspace / "src/d").mkdir(parents=True, exist_ok=True)
    (workspace / "a").write_bytes(b"old\r\n")
    (workspace / "src/b").write_bytes(b"old\n")
    before = tree(tmp_path)
    with StagedWrites(workspace) as staging:
        for files in layers:
            now = tree(workspace)
            try:
                staging.apply(files)
            except StagingError:
                assert {k: v for k, v in tree(workspace).items() if STAGING_DIR not in k} == {
                    k: v for k, v in now.items() if STAGING_DIR not in k
                }
            else:
                assert all((workspace / path).is_file() for path in files)
        staging.undo()
        assert tree(tmp_path) == before
