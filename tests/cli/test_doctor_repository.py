"""What `plait doctor` says of worktrees and of the remote."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plait.client.doctor.check import CheckStatus, DoctorCheck
from plait.client.doctor.checkup import check_remote, check_worktrees
from plait.client.doctor.state_checks import find_leftover_worktrees
from plait.config.loading import load_config
from plait.git.command import Git

OLD = 1_000_000_000.0
CAP = 1 << 30


def made(root: Path, *names: str, old: bool = True) -> None:
    for name in names:
        folder = root / name
        folder.mkdir(parents=True)
        (folder / "file").write_bytes(b"x" * 10_000)
        if old:
            os.utime(folder, (OLD, OLD))


def left(root: Path, *, engine: bool = False, **batches: bool) -> list[str]:
    """The batches with whether each has ended."""
    found = list(find_leftover_worktrees(root, batches, engine=engine))
    assert all(check.hint == "plait gc lists and removes what isn't needed." for check in found)
    return [check.text for check in found]


def test_worktrees_are_counted_and_compared_with_the_disk_cap(tmp_path: Path) -> None:
    root = tmp_path / "repository-0a1b"
    assert check_worktrees(root, CAP).text == f"{root}: none yet"
    made(root, "batch-b1/task-a", "batch-b1/gate", "pool/plait-1", "setups/one")
    result = check_worktrees(root, CAP)
    assert result.verdict is CheckStatus.OK
    assert result.text.startswith(f"{root}: 2 in use, 1 kept for the next tasks, ")
    assert result.text.endswith(" of 1.0 GiB (workspace.disk_cap)")
    crowded = check_worktrees(root, 20_000)
    assert crowded.verdict is CheckStatus.WARNING
    assert crowded.text.endswith("(workspace.disk_cap): no task starts in a new one")
    assert crowded.hint.startswith("plait gc")


def test_a_location_that_is_not_writable_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    result = check_worktrees(tmp_path / "file" / "root", CAP)
    assert (result.verdict, result.text) == (
        CheckStatus.WARNING,
        f"{tmp_path / 'file' / 'root'}: {tmp_path / 'file'} isn't a folder",
    )


def test_unused_worktrees_are_reported_with_a_hint_to_gc(tmp_path: Path) -> None:
    made(tmp_path, "batch-b1/task-a", "batch-b2/task-a", "batch-b3/gate", "making/plait-1", "pool/plait-2")
    assert left(tmp_path, b1=True, b2=False) == [
        "1 worktree of batches that have ended: batch-b1/task-a",
        "1 worktree of no batch: batch-b3/gate",
        "1 worktree left incomplete: making/plait-1",
    ]
    assert left(tmp_path, engine=True, b1=True) == []  # it clears up by itself
    assert left(tmp_path / "nowhere") == []


def test_fresh_worktrees_of_unknown_batches_are_not_reported(tmp_path: Path) -> None:
    made(tmp_path, "batch-b1/task-a", "making/plait-1", old=False)
    assert left(tmp_path, b1=True) == []


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """Without a remote, and without tokens of this machine."""
    for name in ("PLAIT_FORGE_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "GITEA_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    git = Git(tmp_path)
    git.run("init", "--quiet")
    return git


def check(repo: Git, url: str, settings: str = "") -> DoctorCheck:
    repo.run("remote", "add", "origin", url)
    Path(repo.cwd, "plait.toml").write_text(settings)
    return check_remote(repo, load_config(Path(repo.cwd)))


def test_the_remote_is_shown_with_the_origin_of_its_token(repo: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GH_TOKEN", "abc")
    found = check(repo, "https://github.com/a/b.git")
    assert found.text == "origin at github.com (github), with a token from GH_TOKEN"
    assert found.hint == ""


def test_an_invalid_token_is_a_warning(repo: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GH_TOKEN", "not a token")
    found = check(repo, "https://github.com/a/b.git")
    assert (found.verdict, found.text.startswith("origin: GH_TOKEN")) == (CheckStatus.WARNING, True)


def test_a_missing_token_is_no_problem_and_has_a_hint(repo: Git) -> None:
    found = check(repo, "https://git.example.org/a/b.git", '[pr]\nforge = "gitea"\n')
    assert found.verdict is CheckStatus.OK
    assert found.text.startswith("origin at git.example.org (gitea): no token found")
    assert found.hint.startswith("Set PLAIT_FORGE_TOKEN or ")


def test_a_missing_remote_or_one_without_a_forge_is_no_problem(repo: Git, tmp_path: Path) -> None:
    missing = check_remote(repo, load_config(tmp_path))
    assert (missing.verdict, missing.text.startswith("no remote named origin")) == (CheckStatus.OK, True)
    folder = check(repo, str(tmp_path / "other.git"))
    assert (folder.verdict, "branches can be pushed" in folder.text) == (CheckStatus.OK, True)
