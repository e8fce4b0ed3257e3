"""A sandboxed agent's git: what it commits and stages in its view of the repository becomes the task's, and nothing else."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from plait.git.objects import is_safe_path
from plait.git.worktrees.agent_worktree import VIEW_FOLDER
from plait.git.worktrees.capture import snapshot_workspace
from plait.git.worktrees.metadata import LeaseMetadata, write_lease
from plait.git.worktrees.replaced_repositories import disable_replaced_repositories
from plait.git.worktrees.result_checks import UnfinishedError
from plait.git.worktrees.sandbox_view import build_view
from plait.git.worktrees.view_absorption import absorb_view
from plait.git.worktrees.worktree import Repository
from tests.support.task_worktree import ATTEMPT, TaskWorktree


@dataclass(frozen=True)
class ViewedWorktree:
    """The agent's git uses the view, as it does in a sandbox where the view is mounted in the repository's place."""

    worktree: TaskWorktree

    @property
    def view(self) -> Path:
        return self.worktree.gitdir / VIEW_FOLDER

    @property
    def gitdir(self) -> Path:
        return self.view / "worktrees" / self.worktree.gitdir.name

    @property
    def env(self) -> Mapping[str, str]:
        objects = self.worktree.common / "objects"
        return {
            **self.worktree.env,
            "GIT_DIR": str(self.gitdir),
            "GIT_COMMON_DIR": str(self.view),
            "GIT_WORK_TREE": str(self.worktree.path),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(objects),
        }

    def git(self, *words: str, check: bool = True) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.worktree.path, env=self.env, check=check, capture_output=True, text=True
        )
        return done.stdout.rstrip("\n")

    def commit(self, name: str, content: str) -> str:
        self.worktree.write(name, content)
        self.git("add", "--", name)
        self.git("commit", "-q", "-m", f"agent: {name}")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def agent(worktree: TaskWorktree) -> ViewedWorktree:
    return open_view(worktree)


def open_view(worktree: TaskWorktree) -> ViewedWorktree:
    write_lease(worktree.gitdir, LeaseMetadata(ATTEMPT.batch, ATTEMPT.task, worktree.base))
    build_view(worktree.common, worktree.gitdir)
    return ViewedWorktree(worktree)


def list_files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_view_has_the_branches_and_the_index_of_the_worktree(agent: ViewedWorktree) -> None:
    assert agent.git("status", "--porcelain") == ""
    assert agent.git("log", "--format=%H") == agent.worktree.base
    assert agent.git("symbolic-ref", "HEAD") == f"refs/heads/{agent.worktree.branch}"
    assert agent.git("rev-parse", "trunk") == agent.worktree.base


@pytest.mark.parametrize("limit", [0, 1 << 16])
def test_a_view_has_all_refs_whether_they_are_packed_or_not(
    worktree: TaskWorktree, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    monkeypatch.setattr("plait.git.worktrees.sandbox_view._MAX_PACKED_BYTES", limit)
    worktree.git("tag", "-m", "packed", "v1")
    worktree.git("branch", "packed")
    worktree.git("branch", "a\u2028b")  # a line ends there for Python, and not for git
    worktree.git("pack-refs", "--all")
    worktree.git("commit", "-qm", "more", "--allow-empty")
    worktree.git("branch", "-f", "packed", "HEAD")  # which is loose as well now
    worktree.git("tag", "-m", "loose", "v2")
    worktree.git("update-ref", "refs/remotes/origin/main", "HEAD")
    worktree.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    build_view(worktree.common, worktree.gitdir)
    agent, names = ViewedWorktree(worktree), "--format=%(refname) %(objectname) %(*objectname) %(symref)"
    assert agent.git("for-each-ref", names) == worktree.git("for-each-ref", names)
    assert agent.git("describe") == "v2"


def test_hooks_can_be_read_and_examples_are_left_out(worktree: TaskWorktree) -> None:
    """Tools that put hooks of their own there put them into the view."""
    hooks, gitdir = worktree.common / "hooks", worktree.gitdir
    hooks.mkdir(exist_ok=True)
    (hooks / "pre-commit.sample").write_text("exit 1\n")
    assert str(hooks) not in dict(build_view(worktree.common, gitdir).readable)
    assert list_files(gitdir / VIEW_FOLDER / "hooks") == {}
    (hooks / "pre-commit").write_text("exit 0\n")
    assert dict(build_view(worktree.common, gitdir).readable)[str(hooks)] == str(hooks)


def test_a_view_has_the_settings_of_the_repository_without_passwords(worktree: TaskWorktree) -> None:
    header = "AUTHORIZATION: basic s3cret"
    worktree.git("config", "http.https://example.org/.extraheader", header)
    worktree.git("config", "remote.origin.url", "https://me:s3cret@example.org/a.git")
    worktree.git("config", "remote.other.url", "https://s3cret@example.org/a.git")
    worktree.git("config", "remote.shell.url", "ssh://git@example.org/a.git")
    build_view(worktree.common, worktree.gitdir)
    agent = ViewedWorktree(worktree)
    assert "s3cret" not in (agent.view / "config").read_text()
    assert agent.git("config", "--get-regexp", "remote.*url").splitlines() == [
        "remote.origin.url https://example.org/a.git",
        "remote.other.url https://example.org/a.git",
        "remote.shell.url ssh://git@example.org/a.git",
    ]
    assert worktree.git("config", "http.https://example.org/.extraheader") == header


def test_nothing_that_an_agent_does_with_git_changes_the_repository(agent: ViewedWorktree) -> None:
    before = list_files(agent.worktree.common)
    agent.commit("one.txt", "1\n")
    agent.git("checkout", "-q", "-b", "other")
    agent.commit("two.txt", "2\n")
    agent.worktree.write("a.txt", "changed\n")
    agent.git("stash")
    agent.git("config", "core.hooksPath", "evil")
    agent.git("tag", "v9")
    agent.git("update-ref", "refs/heads/trunk", "HEAD")
    after = {name: data for name, data in list_files(agent.worktree.common).items() if VIEW_FOLDER not in name}
    assert after == {name: data for name, data in before.items() if VIEW_FOLDER not in name}


def test_commits_of_the_agent_stay_in_the_history(agent: ViewedWorktree) -> None:
    own = agent.commit("one.txt", "1\n")
    agent.worktree.write("two.txt", "2\n")
    captured = agent.worktree.capture()
    assert set(captured.files) == {"one.txt", "two.txt"}
    assert agent.worktree.git("rev-parse", f"{captured.tip}^", at=agent.worktree.main) == own
    assert agent.worktree.is_clean()
    assert not agent.view.exists()


def test_commits_on_another_branch_and_stashes_are_saved(agent: ViewedWorktree) -> None:
    agent.git("checkout", "-q", "-b", "aside")
    aside = agent.commit("aside.txt", "1\n")
    agent.git("checkout", "-q", agent.worktree.branch)
    agent.worktree.write("a.txt", "stashed\n")
    agent.git("stash")
    stashed = agent.git("rev-parse", "refs/stash")
    agent.worktree.write("one.txt", "1\n")
    assert agent.worktree.capture().files == ("one.txt",)
    assert agent.worktree.is_saved(aside)
    assert agent.worktree.is_saved(stashed)
    assert agent.worktree.git("for-each-ref", "refs/heads/aside", "refs/stash", at=agent.worktree.main) == ""


@pytest.mark.parametrize("name", ["a\0b", "../../outside", "x" * 5000, "a/../../../outside"])
def test_a_ref_that_can_not_be_one_costs_no_commit(agent: ViewedWorktree, tmp_path: Path, name: str) -> None:
    own = agent.commit("one.txt", "1\n")
    (tmp_path / "outside").write_text(f"{own}\n")
    with (agent.view / "packed-refs").open("a") as file:
        file.write(f"{own} refs/heads/{name}\n")
    assert agent.worktree.capture().tip == own


def test_a_head_on_another_branch_counts_as_the_result(agent: ViewedWorktree) -> None:
    agent.git("checkout", "-q", "-b", "mine")
    own = agent.commit("one.txt", "1\n")
    assert agent.worktree.capture().tip == own


def test_staged_files_are_captured_also_ignored_ones(agent: ViewedWorktree) -> None:
    agent.worktree.write(".gitignore", "*.log\n")
    agent.worktree.write("kept.log", "log\n")
    agent.worktree.write("left.log", "log\n")
    agent.git("add", "-f", "kept.log")
    assert set(agent.worktree.capture().files) == {".gitignore", "kept.log"}


def test_a_file_that_is_as_it_was_staged_need_not_be_read_again(agent: ViewedWorktree) -> None:
    agent.worktree.write(".gitignore", "*.log\n")
    agent.worktree.write("out.log", "forced\n")
    agent.git("add", "-f", ".gitignore", "out.log")
    agent.worktree.write("edited.txt", "staged\n")
    agent.git("add", "edited.txt")
    agent.worktree.write("edited.txt", "edited\n")
    absorb_view(Repository(agent.worktree.common), agent.worktree.gitdir)
    assert agent.worktree.git("diff-files", "--name-only") == "edited.txt"
    assert "out.log" in agent.worktree.git("ls-files").splitlines()


def test_a_file_that_is_untracked_on_purpose_is_removed_from_the_result(agent: ViewedWorktree) -> None:
    agent.worktree.write(".gitignore", "b.txt\n")
    agent.git("rm", "-q", "--cached", "b.txt")
    captured = agent.worktree.capture()
    assert "b.txt" not in agent.worktree.files(captured.tip)
    assert (agent.worktree.path / "b.txt").exists()


def test_what_is_staged_and_committed_with_sha256_ids_is_captured(tmp_path: Path) -> None:
    agent = open_view(TaskWorktree.create(tmp_path, object_format="sha256"))
    own = agent.commit(".gitignore", "*.log\nb.txt\n")
    agent.worktree.write("kept.log", "log\n")
    agent.git("add", "-f", "kept.log")
    agent.git("rm", "-q", "--cached", "b.txt")
    captured = agent.worktree.capture()
    assert set(captured.files) == {".gitignore", "b.txt", "kept.log"}
    assert own in agent.worktree.git("rev-list", captured.tip, at=agent.worktree.main)


def test_an_unfinished_merge_with_conflicts_is_refused(agent: ViewedWorktree) -> None:
    agent.git("checkout", "-q", "-b", "left")
    agent.commit("a.txt", "left\n")
    agent.git("checkout", "-q", agent.worktree.branch)
    agent.commit("a.txt", "right\n")
    agent.git("merge", "left", check=False)
    with pytest.raises(Exception, match=r"left a merge unfinished, with conflicts in a\.txt"):
        agent.worktree.capture()


def test_packed_commits_are_imported(agent: ViewedWorktree) -> None:
    own = agent.commit("one.txt", "1\n")
    agent.git("gc", "--quiet")
    assert agent.worktree.capture().tip == own
    assert agent.worktree.git("fsck", "--no-dangling", at=agent.worktree.main) == ""


def test_a_history_that_is_too_large_is_left_out_but_its_files_are_not(
    agent: ViewedWorktree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plait.git.worktrees.view_absorption.MAX_IMPORT_BYTES", 10)
    own = agent.commit("one.txt", "1\n")
    captured = agent.worktree.capture()
    assert captured.files == ("one.txt",)
    assert agent.worktree.git("cat-file", "-e", own, at=agent.worktree.main, fails=True) == ""


def test_a_view_that_was_never_absorbed_is_absorbed_before_the_next_one(agent: ViewedWorktree) -> None:
    own = agent.commit("one.txt", "1\n")
    build_view(agent.worktree.common, agent.worktree.gitdir)
    assert agent.git("rev-parse", "HEAD") == own


# -- what a hostile agent may leave


def make_other_repository(folder: Path, worktree: TaskWorktree) -> tuple[Path, str]:
    """A repository of the user with a secret, and the secret's object."""
    other = folder / "private"
    other.mkdir()
    worktree.git("init", "-q", at=other)
    (other / "secret.txt").write_text("secret\n")
    return other, worktree.git("hash-object", "-w", "secret.txt", at=other)


def test_linked_object_folders_import_nothing_of_other_repositories(agent: ViewedWorktree, tmp_path: Path) -> None:
    other, secret = make_other_repository(tmp_path, agent.worktree)
    agent.commit("one.txt", "1\n")
    (agent.view / "objects" / secret[:2]).symlink_to(other / ".git" / "objects" / secret[:2])
    agent.worktree.capture()
    agent.worktree.git("cat-file", "-e", secret, at=agent.worktree.main, fails=True)


def test_no_file_is_written_through_a_link_in_the_view(agent: ViewedWorktree, tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    profile.write_text("mine\n")
    (agent.view / "index").symlink_to(profile)
    (agent.gitdir / "index").write_text("theirs\n")
    agent.worktree.write("one.txt", "1\n")
    assert agent.worktree.capture().files == ("one.txt",)
    assert profile.read_text() == "mine\n"


def test_a_folder_of_the_view_that_is_replaced_by_a_link_leads_to_no_file_outside(
    agent: ViewedWorktree, tmp_path: Path
) -> None:
    """Else another repository's objects would be imported, and its links and `info/alternates` removed."""
    other, secret = make_other_repository(tmp_path, agent.worktree)
    objects = other / ".git" / "objects"
    (objects / "info" / "alternates").write_text("/nowhere\n")
    (objects / "pack" / "mine").symlink_to("/nowhere")
    (agent.view / "objects").rename(agent.view / "moved")
    (agent.view / "objects").symlink_to(objects)
    agent.worktree.write("one.txt", "1\n")
    before = list_files(other)
    assert agent.worktree.capture().files == ("one.txt",)
    assert list_files(other) == before
    assert (objects / "pack" / "mine").is_symlink()
    agent.worktree.git("cat-file", "-e", secret, at=agent.worktree.main, fails=True)


def test_folders_that_are_nested_too_deep_cost_the_commits_only(agent: ViewedWorktree) -> None:
    try:
        for name in ("objects", "refs"):
            subprocess.run(["mkdir", "-p", "/".join("d" * 1200)], cwd=agent.view / name, check=True)
        agent.worktree.write("one.txt", "1\n")
        assert agent.worktree.capture().files == ("one.txt",)
    finally:
        subprocess.run(["rm", "-rf", agent.worktree.common], check=True)  # Python can't remove them


@pytest.mark.parametrize("tail", [b"garbage", b""])
def test_an_object_that_git_can_not_read_is_not_imported(agent: ViewedWorktree, tail: bytes) -> None:
    """Its name is right, so it would stay in the place of the real one whenever somebody makes that."""
    content = b"blob 7\0wanted\n" if tail else b"blob 8\0wanted\n"
    name = hashlib.sha1(content, usedforsecurity=False).hexdigest()
    place = agent.view / "objects" / name[:2] / name[2:]
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(zlib.compress(content) + tail)
    agent.worktree.write("one.txt", "1\n")
    agent.worktree.capture()
    assert not (agent.worktree.common / "objects" / name[:2] / name[2:]).exists()


def test_commits_without_their_files_are_not_taken_over(agent: ViewedWorktree) -> None:
    """A branch that holds one breaks `git gc` and `git fsck` of the repository."""
    agent.commit("one.txt", "1\n")
    blob = agent.git("rev-parse", "HEAD:one.txt")
    agent.git("branch", "aside")
    agent.commit("one.txt", "2\n")
    (agent.view / "objects" / blob[:2] / blob[2:]).unlink()
    assert agent.worktree.capture().files == ("one.txt",)
    assert agent.worktree.git("fsck", "--no-dangling", at=agent.worktree.main) == ""


@pytest.mark.parametrize("name", ["HEAD^{tree}", "HEAD:one.txt", "HEAD~^{tree}", "note", "1" * 40])
def test_nothing_but_a_commit_becomes_the_branch(agent: ViewedWorktree, name: str) -> None:
    """Git refuses to work with a branch that holds anything else."""
    agent.commit("one.txt", "1\n")
    agent.git("tag", "-a", "-m", "note", "note")
    branch = f"refs/heads/{agent.worktree.branch}"
    (agent.view / branch).write_text(f"{agent.git('rev-parse', name)}\n")
    (agent.worktree.common / "logs" / branch).unlink()  # as plait's worktrees have none
    absorb_view(Repository(agent.worktree.common), agent.worktree.gitdir)
    assert agent.worktree.git("cat-file", "-t", branch, at=agent.worktree.main) == "commit"
    assert agent.worktree.capture().files == ("one.txt",)
    assert agent.worktree.git("fsck", "--no-dangling", at=agent.worktree.main) == ""


def test_a_commit_that_another_ref_of_the_repository_holds_becomes_the_branch(agent: ViewedWorktree) -> None:
    own, common = agent.commit("one.txt", "1\n"), agent.worktree.common
    shutil.copytree(agent.view / "objects", common / "objects", dirs_exist_ok=True, ignore=lambda *_: ["info"])
    agent.worktree.git("update-ref", "refs/heads/other", own, at=agent.worktree.main)
    absorb_view(Repository(common), agent.worktree.gitdir)
    assert agent.worktree.git("rev-parse", agent.worktree.branch, at=agent.worktree.main) == own


def test_many_branches_of_an_agent_are_saved_up_to_a_limit(
    agent: ViewedWorktree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plait.git.worktrees.view_absorption._MAX_SAVED_REFS", 3)
    commits = "".join(f"commit refs/heads/b{n}\ncommitter a <a@b> {n} +0000\ndata 1\nx\n" for n in range(5))
    command = ["git", "fast-import", "--quiet"]
    subprocess.run(command, cwd=agent.worktree.path, env=agent.env, input=commits.encode(), check=True)
    agent.worktree.write("one.txt", "1\n")
    assert agent.worktree.capture().files == ("one.txt",)
    saved = agent.worktree.git("for-each-ref", "--format=%(refname)", "refs/plait/saved", at=agent.worktree.main)
    assert len(saved.splitlines()) == 3


def test_an_object_under_a_false_name_is_not_imported(agent: ViewedWorktree) -> None:
    """Or it would be taken for the real one whenever somebody makes that."""
    agent.worktree.write("wanted.txt", "wanted\n")
    wanted = agent.worktree.git("hash-object", "wanted.txt")
    agent.worktree.write("evil.txt", "evil\n")
    evil = agent.git("hash-object", "-w", "evil.txt")
    real = agent.view / "objects" / evil[:2] / evil[2:]
    false = agent.view / "objects" / wanted[:2] / wanted[2:]
    false.parent.mkdir(exist_ok=True)
    false.write_bytes(real.read_bytes())
    agent.worktree.capture()
    assert agent.worktree.show("HEAD", "a.txt") == "a"
    shown = subprocess.run(
        ["git", "cat-file", "blob", wanted],
        cwd=agent.worktree.path,
        env=agent.worktree.env,
        capture_output=True,
        check=False,
    )
    assert shown.stdout in {b"", b"wanted\n"}


def test_an_index_that_names_files_outside_of_the_worktree_captures_none_of_them(agent: ViewedWorktree) -> None:
    secret = agent.worktree.path.parent / "secret.txt"
    secret.write_text("secret\n")
    agent.worktree.write("xx/secret.txt", "x\n")
    agent.git("add", "xx/secret.txt")
    index = agent.gitdir / "index"
    content = index.read_bytes()[:-20].replace(b"xx/secret.txt", b"../secret.txt")
    index.write_bytes(content + hashlib.sha1(content, usedforsecurity=False).digest())
    captured = agent.worktree.capture()
    assert "secret\n" not in agent.worktree.files(captured.tip).values()
    assert captured.files == ("xx/secret.txt",)


def test_an_index_or_head_that_is_a_link_is_ignored(agent: ViewedWorktree, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret\n")
    for name in ("index", "HEAD", "MERGE_HEAD"):
        (agent.gitdir / name).unlink(missing_ok=True)
        (agent.gitdir / name).symlink_to(secret)
    agent.worktree.write("one.txt", "1\n")
    assert agent.worktree.capture().files == ("one.txt",)
    assert secret.read_text() == "secret\n"


def test_a_repository_that_the_agent_stages_as_a_submodule_runs_nothing(agent: ViewedWorktree, tmp_path: Path) -> None:
    """Git runs the filters that a repository's settings name."""
    proof = tmp_path / "ran"
    inner = agent.worktree.path / "inner"
    inner.mkdir()
    agent.worktree.git("init", "-q", at=inner)
    agent.worktree.write("x.txt", "x\n", at=inner)
    agent.worktree.git("add", "x.txt", at=inner)
    agent.worktree.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x", at=inner)
    agent.worktree.write(".gitattributes", "* filter=evil\n", at=inner)
    agent.worktree.write("x.txt", "other\n", at=inner)
    agent.worktree.git("config", "filter.evil.clean", f"touch {proof}; cat", at=inner)
    agent.git("-c", "advice.addEmbeddedRepo=false", "add", "inner")
    assert "160000" in agent.git("ls-files", "--stage", "inner")
    assert "inner/x.txt" in agent.worktree.capture().files
    assert not proof.exists()


def test_a_branch_of_the_user_is_not_moved(agent: ViewedWorktree) -> None:
    agent.commit("one.txt", "1\n")
    agent.git("update-ref", "refs/heads/trunk", "HEAD")
    agent.worktree.capture()
    assert agent.worktree.git("rev-parse", "trunk", at=agent.worktree.main) == agent.worktree.base


@pytest.mark.parametrize(
    ("path", "safe"),
    [
        ("a/b.txt", True),
        ("../x", False),
        ("a/../../x", False),
        ("/etc/passwd", False),
        (".git/config", False),
        ("a/.GIT/config", False),
        ("a//b", False),
        ("..x/y", True),
    ],
)
def test_only_paths_inside_of_the_worktree_are_staged(path: str, *, safe: bool) -> None:
    assert is_safe_path(path) is safe


def test_a_kill_while_a_view_is_absorbed_loses_nothing(agent: ViewedWorktree) -> None:
    """What was imported is imported again without effect."""
    own = agent.commit("one.txt", "1\n")
    copy = agent.view.with_name("copy")
    subprocess.run(["cp", "-a", agent.view, copy], check=True)
    agent.worktree.save()
    if not agent.view.exists():
        os.rename(copy, agent.view)  # noqa: PTH104 - as if it had not been removed
    assert agent.worktree.capture().tip == own


def make_lazy_repository(gitdir: Path, worktree: TaskWorktree, proof: Path) -> None:
    """One whose HEAD is missing: git runs a program that its settings name to fetch it."""
    worktree.git("init", "-q", "--bare", str(gitdir), at=gitdir.parent)
    settings = {
        "core.bare": "false",
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "evil",
        "remote.evil.url": str(gitdir),
        "remote.evil.promisor": "true",
        "remote.evil.uploadpack": f"touch {proof};",
    }
    for name, value in settings.items():
        worktree.git("config", "-f", str(gitdir / "config"), name, value, at=gitdir.parent)
    (gitdir / "HEAD").write_text(f"{'1' * 40}\n")


def test_a_repository_in_the_place_of_the_worktrees_own_runs_nothing(agent: ViewedWorktree, tmp_path: Path) -> None:
    """A mount protects `.git` only in the sandbox's own namespace."""
    (agent.worktree.path / ".git").unlink()
    make_lazy_repository(agent.worktree.path / ".git", agent.worktree, tmp_path / "ran")
    agent.worktree.write("one.txt", "1\n")
    (tmp_path / "ran").unlink(missing_ok=True)
    assert agent.worktree.capture().files == ("one.txt",)
    assert not (tmp_path / "ran").exists()
    assert agent.worktree.git("status", "--porcelain") == ""


# -- submodules


def make_hostile_repository(folder: Path, worktree: TaskWorktree, proof: Path) -> str:
    """One whose settings name programs that git runs in it, and its commit."""
    folder.mkdir(parents=True, exist_ok=True)
    worktree.git("init", "-q", at=folder)
    worktree.write("x.txt", "x\n", at=folder)
    worktree.git("add", "x.txt", at=folder)
    worktree.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x", at=folder)
    worktree.write(".gitattributes", "* filter=evil\n", at=folder)
    worktree.write("x.txt", "y\n", at=folder)  # of the same size, so git has to compare it
    worktree.git("config", "filter.evil.clean", f"touch {proof}; cat", at=folder)
    worktree.git("config", "core.fsmonitor", f"touch {proof}; false", at=folder)
    return worktree.git("rev-parse", "HEAD", at=folder)


@pytest.mark.parametrize("damage", ["", "objects/info", "objects"])
def test_a_repository_in_the_place_of_an_empty_submodule_runs_nothing(
    worktree: TaskWorktree, tmp_path: Path, damage: str
) -> None:
    """Also if the rest of the view can't be read."""
    worktree.git("update-index", "--add", "--cacheinfo", f"160000,{worktree.base},inner")
    worktree.git("commit", "-qm", "submodule")
    build_view(worktree.common, worktree.gitdir)
    if damage:
        shutil.rmtree(worktree.gitdir / VIEW_FOLDER / damage)
    make_hostile_repository(worktree.path / "inner", worktree, tmp_path / "ran")
    (tmp_path / "ran").unlink(missing_ok=True)
    with suppress(UnfinishedError):
        worktree.capture()
    assert not (tmp_path / "ran").exists()


def test_comparing_files_runs_nothing_of_a_repository_in_the_place_of_a_submodule(
    worktree: TaskWorktree, tmp_path: Path
) -> None:
    """`plait diff` while the agent works: its view isn't absorbed yet."""
    head = make_hostile_repository(worktree.path / "inner", worktree, tmp_path / "ran")
    worktree.git("update-index", "--add", "--cacheinfo", f"160000,{head},inner")
    worktree.git("commit", "-qm", "submodule")
    (tmp_path / "ran").unlink(missing_ok=True)
    worktree.write("one.txt", "1\n")
    before = list_files(worktree.common)
    git, tree = snapshot_workspace(Repository(worktree.common), worktree.path, worktree.base, tmp_path)
    assert git.run("diff-tree", "--name-only", "-z", "HEAD", tree).fields == ["one.txt"]
    assert list_files(worktree.common) == before
    assert not (tmp_path / "ran").exists()


def test_a_repository_that_the_agent_committed_as_a_submodule_runs_nothing(
    agent: ViewedWorktree, tmp_path: Path
) -> None:
    make_hostile_repository(agent.worktree.path / "inner", agent.worktree, tmp_path / "ran")
    agent.git("-c", "advice.addEmbeddedRepo=false", "add", "inner")
    agent.git("commit", "-qm", "inner")
    (tmp_path / "ran").unlink(missing_ok=True)
    agent.worktree.capture()
    assert not (tmp_path / "ran").exists()


def test_what_replaced_a_repository_is_disabled_before_a_view_is_absorbed(
    worktree: TaskWorktree, tmp_path: Path
) -> None:
    """After a setup, a score command or a gate, git works there as well."""
    worktree.git("update-index", "--add", "--cacheinfo", f"160000,{worktree.base},inner")
    worktree.git("commit", "-qm", "submodule")
    build_view(worktree.common, worktree.gitdir)
    assert not disable_replaced_repositories(worktree.gitdir)
    make_hostile_repository(worktree.path / "inner", worktree, tmp_path / "ran")
    assert disable_replaced_repositories(worktree.gitdir)
    (worktree.path / ".git").unlink()
    make_hostile_repository(worktree.path, worktree, tmp_path / "ran")
    (tmp_path / "ran").unlink(missing_ok=True)
    assert disable_replaced_repositories(worktree.gitdir)
    worktree.git("status", "--porcelain")
    assert not (tmp_path / "ran").exists()
    assert not disable_replaced_repositories(worktree.gitdir)


def test_a_submodule_that_is_replaced_by_a_link_changes_no_repository_outside(
    worktree: TaskWorktree, tmp_path: Path
) -> None:
    worktree.git("update-index", "--add", "--cacheinfo", f"160000,{worktree.base},inner")
    worktree.git("commit", "-qm", "submodule")
    build_view(worktree.common, worktree.gitdir)
    (worktree.gitdir / "modules").mkdir(exist_ok=True)
    other, _ = make_other_repository(tmp_path, worktree)
    (worktree.path / "inner").symlink_to(other)
    worktree.write("one.txt", "1\n")
    worktree.capture()
    assert (other / ".git").is_dir()
