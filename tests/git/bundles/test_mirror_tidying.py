"""What a node's mirror keeps when no attempt uses it."""

from __future__ import annotations

import os
import time

import pytest

from plait.git import node_mirror
from plait.git.node_mirror import UNUSED_SECONDS, receive_commits, tidy_mirror
from plait.git.refs import BASES
from tests.support.cluster_node import ClusterNode
from tests.support.git_repository import GitRepository


def send_commits(repository: GitRepository, node: ClusterNode, count: int) -> list[str]:
    sent = []
    for number in range(count):
        repository.commit({"a.txt": f"{number}\n"})
        sent.append(repository.git("rev-parse", "HEAD"))
        node.send(sent[-1])
    return sent


def test_many_packs_are_joined(repository: GitRepository, node: ClusterNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_mirror, "MAX_PACKS", 3)
    packs = node.mirror / "objects" / "pack"
    sent = send_commits(repository, node, 3)
    tidy_mirror(node.mirror)
    assert len([*packs.glob("*.pack")]) == 3
    sent += send_commits(repository, node, 1)
    tidy_mirror(node.mirror)
    assert len([*packs.glob("*.pack")]) == 1
    for commit in sent:
        receive_commits(node.mirror, b"", {f"{BASES}/{commit}": commit})
    assert node.git("fsck", "--strict") == ""


def test_a_commit_that_was_not_used_for_long_is_forgotten(repository: GitRepository, node: ClusterNode) -> None:
    old, new = send_commits(repository, node, 2)
    then = time.time() - UNUSED_SECONDS - 60
    for name in (old, "not-a-commit"):
        (node.mirror / "plait" / "bases" / name).touch()
        os.utime(node.mirror / "plait" / "bases" / name, (then, then))
    tidy_mirror(node.mirror)
    assert node.git("for-each-ref", "--format=%(refname)", BASES) == f"{BASES}/{new}"
    tidy_mirror(node.mirror)
