"""What a sandboxed attempt finds of the user's home folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.core.settings import SandboxMode
from plait.core.task import Attempt, Step
from plait.runtime.executor import AttemptSpec
from plait.runtime.sandbox.layout import Access, Mount, is_inside
from plait.runtime.sandbox.preparation import SandboxPlaces, collect_attempt_files, prepare_layout
from plait.runtime.sandbox.spec import SandboxSpec


def list_readable(tmp_path: Path, path: str) -> list[str]:
    """Paths that are mounted from the disk as they are, for this PATH."""
    home = tmp_path / "home"
    spec = AttemptSpec(
        Attempt("b", "t", Step.WRITE, 1),
        ("true",),
        str(tmp_path / "work"),
        env={"HOME": str(home), "PATH": path},
    )
    places = SandboxPlaces(tmp_path / "state" / "attempt", tmp_path / "state")
    mounts = prepare_layout(spec, SandboxSpec(SandboxMode.WORKTREE), places).mounts
    return [
        mount.target for mount in mounts if mount.access is Access.READ and mount == Mount(mount.target, mount.access)
    ]


@pytest.mark.parametrize(
    "name", [".gem/credentials", ".local/share/uv/credentials/credentials.toml", "go/src/mine/a.go"]
)
def test_folders_of_programs_are_readable_without_what_is_private_in_them(tmp_path: Path, name: str) -> None:
    home = tmp_path / "home"
    for each in (name, ".gem/ruby/x", ".local/share/uv/tools/x", "go/bin/x"):
        (home / each).parent.mkdir(parents=True, exist_ok=True)
        (home / each).write_text("x")
    readable = list_readable(tmp_path, "/usr/bin")
    assert is_inside(f"{home}/go/bin/x", readable)
    assert is_inside(f"{home}/.gem/ruby/x", readable)
    assert is_inside(f"{home}/.local/share/uv/tools/x", readable)
    assert not is_inside(f"{home}/{name}", readable)


@pytest.mark.parametrize("suffix", ["", "/", "/.", "/bin/.."])
def test_a_home_folder_on_the_path_is_not_readable(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "home" / "bin").mkdir(parents=True)
    readable = list_readable(tmp_path, f"{tmp_path}/home{suffix}:/usr/bin")
    assert not is_inside(f"{tmp_path}/home/secret", readable)


def test_an_attempt_leaves_no_file_of_the_executor(tmp_path: Path) -> None:
    """A later engine would read its exit status there, which processes are to be ended, and on which node it is."""
    files = tmp_path / "sandbox" / "files"
    files.mkdir(parents=True)
    for name in ("claim", "exit", "outfit.failed", "outfit.json", "node.json", "result.json", "scope", "transcript"):
        (files / name).write_text("0")
    collect_attempt_files(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["result.json"]
