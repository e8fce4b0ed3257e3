"""A commit's files into a worktree: all of them, and nothing else but what a setup made for the same outputs."""

from __future__ import annotations

import os

from plait.git.command import Git
from plait.git.worktrees import checkout, metadata__stamp
from plait.git.worktrees.metadata import reset_setup_metadata
from plait.git.worktrees.metadata__stamp import SETUP_METADATA_FILE, LeaseMetadata
from plait.git.worktrees.worktree import Worktree
from plait.git.worktrees.worktree__repository import Repository
from plait.system.disk import remove_tree

_EXCLUDE_ESCAPES = str.maketrans({each: f"\\{each}" for each in "\\*?[!# "})


def check_out_files(
    repository: Repository, worktree: Worktree, wanted: LeaseMetadata, commit: str, *, used: bool
) -> None:
    """`used`: another task worked here before. Nobody works here now."""
    admin = worktree.admin
    assert admin is not None
    before = metadata__stamp.read_lease(admin)
    worktree.reset_admin()
    checkout.write_sparse_patterns(repository, admin, wanted.sparse)
    git = repository.git_at(admin, worktree.folder, settings=checkout.sparse_settings(admin))
    if used:
        _clear_index_flags(git, expected_tags="HS" if wanted.sparse else "H")
    git.run("checkout", "--quiet", "--force", "--detach", "--no-recurse-submodules", commit)
    if used:
        same = before is not None and before.makes == wanted.makes
        _clean_worktree(git, worktree, wanted.makes if same else ())
    metadata__stamp.write_lease(admin, wanted)


def _clear_index_flags(git: Git, expected_tags: str) -> None:
    """An agent may have told the index to look away from some files. (Those left out of a sparse checkout are found anew.)"""
    marked = [each[2:] for each in git.run("ls-files", "-v", "-z").fields if each[0] not in expected_tags]
    for flag in ("--no-assume-unchanged", "--no-skip-worktree") if marked else ():
        feed = "\0".join(marked).encode("utf-8", "surrogateescape")
        git.run("update-index", flag, "-z", "--stdin", stdin=feed)


def _clean_worktree(git: Git, worktree: Worktree, makes: tuple[str, ...]) -> None:
    """Outputs that are not all there are not worth keeping: then the setup runs again, in a clean folder."""
    assert worktree.admin is not None
    whole = bool(makes) and all(os.path.lexists(worktree.folder / each) for each in makes)
    kept = [f"--exclude=/{each.strip('/').translate(_EXCLUDE_ESCAPES)}" for each in makes if each.strip("/")]
    git.run("clean", "--quiet", "-ffdx", *(kept if whole else ()))
    if whole:
        reset_setup_metadata(worktree.folder)
    else:
        remove_tree(worktree.admin / SETUP_METADATA_FILE)
