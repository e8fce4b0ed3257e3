"""What a node returns is checked before it touches the engine's repository."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace

import pytest

from plait.core.errors import WorldError
from plait.core.task import Step
from plait.git.bundles import BundleError, PackLimits, create_bundle
from plait.git.interfaces import CapturedChange, CaptureOptions
from plait.git.refs import attempt_ref, saved_ref, task_branch
from plait.git.result_bundles import (
    ExpectedResult,
    RejectedResultError,
    StaleResultError,
    create_result_bundle,
    take_over_result,
)
from tests.support.cluster_node import AUTHOR, BATCH, ClusterNode, make_attempt
from tests.support.git_repository import GitRepository, environment

ATTEMPT = make_attempt()
OWN_REF = attempt_ref(ATTEMPT)


@pytest.fixture
def base(repository: GitRepository, node: ClusterNode) -> str:
    commit = repository.git("rev-parse", "HEAD")
    node.send(commit)
    return commit


@pytest.fixture
def unchanged(repository: GitRepository) -> Callable[[], bool]:
    """Whether the repository still has the refs and objects that it has now, and no leftovers."""

    def look() -> tuple[str, list[str], str]:
        objects = repository.git("cat-file", "--batch-all-objects", "--batch-check").splitlines()
        plait = sorted(str(path) for path in (repository.git_dir / "plait").rglob("*") if path.is_file())
        return repository.git("for-each-ref"), sorted(objects), "\n".join(plait)

    before = look()
    return lambda: look() == before


def take(repository: GitRepository, data: bytes, expected: ExpectedResult) -> str:
    return take_over_result(repository.git_dir, data, expected, environment()).tip


def write_tree(node: ClusterNode, mode: str, name: str, target: str) -> str:
    """A tree with one entry, whatever its name: git itself would refuse some."""
    entry = f"{mode} {name}\0".encode() + bytes.fromhex(target)
    return node.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", feed=entry)


def commit_tree(node: ClusterNode, tree: str, *parents: str) -> str:
    return node.git(
        "-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", tree, "-m", "x", *(f"-p{each}" for each in parents)
    )


def bundle(node: ClusterNode, tip: str, base: str, ref: str = OWN_REF) -> bytes:
    return create_bundle(node.mirror, {ref: tip}, [base])


def bundle_objects(node: ClusterNode, tip: str, base: str, *objects: str, ref: str = OWN_REF) -> bytes:
    """A bundle of the tip with exactly these objects."""
    header = f"# v2 git bundle\n-{base} \n{tip} {ref}\n\n".encode()
    return header + node.git_bytes("pack-objects", "--stdout", "--quiet", feed="\n".join((*objects, "")).encode())


@pytest.mark.parametrize(
    "entry", ["40000 .git", "40000 ..", "40000 GIT~1", "100644 a/b", "120000 .gitmodules"], ids=lambda entry: entry[-5:]
)
def test_a_path_that_leads_elsewhere_is_refused(
    repository: GitRepository, node: ClusterNode, base: str, unchanged: Callable[[], bool], entry: str
) -> None:
    mode, name = entry.split()
    blob = node.git("hash-object", "-w", "--stdin", feed=b"#!/bin/sh\n")
    target = write_tree(node, "100755", "config", blob) if mode == "40000" else blob
    tip = commit_tree(node, write_tree(node, mode, name, target), base)
    with pytest.raises(RejectedResultError, match=r"git refuses|leads out of the workspace"):
        take(repository, bundle(node, tip, base), ExpectedResult(ATTEMPT, tip, base))
    assert unchanged()


def test_a_ref_of_the_nodes_own_choice_is_refused(
    repository: GitRepository, node: ClusterNode, base: str, unchanged: Callable[[], bool]
) -> None:
    tip = commit_tree(node, f"{base}^{{tree}}", base)
    for ref in ("refs/heads/trunk", attempt_ref(make_attempt("two")), f"{OWN_REF}0"):
        data = create_bundle(node.mirror, {OWN_REF: tip, ref: tip}, [base])
        with pytest.raises(RejectedResultError, match="ref of its own choice"):
            take(repository, data, ExpectedResult(ATTEMPT, tip, base))
    assert unchanged()


def test_another_commit_than_the_announced_one_is_refused(
    repository: GitRepository, node: ClusterNode, base: str, unchanged: Callable[[], bool]
) -> None:
    tip = commit_tree(node, f"{base}^{{tree}}", base)
    other = commit_tree(node, f"{base}^{{tree}}", tip)
    with pytest.raises(RejectedResultError, match="not at the commit"):
        take(repository, bundle(node, other, base), ExpectedResult(ATTEMPT, tip, base))
    assert unchanged()


@pytest.mark.parametrize("tip", ["HEAD", "--all", "trunk\0", "\n"])
def test_a_result_is_named_by_its_object_id(repository: GitRepository, base: str, tip: str) -> None:
    """Also where nothing has to be sent."""
    with pytest.raises(RejectedResultError, match="names no commit"):
        take_over_result(repository.git_dir, b"", ExpectedResult(make_attempt(), tip, base), environment())


def test_a_result_that_does_not_descend_from_its_base_is_refused(
    repository: GitRepository, node: ClusterNode, base: str, unchanged: Callable[[], bool]
) -> None:
    tip = commit_tree(node, f"{base}^{{tree}}")
    with pytest.raises(RejectedResultError, match="does not descend from its base"):
        take(repository, bundle(node, tip, base), ExpectedResult(ATTEMPT, tip, base))
    assert unchanged()


def test_a_file_over_the_limit_is_refused_even_if_a_later_commit_removes_it(
    repository: GitRepository, node: ClusterNode, base: str, unchanged: Callable[[], bool]
) -> None:
    large = commit_tree(node, write_tree(node, "100644", "large", _random_blob(node, 5000)), base)
    removed = commit_tree(node, f"{base}^{{tree}}", large)
    for tip in (large, removed):
        with pytest.raises(RejectedResultError, match=r"workspace\.largest_file"):
            take(repository, bundle(node, tip, base), ExpectedResult(ATTEMPT, tip, base, max_file_bytes=4000))
    assert unchanged()
    assert take(repository, bundle(node, removed, base), ExpectedResult(ATTEMPT, removed, base, 6000)) == removed


def test_a_small_bundle_that_unpacks_to_much_is_refused(
    repository: GitRepository, node: ClusterNode, base: str, unchanged: Callable[[], bool]
) -> None:
    zeros = node.git("hash-object", "-w", "--stdin", feed=b"\0" * 3_000_000)
    tip = commit_tree(node, write_tree(node, "100644", "zeros", zeros), base)
    data = bundle(node, tip, base)
    assert len(data) < 10_000
    expected = ExpectedResult(ATTEMPT, tip, base)
    for limits in (PackLimits(objects=2), PackLimits(object_bytes=2_000_000), PackLimits(total_bytes=2_000_000)):
        with pytest.raises(BundleError, match="are allowed"):
            take(repository, data, replace(expected, limits=limits))
    assert unchanged()
    assert take(repository, data, expected) == tip


def test_a_damaged_bundle_changes_nothing_and_the_intact_one_is_taken_later(
    repository: GitRepository, node: ClusterNode, base: str, unchanged: Callable[[], bool]
) -> None:
    tip = node.run(ATTEMPT, base, {"new.txt": "new\n" * 50}).tip
    data = create_result_bundle(node.mirror, ATTEMPT, tip, base)
    expected = ExpectedResult(ATTEMPT, tip, base)
    pack = data.index(b"PACK")
    damaged = [data[:n] for n in (1, pack // 2, pack, pack + 12, len(data) - 1)]
    damaged += [data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :] for at in range(pack, len(data), 31)]
    for each in damaged:
        with pytest.raises((BundleError, RejectedResultError)):
            take(repository, each, expected)
    assert unchanged()
    assert take(repository, data, expected) == tip


def test_a_result_without_one_of_its_files_is_refused(
    repository: GitRepository, node: ClusterNode, base: str, unchanged: Callable[[], bool]
) -> None:
    missing = hashlib.sha1(b"blob 5\0never").hexdigest()
    tip = commit_tree(node, write_tree(node, "100644", "never", missing), base)
    data = bundle_objects(node, tip, base, tip, node.git("rev-parse", f"{tip}^{{tree}}"))
    with pytest.raises(BundleError, match=f"not complete.*{missing}"):
        take(repository, data, ExpectedResult(ATTEMPT, tip, base))
    assert unchanged()


def test_a_result_is_kept_whole_and_without_what_it_does_not_lead_to(
    repository: GitRepository, node: ClusterNode, base: str
) -> None:
    """Whatever objects come with it, and whatever the repository happens to have."""
    junk = _random_blob(node, 100)
    for n in range(4):
        content = f"there already: {n}\n"
        blob = repository.git("hash-object", "-w", "--stdin", feed=content)
        assert node.git("hash-object", "-w", "--stdin", feed=content.encode()) == blob
        others = ((blob,), (blob, junk), (junk,), ())[n]
        name = make_attempt(f"task-{n}")
        tree = write_tree(node, "40000", f"folder-{n}", write_tree(node, "100644", f"file-{n}", blob))
        tip = commit_tree(node, tree, base)
        inner = node.git("rev-parse", f"{tip}:folder-{n}")
        data = bundle_objects(node, tip, base, tip, tree, inner, *others, ref=attempt_ref(name))
        assert take(repository, data, ExpectedResult(name, tip, base)) == tip
    repository.git("prune", "--expire=now")
    repository.git("fsck", "--full", "--strict")
    assert junk not in repository.git("cat-file", "--batch-all-objects", "--batch-check")


def test_a_result_that_builds_on_unknown_commits_is_refused(
    repository: GitRepository, node: ClusterNode, base: str, unchanged: Callable[[], bool]
) -> None:
    between = commit_tree(node, f"{base}^{{tree}}", base)
    tip = commit_tree(node, f"{base}^{{tree}}", between)
    with pytest.raises(BundleError, match=between):
        take(repository, bundle(node, tip, between), ExpectedResult(ATTEMPT, tip, base))
    assert unchanged()


def test_a_result_is_taken_once_however_often_it_comes(repository: GitRepository, node: ClusterNode, base: str) -> None:
    tip = node.run(ATTEMPT, base, {"new.txt": "new\n"}).tip
    assert node.return_result(ATTEMPT, tip, base) == node.return_result(ATTEMPT, tip, base)
    other = node.run(ATTEMPT, base, {"other.txt": "other\n"}).tip
    assert other != tip
    with pytest.raises(StaleResultError, match="has another result already"):
        node.return_result(ATTEMPT, other, base)
    assert repository.git("rev-parse", OWN_REF) == tip


def test_a_result_is_complete_before_the_nodes_refs_are_moved(
    repository: GitRepository, node: ClusterNode, base: str
) -> None:
    """The node may be killed at that instant."""
    sent: list[tuple[str, bytes]] = []

    def send(change: CapturedChange) -> None:
        assert change.files == ("new.txt",)
        sent.append((change.tip, create_result_bundle(node.mirror, ATTEMPT, change.tip, base, change.pack)))
        raise KeyboardInterrupt

    workspace = node.prepare(ATTEMPT.task, base)
    (workspace / "new.txt").write_text("new\n")
    with pytest.raises(KeyboardInterrupt):
        node.workspaces.capture(ATTEMPT, base, CaptureOptions(AUTHOR, lambda _: None, on_packed=send))
    assert OWN_REF not in node.git("for-each-ref")
    ((tip, data),) = sent
    assert take(repository, data, ExpectedResult(ATTEMPT, tip, base)) == tip
    assert repository.git("show", f"{tip}:new.txt") == "new"
    node.workspaces.reset(replace(ATTEMPT, step=Step.VERIFY), tip)
    assert node.git("rev-parse", f"refs/heads/{task_branch(BATCH, ATTEMPT.task)}") == tip
    assert node.git("status", "--porcelain", at=workspace) == ""
    assert "saved" not in node.git("for-each-ref")


def test_a_result_comes_too_late_if_a_later_attempt_has_one(
    repository: GitRepository, node: ClusterNode, base: str
) -> None:
    """A node that was cut off comes back after its attempt was given to another."""
    late = node.run(ATTEMPT, base, {"late.txt": "late\n"}).tip
    second = make_attempt(n=2)
    tip = node.run(second, base, {"second.txt": "second\n"}).tip
    node.return_result(second, tip, base)
    with pytest.raises(StaleResultError, match="attempt 2 has one"):
        node.return_result(ATTEMPT, late, base)
    assert repository.git("rev-parse", task_branch(BATCH, "one")) == tip
    assert OWN_REF not in repository.git("for-each-ref")


def test_a_branch_that_the_user_has_checked_out_is_not_moved(
    repository: GitRepository, node: ClusterNode, base: str
) -> None:
    tip = node.run(ATTEMPT, base, {"new.txt": "new\n"}).tip
    repository.git("checkout", "-q", "-b", task_branch(BATCH, "one"))
    with pytest.raises(WorldError, match="is checked out in") as error:
        node.return_result(ATTEMPT, tip, base)
    assert "switch --detach" in error.value.hint
    repository.git("switch", "-q", "--detach")
    assert node.return_result(ATTEMPT, tip, base).tip == tip


def test_saved_work_comes_with_the_result(repository: GitRepository, node: ClusterNode, base: str) -> None:
    saved = commit_tree(node, write_tree(node, "100644", "draft", _random_blob(node, 100)), base)
    node.git("update-ref", saved_ref(BATCH, "one", 1), saved)
    taken = node.return_result(ATTEMPT, "", base)
    assert taken.tip == ""
    (ref,) = taken.saved.values()
    assert repository.git("rev-parse", ref) == saved
    assert OWN_REF not in repository.git("for-each-ref")


def _random_blob(node: ClusterNode, size: int) -> str:
    data = b"".join(hashlib.sha256(bytes([n])).digest() for n in range(255)) * (size // 8000 + 1)
    return node.git("hash-object", "-w", "--stdin", feed=data[:size])
