from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.core.errors import Bug
from plait.forges.forge import ForgeError
from plait.forges.remote import (
    PushRejectedError,
    count_new_commits,
    fetch_target,
    find_default_branch,
    push_branch,
)
from plait.git.command import Git

if TYPE_CHECKING:
    from tests.forges.conftest import Clone

BRANCH = "plait/batch-7f3a"
REF = f"refs/heads/{BRANCH}"


def list_refs(bare: Git) -> dict[str, str]:
    lines = bare.text("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    return dict(line.split(" ", 1) for line in lines)


def test_exactly_the_commit_is_pushed_and_nothing_else(clone: Clone, bare: Git) -> None:
    tip = clone.commit("tip", clone.first)
    clone.git.run("tag", "-a", "-m", "v", "v1", tip)
    clone.git.run("config", "push.followTags", "true")
    clone.git.run("update-ref", "refs/heads/work", tip)
    push_branch(clone.git, "origin", BRANCH, tip)
    assert list_refs(bare) == {"refs/heads/main": clone.first, REF: tip}


def test_a_branch_is_fast_forwarded_and_pushing_again_is_harmless(clone: Clone, bare: Git) -> None:
    one = clone.commit("one", clone.first)
    two = clone.commit("two", one)
    push_branch(clone.git, "origin", BRANCH, one)
    push_branch(clone.git, "origin", BRANCH, two)
    push_branch(clone.git, "origin", BRANCH, two)
    push_branch(clone.git, "origin", BRANCH, two, expected=one)  # an earlier try had come through
    assert list_refs(bare)[REF] == two


def test_a_branch_is_not_rewritten_without_a_lease(clone: Clone, bare: Git) -> None:
    one, other = clone.commit("one", clone.first), clone.commit("other", clone.first)
    push_branch(clone.git, "origin", BRANCH, one)
    with pytest.raises(PushRejectedError) as caught:
        push_branch(clone.git, "origin", BRANCH, other)
    assert caught.value.message.startswith(f"{BRANCH} on origin isn't what plait pushed")
    assert f"git push -- origin {other}:{REF}" in caught.value.hint
    assert list_refs(bare)[REF] == one


def test_a_rebuilt_branch_replaces_what_plait_pushed(clone: Clone, bare: Git) -> None:
    one, rebuilt = clone.commit("one", clone.first), clone.commit("rebuilt", clone.first)
    push_branch(clone.git, "origin", BRANCH, one)
    push_branch(clone.git, "origin", BRANCH, rebuilt, expected=one)
    assert list_refs(bare) == {"refs/heads/main": clone.first, REF: rebuilt}


def test_a_commit_of_another_person_is_never_overwritten(clone: Clone, bare: Git) -> None:
    one, rebuilt = clone.commit("one", clone.first), clone.commit("rebuilt", clone.first)
    push_branch(clone.git, "origin", BRANCH, one)
    other_commit = clone.commit("theirs", one)
    clone.git.run("push", "--quiet", "origin", f"{other_commit}:{REF}")
    with pytest.raises(PushRejectedError, match="stale info"):
        push_branch(clone.git, "origin", BRANCH, rebuilt, expected=one)
    assert list_refs(bare)[REF] == other_commit


def test_a_deleted_branch_is_not_restored_by_a_lease(clone: Clone, bare: Git) -> None:
    one, rebuilt = clone.commit("one", clone.first), clone.commit("rebuilt", clone.first)
    push_branch(clone.git, "origin", BRANCH, one)
    bare.run("update-ref", "-d", REF)
    with pytest.raises(PushRejectedError):
        push_branch(clone.git, "origin", BRANCH, rebuilt, expected=one)
    assert REF not in list_refs(bare)


@pytest.mark.parametrize("branch", ["main", "work", "plait/task-a-b", "plait/batch-a/../../main", "+plait/batch-a", ""])
def test_no_other_branch_is_ever_pushed_to(clone: Clone, bare: Git, branch: str) -> None:
    with pytest.raises(Bug):
        push_branch(clone.git, "origin", branch, clone.commit("tip", clone.first))
    assert list_refs(bare) == {"refs/heads/main": clone.first}


@pytest.mark.parametrize("commit", ["", "HEAD", "main", f"+{'a' * 40}"])
def test_nothing_but_a_commit_is_ever_pushed(clone: Clone, bare: Git, commit: str) -> None:
    """An empty one would delete the branch."""
    push_branch(clone.git, "origin", BRANCH, clone.first)
    with pytest.raises(Bug):
        push_branch(clone.git, "origin", BRANCH, commit)
    assert list_refs(bare)[REF] == clone.first


def test_the_default_branch_is_never_pushed_to(clone: Clone, bare: Git) -> None:
    push_branch(clone.git, "origin", BRANCH, clone.first)
    bare.run("symbolic-ref", "HEAD", REF)
    with pytest.raises(ForgeError, match="is the default branch of origin"):
        push_branch(clone.git, "origin", BRANCH, clone.commit("tip", clone.first))
    assert list_refs(bare)[REF] == clone.first


def test_the_reason_of_a_refused_push_is_quoted(clone: Clone, bare: Git) -> None:
    hook = bare.cwd / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'no pushes on Sundays' >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(ForgeError, match=r"origin refused .*no pushes on Sundays") as caught:
        push_branch(clone.git, "origin", BRANCH, clone.first)
    assert "By hand: git push" in caught.value.hint


def test_hooks_of_the_user_are_not_run(clone: Clone, bare: Git) -> None:
    hook = clone.where / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    push_branch(clone.git, "origin", BRANCH, clone.first)
    assert list_refs(bare)[REF] == clone.first


def test_a_mirror_remote_gets_only_one_branch(tmp_path: Path, clone: Clone, bare: Git) -> None:
    where = tmp_path / "mirror.git"
    clone.git.run("clone", "--quiet", "--mirror", str(bare.cwd), str(where))
    mirror = Git(where, environment=clone.environment)
    mirror.run("config", "remote.origin.mirror", "true")
    push_branch(mirror, "origin", BRANCH, clone.first)
    assert list_refs(bare) == {"refs/heads/main": clone.first, REF: clone.first}


def test_large_files_are_pushed_first(clone: Clone, bare: Git, programs: Path) -> None:
    log = programs / "told"
    lfs = programs / "git-lfs"
    lfs.write_text(f'#!/bin/sh\necho "$@" >> {log}\n')
    lfs.chmod(0o755)
    push_branch(clone.git, "origin", BRANCH, clone.first)
    assert not log.exists()
    tip = clone.commit("*.bin filter=lfs diff=lfs merge=lfs -text\n", clone.first, path=".gitattributes")
    push_branch(clone.git, "origin", BRANCH, tip)
    assert log.read_text().splitlines() == ["version", f"push origin {tip}"]
    assert list_refs(bare)[REF] == tip


@pytest.mark.parametrize("name", ["nowhere", "", "--upload-pack=evil", "ext::sh -c evil", "/srv/git/x.git"])
def test_only_a_configured_remote_is_used(clone: Clone, name: str) -> None:
    for speak in (
        lambda: push_branch(clone.git, name, BRANCH, clone.first),
        lambda: fetch_target(clone.git, name, "main"),
        lambda: find_default_branch(clone.git, name),
    ):
        with pytest.raises(ForgeError, match="no remote named"):
            speak()


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/a/b.git", "ssh://git@127.0.0.1:1/a/b.git"])
def test_an_unreachable_remote_is_reported_as_such(clone: Clone, url: str) -> None:
    clone.git.run("remote", "add", "origin", url)
    with pytest.raises(ForgeError, match="origin can't be reached"):
        push_branch(clone.git, "origin", BRANCH, clone.first)
    with pytest.raises(ForgeError, match="can't be reached"):
        fetch_target(clone.git, "origin", "main")


def test_fetching_the_target_moves_no_local_branch(clone: Clone, bare: Git) -> None:
    clone.git.run("fetch", "--quiet", "origin")
    before = clone.refs()
    newer = clone.commit("newer", clone.first)
    clone.git.run("push", "--quiet", str(bare.cwd), f"{newer}:refs/heads/main", f"{newer}:refs/tags/v2")
    clone.git.run("config", "fetch.prune", "true")
    (clone.where / ".git" / "FETCH_HEAD").unlink()
    assert fetch_target(clone.git, "origin", "main") == newer
    assert clone.refs() == {**before, "refs/plait/remotes/origin/main": newer}
    assert not (clone.where / ".git" / "FETCH_HEAD").exists()


def test_a_rewritten_target_branch_is_fetched(clone: Clone, bare: Git) -> None:
    fetch_target(clone.git, "origin", "main")
    other = clone.commit("other")
    bare.run("fetch", "--quiet", str(clone.where), f"{other}:refs/heads/tmp")
    bare.run("update-ref", "refs/heads/main", other)
    assert fetch_target(clone.git, "origin", "main") == other


def test_branches_whose_names_are_folders_of_each_other_are_both_fetched(clone: Clone, bare: Git) -> None:
    bare.run("update-ref", "refs/heads/release", clone.first)
    assert fetch_target(clone.git, "origin", "release") == clone.first
    bare.run("update-ref", "-d", "refs/heads/release")
    bare.run("update-ref", "refs/heads/release/1", clone.first)
    assert fetch_target(clone.git, "origin", "release/1") == clone.first


def test_concurrent_fetches_work(clone: Clone, bare: Git) -> None:
    newer = clone.commit("newer", clone.first)
    clone.git.run("push", "--quiet", str(bare.cwd), f"{newer}:refs/heads/main")
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(fetch_target(clone.git, "origin", "main"))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == [newer] * 8


@pytest.mark.parametrize("target", ["gone", "", "--all", "a..b", "x y"])
def test_a_missing_target_branch_is_an_error(clone: Clone, bare: Git, target: str) -> None:
    with pytest.raises(ForgeError, match=r"has no (default )?branch|is not a branch name"):
        fetch_target(clone.git, "origin", target)
    assert list_refs(bare) == {"refs/heads/main": clone.first}


def test_the_default_branch_comes_from_the_remote(clone: Clone, bare: Git) -> None:
    bare.run("update-ref", "refs/heads/trunk", clone.first)
    bare.run("symbolic-ref", "HEAD", "refs/heads/trunk")
    assert find_default_branch(clone.git, "origin") == "trunk"
    bare.run("symbolic-ref", "HEAD", "refs/heads/unborn")
    assert find_default_branch(clone.git, "origin") == ""


def test_commits_that_the_target_lacks_are_counted(clone: Clone) -> None:
    tip = clone.commit("b", clone.commit("a", clone.first))
    target = clone.commit("c", clone.first)
    assert count_new_commits(clone.git, tip, target) == 2
    assert count_new_commits(clone.git, clone.first, target) == 0
