"""A commit's files into a worktree: all of them, and nothing else but what a setup made for the same outputs."""

from __future__ import annotations

import os

from plait.site.git import Git
from plait.site.outfitting import relet
from plait.site.outfitting.disk import remove
from plait.site.workspaces import sparse, stamp
from plait.site.workspaces.repository import Repository
from plait.site.workspaces.stamp import OUTFIT, Stamp
from plait.site.workspaces.worktree import Worktree

_SPECIAL = str.maketrans({each: f"\\{each}" for each in "\\*?[!# "})


def lay(repository: Repository, worktree: Worktree, wanted: Stamp, commit: str, *, used: bool) -> None:
    """`used`: another task worked here before. Nobody works here now."""
    admin = worktree.admin
    assert admin is not None
    before = stamp.read(admin)
    worktree.forget()
    sparse.lay(repository, admin, wanted.sparse)
    git = repository.at(admin, worktree.folder, settings=sparse.settings(admin))
    if used:
        _look_at_all(git, usual="HS" if wanted.sparse else "H")
    git.run("checkout", "--quiet", "--force", "--detach", "--no-recurse-submodules", commit)
    if used:
        same = before is not None and before.makes == wanted.makes
        _clean(git, worktree, wanted.makes if same else ())
    stamp.write(admin, wanted)


def _look_at_all(git: Git, usual: str) -> None:
    """An agent may have told the index to look away from some files. (Those left out of a sparse checkout are found anew.)"""
    marked = [each[2:] for each in git.run("ls-files", "-v", "-z").words if each[0] not in usual]
    for flag in ("--no-assume-unchanged", "--no-skip-worktree") if marked else ():
        feed = "\0".join(marked).encode("utf-8", "surrogateescape")
        git.run("update-index", flag, "-z", "--stdin", feed=feed)


def _clean(git: Git, worktree: Worktree, makes: tuple[str, ...]) -> None:
    """Outputs that are not all there are not worth keeping: then the setup runs again, in a clean folder."""
    assert worktree.admin is not None
    whole = bool(makes) and all(os.path.lexists(worktree.folder / each) for each in makes)
    kept = [f"--exclude=/{each.strip('/').translate(_SPECIAL)}" for each in makes if each.strip("/")]
    git.run("clean", "--quiet", "-ffdx", *(kept if whole else ()))
    if whole:
        relet(worktree.folder)
    else:
        remove(worktree.admin / OUTFIT)
