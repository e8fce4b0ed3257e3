"""Commits travel to a node and back, and only what the receiver lacks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plait.core.errors import UserError, WorldError
from plait.git.bundles import BundleError, MissingCommitsError, create_bundle
from plait.git.node_mirror import list_tips, open_node_mirror, receive_commits
from plait.git.refs import BASES, attempt_ref, task_branch
from tests.support.cluster_node import BATCH, ClusterNode, make_attempt
from tests.support.git_repository import GitRepository


def head(repository: GitRepository) -> str:
    return repository.git("rev-parse", "HEAD")


def test_an_attempt_on_a_node_ends_as_a_commit_in_the_engines_repository(
    repository: GitRepository, node: ClusterNode
) -> None:
    base, attempt = head(repository), make_attempt()
    result = node.run(attempt, base, {"new.txt": "new\n", "a.txt": None})
    taken = node.return_result(attempt, result.tip, base)
    assert taken.tip == result.tip
    assert repository.files(taken.tip) == {"b.txt": "b\n", "folder/c.txt": "c\n" * 200, "new.txt": "new\n"}
    assert repository.git("rev-parse", attempt_ref(attempt), task_branch(BATCH, "one")).split() == [taken.tip] * 2
    assert repository.git("status", "--porcelain") == ""
    assert repository.git("fsck", "--strict", "--no-dangling") == ""


def test_git_itself_reads_a_bundle(repository: GitRepository, tmp_path: Path) -> None:
    bundle = tmp_path / "a.bundle"
    bundle.write_bytes(create_bundle(repository.git_dir, {"refs/heads/x": head(repository)}, ()))
    repository.git("clone", "-q", "-b", "x", str(bundle), str(tmp_path / "clone"))
    assert (tmp_path / "clone" / "a.txt").read_text() == "a\n"


def test_a_second_commit_costs_what_changed(repository: GitRepository, node: ClusterNode) -> None:
    repository.commit({f"many/{n}.txt": f"{n} {hash(n)}\n" * 50 for n in range(300)})
    first = node.send(head(repository))
    repository.commit({"many/7.txt": "seven\n"})
    second = node.send(head(repository))
    assert len(second) < len(first) / 20
    assert node.git("cat-file", "-p", f"{head(repository)}:many/7.txt") == "seven"


def test_nothing_is_sent_that_the_node_has(repository: GitRepository, node: ClusterNode) -> None:
    old = head(repository)
    repository.commit({"a.txt": "b\n"})
    node.send(head(repository))
    assert node.send(head(repository)) == b""
    assert node.send(old) == b""
    assert node.git("rev-parse", f"{BASES}/{old}") == old


def test_a_commit_that_no_ref_holds_is_sent(repository: GitRepository, node: ClusterNode) -> None:
    commit = repository.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "no ref")
    node.send(commit)
    assert node.git("log", "-1", "--format=%s", commit) == "no ref"


def test_the_whole_history_travels(repository: GitRepository, node: ClusterNode) -> None:
    for n in range(5):
        repository.commit({"a.txt": f"{n}\n"})
    node.send(head(repository))
    assert node.git("rev-list", "--count", head(repository)) == "6"


def test_a_node_that_lacks_what_a_bundle_builds_on_says_so(repository: GitRepository, node: ClusterNode) -> None:
    old = head(repository)
    new = repository.commit({"a.txt": "b\n"})
    refs = {f"{BASES}/{new}": new}
    data = create_bundle(repository.git_dir, refs, [old])
    with pytest.raises(MissingCommitsError) as error:
        receive_commits(node.mirror, data, refs)
    assert error.value.missing == (old,)
    assert list_tips(node.mirror) == ()
    receive_commits(node.mirror, create_bundle(repository.git_dir, refs, ()), refs)
    assert list_tips(node.mirror) == (new,)


@pytest.mark.parametrize("damage", ["cut off", "gone", "without index"])
def test_a_node_with_a_damaged_mirror_asks_for_everything(
    repository: GitRepository, node: ClusterNode, damage: str
) -> None:
    commit = head(repository)
    refs = {f"{BASES}/{commit}": commit}
    node.send(commit)
    receive_commits(node.mirror, b"", refs)
    (pack,) = (node.mirror / "objects" / "pack").glob("*.pack")
    if damage == "cut off":
        pack.chmod(0o600)
        os.truncate(pack, pack.stat().st_size // 2)
    else:
        (pack if damage == "gone" else pack.with_suffix(".idx")).unlink()
    with pytest.raises(MissingCommitsError):
        receive_commits(node.mirror, b"", refs)
    receive_commits(node.mirror, create_bundle(repository.git_dir, refs, ()), refs)
    assert node.prepare("one", commit).is_dir()


def test_unknown_commits_of_a_node_are_ignored(repository: GitRepository) -> None:
    commit = head(repository)
    refs = {"refs/plait/x": commit}
    whole = create_bundle(repository.git_dir, refs, ())
    assert create_bundle(repository.git_dir, refs, ["1" * 40, "not an id", repository.tree(commit)]) == whole


@pytest.mark.parametrize("count", [0, 1])
def test_a_bundle_without_the_commit_that_was_asked_for_is_refused(
    repository: GitRepository, node: ClusterNode, count: int
) -> None:
    old = head(repository)
    new = repository.commit({"a.txt": "b\n"})
    data = create_bundle(repository.git_dir, {f"{BASES}/{old}": old}, ()) if count else b""
    with pytest.raises(BundleError):
        receive_commits(node.mirror, data, {f"{BASES}/{new}": new})
    assert list_tips(node.mirror) == ()


def test_a_commit_that_is_missing_is_named(repository: GitRepository) -> None:
    with pytest.raises(WorldError, match="has no commit 1111"):
        create_bundle(repository.git_dir, {"refs/plait/x": "1" * 40}, ())


def test_a_partial_clone_is_refused(repository: GitRepository, tmp_path: Path) -> None:
    repository.git("config", "uploadpack.allowFilter", "true")
    repository.git("clone", "-q", "--filter=blob:none", f"file://{repository.top}", str(tmp_path / "partial"))
    with pytest.raises(UserError, match="partial clone"):
        create_bundle(tmp_path / "partial" / ".git", {"refs/plait/x": head(repository)}, ())


def test_sha256_commits_travel(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "home", "--object-format=sha256")
    base = repository.commit({"a.txt": "a\n"})
    node, attempt = ClusterNode(tmp_path / "node", repository, "sha256"), make_attempt()
    result = node.run(attempt, base, {"new.txt": "new\n"})
    assert repository.files(node.return_result(attempt, result.tip, base).tip) == {"a.txt": "a\n", "new.txt": "new\n"}


def test_a_shallow_clone_is_sent_as_far_as_it_goes(repository: GitRepository, tmp_path: Path) -> None:
    repository.commit({"a.txt": "b\n"})
    commit = repository.commit({"a.txt": "c\n"})
    shallow = GitRepository.__new__(GitRepository)
    shallow.top, shallow.env = tmp_path / "shallow", repository.env
    repository.git("clone", "-q", "--depth=2", f"file://{repository.top}", str(shallow.top))
    mirror = open_node_mirror(tmp_path / "mirror.git", shallow=(shallow.git("rev-parse", "HEAD~1"),))
    refs = {f"{BASES}/{commit}": commit}
    receive_commits(mirror, create_bundle(shallow.git_dir, refs, ()), refs)
    assert repository.git("rev-list", "--count", commit, at=mirror) == "2"
    assert repository.git("fsck", "--no-dangling", at=mirror) == ""


def test_replaced_commits_travel_as_they_are(repository: GitRepository, node: ClusterNode) -> None:
    commit = head(repository)
    other = repository.git("commit-tree", "HEAD^{tree}", "-m", "in its place")
    repository.git("replace", commit, other)
    node.send(commit)
    assert node.git("log", "-1", "--format=%s", commit) == "work"


def test_borrowed_objects_travel(repository: GitRepository, tmp_path: Path) -> None:
    repository.git("clone", "-q", "--shared", str(repository.top), str(tmp_path / "borrower"))
    borrower = GitRepository(tmp_path / "borrower")
    node = ClusterNode(tmp_path / "node", borrower)
    node.send(head(borrower))
    assert node.git("cat-file", "-p", f"{head(borrower)}:a.txt") == "a"
