"""Checks out a commit's files in a worktree, with sparse folders, without touching the shared configuration.

`git sparse-checkout set` would enable extensions.worktreeConfig there. Instead the patterns are in the worktree's admin, and
the settings are passed to the commands that check out. Afterwards git needs neither, since the index marks the files that
are left out; only to notice a file that an agent writes in such a place, capture passes `sparse_settings` again.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from plait.core.errors import UserError
from plait.git.command import Git, join_fields
from plait.git.worktrees import metadata
from plait.git.worktrees.metadata import SETUP_METADATA_FILE, LeaseMetadata, reset_setup_metadata
from plait.git.worktrees.worktree import Repository, Worktree
from plait.system.atomic_files import replace_file
from plait.system.disk import remove_tree

_EXCLUDE_ESCAPES = str.maketrans({each: f"\\{each}" for each in "\\*?[]!# "})


def check_out_files(
    repository: Repository, worktree: Worktree, wanted: LeaseMetadata, commit: str, *, used: bool
) -> None:
    """`used`: another task worked here before. Nothing runs in the worktree now."""
    admin = worktree.admin
    assert admin is not None
    before = metadata.read_lease(admin)
    worktree.reset_admin()
    write_sparse_patterns(repository, admin, wanted.sparse)
    git = repository.git_at(admin, worktree.folder, settings=sparse_settings(admin))
    if used:
        _clear_index_flags(git, expected_tags="HS" if wanted.sparse else "H")
    git.run("checkout", "--quiet", "--force", "--detach", "--no-recurse-submodules", commit)
    if used:
        same = before is not None and before.makes == wanted.makes
        _clean_worktree(git, worktree, wanted.makes if same else ())
    metadata.write_lease(admin, wanted)


def _clear_index_flags(git: Git, expected_tags: str) -> None:
    """Clear flags with which an agent may have hidden files; those of a sparse checkout are set again."""
    marked = [each[2:] for each in git.run("ls-files", "-v", "-z").fields if each[0] not in expected_tags]
    for flag in ("--no-assume-unchanged", "--no-skip-worktree") if marked else ():
        git.run("update-index", flag, "-z", "--stdin", stdin=join_fields(marked))


def _clean_worktree(git: Git, worktree: Worktree, makes: tuple[str, ...]) -> None:
    """Remove untracked files, but keep complete setup outputs; incomplete ones go, and setup runs again."""
    assert worktree.admin is not None
    whole = bool(makes) and all(os.path.lexists(worktree.folder / each) for each in makes)
    git.run("clean", "--quiet", "-ffdx", *(exclude_options(makes) if whole else ()))
    if whole:
        reset_setup_metadata(worktree.folder)
    else:
        remove_tree(worktree.admin / SETUP_METADATA_FILE)


def exclude_options(paths: Sequence[str]) -> list[str]:
    """Options of `git clean` that keep these paths."""
    return [f"--exclude=/{path.strip('/').translate(_EXCLUDE_ESCAPES)}" for path in paths if path.strip("/")]


_SPARSE_SETTINGS = ("core.sparseCheckout=true", "core.sparseCheckoutCone=true", "index.sparse=true")
_CHECKOUT_KEYS = (
    "core.bare",
    "core.worktree",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "index.sparse",
)
_PATTERN_ESCAPES = str.maketrans({each: f"\\{each}" for each in "\\*?["})


def normalize_sparse_folders(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Without duplicates and nested folders. Raises UserError for one outside of the repository."""
    known: list[PurePosixPath] = []
    for path in sorted({PurePosixPath(each.strip("/")) for each in paths}):
        if not path.parts or ".." in path.parts or "\n" in str(path):
            raise UserError(
                f"[workspace] sparse: {str(path)!r} is not a folder of the repository",
                hint='Use paths relative to the top of the repository: "src/app".',
            )
        if not any(path.is_relative_to(each) for each in known):
            known.append(path)
    return tuple(map(str, known))


def sparse_settings(admin: Path) -> tuple[str, ...]:
    """For commands in a sparse worktree; empty for any other."""
    return _SPARSE_SETTINGS if sparse_patterns_path(admin).is_file() else ()


def write_sparse_patterns(repository: Repository, admin: Path, wanted: tuple[str, ...]) -> None:
    """Write the patterns of this workspace instead of the user's, which git copies into a new admin."""
    _copy_worktree_config(repository, admin)
    if wanted:
        sparse_patterns_path(admin).parent.mkdir(exist_ok=True)
        patterns = format_cone_patterns(wanted).encode("utf-8", "surrogateescape")
        replace_file(sparse_patterns_path(admin), patterns, mode=0o666)


def format_cone_patterns(wanted: tuple[str, ...]) -> str:
    """All files in the top and parent folders, everything in the folders themselves."""
    above = sorted({parent for each in wanted for parent in PurePosixPath(each).parents if parent.parts})
    lines = ["/*", "!/*/"]
    for parent in above:
        lines += [f"/{_escape_pattern(parent)}/", f"!/{_escape_pattern(parent)}/*/"]
    lines += [f"/{_escape_pattern(PurePosixPath(each))}/" for each in wanted]
    return "\n".join(lines) + "\n"


def _copy_worktree_config(repository: Repository, admin: Path) -> None:
    """Copy the user's per-worktree settings, as git does, except those about the checkout."""
    own, theirs = admin / "config.worktree", repository.common / "config.worktree"
    if not repository.git.read_bool("extensions.worktreeConfig") or not theirs.is_file():
        return
    own.write_bytes(theirs.read_bytes())
    for key in _CHECKOUT_KEYS:
        repository.git.run("config", "--file", str(own), "--unset-all", key, codes=(0, 5))


def sparse_patterns_path(admin: Path) -> Path:
    return admin / "info" / "sparse-checkout"


def _escape_pattern(path: PurePosixPath) -> str:
    return str(path).translate(_PATTERN_ESCAPES)
