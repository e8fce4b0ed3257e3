"""What a sandboxed attempt finds of the user's home folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.agents.table import AGENTS
from plait.core.settings import SandboxMode
from plait.core.task import Attempt, Step
from plait.runtime.executor import AttemptSpec
from plait.runtime.sandbox.layout import Access, Mount, is_inside
from plait.runtime.sandbox.preparation import (
    SandboxPlaces,
    collect_attempt_files,
    prepare_layout,
    remove_private_folder,
)
from plait.runtime.sandbox.spec import SandboxSpec


def list_readable(tmp_path: Path, path: str) -> list[str]:
    """Paths that are mounted from the disk as they are, for this PATH."""
    mounts = list_mounts(tmp_path, path, SandboxSpec(SandboxMode.WORKTREE))
    return [
        mount.target for mount in mounts if mount.access is Access.READ and mount == Mount(mount.target, mount.access)
    ]


def list_mounts(tmp_path: Path, path: str, sandbox: SandboxSpec) -> tuple[Mount, ...]:
    home = tmp_path / "home"
    spec = AttemptSpec(
        Attempt("b", "t", Step.WRITE, 1),
        ("true",),
        str(tmp_path / "work"),
        env={"HOME": str(home), "PATH": path},
    )
    places = SandboxPlaces(tmp_path / "state" / "attempt", tmp_path / "state")
    return prepare_layout(spec, sandbox, places).mounts


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


@pytest.mark.parametrize(
    ("agent", "name", "access"),
    [
        ("claude", ".claude/.credentials.json", "the real one"),
        ("claude", ".claude/settings.json", "a copy"),
        ("claude", ".claude/skills/one.md", "read"),
        ("claude", ".claude/ide/1234.lock", "none"),
        ("claude", ".claude/daemon/control.key", "none"),
        ("codex", ".codex/auth.json", "the real one"),
        ("codex", ".codex/config.toml", "a copy"),
        ("gemini", ".gemini/tmp/project/chats/one.json", "the real one"),
        ("gemini", ".gemini/tmp/bin/rg", "read"),
        ("qwen", ".qwen/ide/1234.lock", "none"),
        ("opencode", ".local/share/opencode/log/opencode.log", "none"),
        ("opencode", ".local/share/opencode/bin/server", "read"),
        ("copilot", ".copilot/config.json", "a copy"),
        ("cline", ".cline/data/secrets.json", "the real one"),
        ("cline", ".cline/data/settings/providers.json", "the real one"),
        ("cline", ".cline/data/settings/cline_mcp_settings.json", "a copy"),
        ("cursor-agent", ".cursor/cli-config.json", "a copy"),
    ],
)
def test_an_agent_changes_nothing_that_a_later_session_trusts(
    tmp_path: Path, agent: str, name: str, access: str
) -> None:
    """Hooks, servers, permissions and programs that it runs; and it gets no key of a server outside, such as an editor's. Logs
    it writes for itself: where they can't be written, some don't start.
    """
    file = tmp_path / "home" / name
    file.parent.mkdir(parents=True)
    file.write_text("x")
    sandbox = SandboxSpec(SandboxMode.WORKTREE, folders=AGENTS[agent].folders)
    mounts = {mount.target: mount for mount in list_mounts(tmp_path, "/usr/bin", sandbox)}
    around = next(mounts[str(path)] for path in (file, *file.parents) if str(path) in mounts)
    place = Path(around.origin, file.relative_to(around.target))
    known = {(Access.WRITE, True): "the real one", (Access.READ, True): "read", (Access.WRITE, False): "a copy"}
    assert (known[around.access, place == file] if place.exists() else "none") == access


def test_a_folder_of_programs_is_there_before_an_agent_could_make_it(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    list_mounts(tmp_path, "/usr/bin", SandboxSpec(SandboxMode.WORKTREE, folders=AGENTS["gemini"].folders))
    programs = tmp_path / "home" / ".gemini" / "tmp" / "bin"
    assert programs.is_dir()


def test_programs_that_an_agent_exchanged_by_a_trick_are_removed(tmp_path: Path) -> None:
    """By one with mounts of its own (`swap_git_folder` of the hostile agent)."""
    programs, sandbox = tmp_path / "home" / ".gemini" / "tmp" / "bin", AGENTS["gemini"].folders
    programs.mkdir(parents=True)
    (programs / "rg").write_text("real")
    list_mounts(tmp_path, "/usr/bin", SandboxSpec(SandboxMode.WORKTREE, folders=sandbox))
    remove_private_folder(tmp_path / "state" / "attempt" / "sandbox")
    assert (programs / "rg").read_text() == "real"
    list_mounts(tmp_path, "/usr/bin", SandboxSpec(SandboxMode.WORKTREE, folders=sandbox))
    programs.rename(programs.with_name("other"))
    programs.mkdir()
    (programs / "rg").write_text("evil")
    remove_private_folder(tmp_path / "state" / "attempt" / "sandbox")
    assert not programs.exists()
