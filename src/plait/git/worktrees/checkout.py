"""Checks out a commit's files in a worktree, with sparse folders and submodules, without touching the shared configuration.

`git sparse-checkout set` would enable extensions.worktreeConfig there. Instead the patterns are in the worktree's gitdir, and
the settings are passed to the commands that check out. Afterwards git needs neither, since the index marks the files that
are left out; only to notice a file that an agent writes in such a place, capture passes `sparse_settings` again.

Submodules are filled from what is cloned on this machine, without a network. Each becomes a clone of its own that borrows the
objects of the user's clone. (A worktree of that clone would be faster, but `git submodule update` in it would change its
configuration.)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from plait.core.errors import UserError
from plait.core.fast_dataclass import dataclass
from plait.git.command import Git, GitError, join_fields
from plait.git.refs import OBJECT_ID, has_ref_files
from plait.git.worktrees.metadata import (
    SETUP_METADATA_FILE,
    LeaseMetadata,
    is_real_folder,
    read_setup_paths,
    reset_setup_metadata,
    write_lease,
)
from plait.git.worktrees.worktree import Repository, Worktree
from plait.system.atomic_files import replace_file
from plait.system.disk import remove_tree

_OWN_REF = "refs/worktree/plait-before"
_EXCLUDE_ESCAPES = str.maketrans({each: f"\\{each}" for each in "\\*?[]!# "})


def check_out_files(  # noqa: PLR0913 - what is checked out, and where
    repository: Repository,
    worktree: Worktree,
    lease: LeaseMetadata,
    commit: str,
    save_edits: Callable[[], None] | None = None,
    *,
    new_branch: str = "",
) -> None:
    """Check out a commit's files in a worktree in which nothing is running.

    `save_edits` is given if another task worked here before; it saves what someone has changed since. `new_branch` is
    made during the checkout if that works at once, which saves a git process.
    """
    gitdir = worktree.gitdir
    assert gitdir is not None
    before = worktree.read_lease()
    worktree.reset_gitdir()
    write_sparse_patterns(repository, gitdir, lease.sparse)
    settings = (*sparse_settings(gitdir), "core.logAllRefUpdates=false")  # nothing happened yet that a log could undo
    git = repository.git_at(gitdir, worktree.folder, settings=settings)
    checkout = ("checkout", "--no-recurse-submodules")
    # Without the second option, some versions of git check no file if HEAD is at this commit already.
    on_branch = ("--no-track", "--ignore-other-worktrees", "-b", new_branch) if new_branch else ("--detach",)
    if save_edits is None:
        if git.run(*checkout, "--quiet", "--force", *on_branch, commit, codes=range(256)).code:
            git.run(*checkout, "--quiet", "--force", "--detach", commit)
    else:
        is_clean = _clear_index_flags(git, is_sparse=bool(lease.sparse))
        if not is_clean and _list_untracked(git, _list_setup_paths(gitdir, before)):
            save_edits()
        _put_head_on_ref(repository, worktree)
        # Without force, git keeps edits and lists them, or refuses: so files are compared once only.
        switched = git.run(*checkout, *on_branch, commit, codes=(0, 1, 128))
        if switched.code or switched.out:
            save_edits()
            git.run(*checkout, "--quiet", "--force", "--detach", commit)
        remove_tree(gitdir / "refs")
        same_makes = before is not None and before.makes == lease.makes
        _clean_worktree(git, worktree, lease.makes if same_makes else (), is_clean=is_clean)
    write_lease(gitdir, replace(lease, filled=not os.path.lexists(worktree.folder / ".gitmodules")))


def _put_head_on_ref(repository: Repository, worktree: Worktree) -> None:
    """Put a detached HEAD on a ref that only this worktree has. When git leaves a detached commit, it reads all refs of the
    repository, to say whether one reaches it.
    """
    assert worktree.gitdir is not None
    head = worktree.read_head()
    if OBJECT_ID.match(head) and has_ref_files(repository.common):
        ref = worktree.gitdir / _OWN_REF
        ref.parent.mkdir(parents=True, exist_ok=True)
        ref.write_text(f"{head}\n")
        replace_file(worktree.gitdir / "HEAD", f"ref: {_OWN_REF}\n".encode(), mode=0o666)


def wipe_files(repository: Repository, worktree: Worktree) -> None:
    """Reset the files to HEAD, except ignored ones and what setup made. What was changed has been saved."""
    assert worktree.gitdir is not None
    git = repository.git_at(worktree.gitdir, worktree.folder, settings=sparse_settings(worktree.gitdir))
    lease = worktree.read_lease()
    _clear_index_flags(git, is_sparse=lease is not None and bool(lease.sparse))
    git.run("reset", "--hard", "--quiet")
    git.run("clean", "-ffd", "--quiet", *exclude_options(_list_setup_paths(worktree.gitdir, lease)))


def _list_setup_paths(gitdir: Path, lease: LeaseMetadata | None) -> tuple[str, ...]:
    """List what setup made, and what it was declared to make."""
    return (*read_setup_paths(gitdir), *(lease.makes if lease is not None else ()))


def _list_untracked(git: Git, setup_paths: Sequence[str]) -> list[str]:
    """List the untracked files, without ignored ones and what setup made."""
    excluded = [f":(top,exclude,literal){path}" for path in setup_paths]
    return git.run("ls-files", "--others", "--exclude-standard", "--directory", "-z", "--", ".", *excluded).fields


def _clear_index_flags(git: Git, *, is_sparse: bool) -> bool:
    """Clear flags with which an agent may have hidden files; those of a sparse checkout are set again.

    Returns whether every file is in the index; ignored files count, too.
    """
    rows = git.run("ls-files", "-v", "-z", "--cached", "--others", "--directory").fields
    expected = ("H ", "S ", "? ") if is_sparse else ("H ", "? ")
    marked = [row[2:] for row in rows if not row.startswith(expected)]
    for flag in ("--no-assume-unchanged", "--no-skip-worktree") if marked else ():
        git.run("update-index", flag, "-z", "--stdin", stdin=join_fields(marked))
    return not any(row.startswith("? ") for row in rows)


def _clean_worktree(git: Git, worktree: Worktree, makes: tuple[str, ...], *, is_clean: bool) -> None:
    """Remove untracked files, but keep the outputs of a setup if they are complete; incomplete ones are removed, and
    setup runs again.
    """
    assert worktree.gitdir is not None
    is_complete = bool(makes) and all(os.path.lexists(worktree.folder / path) for path in makes)
    if not is_clean:
        git.run("clean", "--quiet", "-ffdx", *(exclude_options(makes) if is_complete else ()))
    if is_complete:
        reset_setup_metadata(worktree.folder)
    else:
        remove_tree(worktree.gitdir / SETUP_METADATA_FILE)


def exclude_options(paths: Sequence[str]) -> list[str]:
    """Return options of `git clean` that keep these paths."""
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
    """Remove duplicates and nested folders. Raises UserError for a folder outside of the repository."""
    folders: list[PurePosixPath] = []
    for path in sorted({PurePosixPath(folder.strip("/")) for folder in paths}):
        if not path.parts or ".." in path.parts or "\n" in str(path):
            raise UserError(
                f"[workspace] sparse: {str(path)!r} is not a folder of the repository",
                hint='Use paths relative to the top of the repository: "src/app".',
            )
        if not any(path.is_relative_to(folder) for folder in folders):
            folders.append(path)
    return tuple(map(str, folders))


def sparse_settings(gitdir: Path) -> tuple[str, ...]:
    """Return the settings for commands in a sparse worktree; empty for any other."""
    return _SPARSE_SETTINGS if sparse_patterns_path(gitdir).is_file() else ()


def write_sparse_patterns(repository: Repository, gitdir: Path, folders: tuple[str, ...]) -> None:
    """Write the patterns of this workspace instead of the user's, which git copies into a new gitdir."""
    _copy_worktree_config(repository, gitdir)
    if folders:
        sparse_patterns_path(gitdir).parent.mkdir(exist_ok=True)
        patterns = format_cone_patterns(folders).encode("utf-8", "surrogateescape")
        replace_file(sparse_patterns_path(gitdir), patterns, mode=0o666)


def format_cone_patterns(folders: tuple[str, ...]) -> str:
    """Format patterns for all files in the top and parent folders, and everything in the folders themselves."""
    parents = sorted({parent for folder in folders for parent in PurePosixPath(folder).parents if parent.parts})
    lines = ["/*", "!/*/"]
    for parent in parents:
        lines += [f"/{_escape_pattern(parent)}/", f"!/{_escape_pattern(parent)}/*/"]
    lines += [f"/{_escape_pattern(PurePosixPath(folder))}/" for folder in folders]
    return "\n".join(lines) + "\n"


def _copy_worktree_config(repository: Repository, gitdir: Path) -> None:
    """Copy the user's per-worktree settings, as git does, except those about the checkout."""
    config, shared_config = gitdir / "config.worktree", repository.common / "config.worktree"
    if not shared_config.is_file() or not repository.git.read_bool("extensions.worktreeConfig"):
        return
    config.write_bytes(shared_config.read_bytes())
    for key in _CHECKOUT_KEYS:
        repository.git.run("config", "--file", str(config), "--unset-all", key, codes=(0, 5))


def sparse_patterns_path(gitdir: Path) -> Path:
    return gitdir / "info" / "sparse-checkout"


def _escape_pattern(path: PurePosixPath) -> str:
    return str(path).translate(_PATTERN_ESCAPES)


SUBMODULE_BASE_REF = "refs/plait/base"  # in the submodule: what it began with


@dataclass(frozen=True, slots=True)
class Submodule:
    name: str
    path: str


def list_submodules(git: Git, folder: Path) -> Iterator[Submodule]:
    """Yield the submodules in .gitmodules whose paths stay inside the folder."""
    if not (folder / ".gitmodules").is_file() or (folder / ".gitmodules").is_symlink():
        return
    for submodule in read_submodules(git, "--file", str(folder / ".gitmodules")):
        parts = (*Path(submodule.path).parts, *Path(submodule.name).parts)
        absolute = Path(submodule.path).is_absolute() or Path(submodule.name).is_absolute()
        if submodule.path and submodule.name and ".." not in parts and not absolute:
            yield submodule


def read_submodules(git: Git, *source: str) -> Iterator[Submodule]:
    """Yield all entries of a .gitmodules; `source` says which."""
    args = ("config", "-z", *source, "--get-regexp", r"^submodule\..*\.path$")
    for row in git.run(*args, codes=(0, 1, 128)).fields:
        key, _, path = row.partition("\n")
        yield Submodule(key.removeprefix("submodule.").removesuffix(".path"), path)


def populate_submodules(repository: Repository, gitdir: Path, folder: Path, top: Path) -> list[str]:
    """Check out the submodules; return the paths that stay empty, because no clone on this machine has the commit."""
    git = repository.git_at(gitdir, folder)
    return [
        path
        for submodule in list_submodules(git, folder)
        for path in _populate(repository, git, gitdir, submodule, top)
    ]


def _populate(repository: Repository, git: Git, gitdir: Path, submodule: Submodule, top: Path) -> Iterator[str]:
    folder = git.cwd / submodule.path
    source = _find_source(repository, submodule, top)
    if source is None:
        yield submodule.path
        return
    local = git.with_options(
        settings=(
            "protocol.file.allow=always",
            f"submodule.{submodule.name}.url={source}",
            f"submodule.{submodule.name}.active=true",
            f"submodule.{submodule.name}.update=checkout",
        )
    )
    try:
        local.run("submodule", "--quiet", "update", "--force", "--reference", str(source), "--", submodule.path)
    except GitError:
        yield submodule.path
        return
    inner = gitdir / "modules" / submodule.name
    _record_base(repository, inner, source)
    for path in populate_submodules(repository, inner, folder, top / submodule.path):
        yield f"{submodule.path}/{path}"


def _record_base(repository: Repository, inner: Path, source: Path) -> None:
    """Record the commit that the submodule started from, and set its remote to the clone's."""
    git = repository.git_at(inner, inner)
    git.run("update-ref", SUBMODULE_BASE_REF, "HEAD")
    url = repository.git_at(source, source).run("config", "remote.origin.url", codes=(0, 1)).text
    if url:
        git.run("config", "remote.origin.url", url)


def _find_source(repository: Repository, submodule: Submodule, top: Path) -> Path | None:
    """Find the user's clone of a submodule: in the checkout, or in git's modules folder."""
    checkout = top / submodule.path
    if os.path.lexists(checkout / ".git"):
        output = Git(checkout).run("rev-parse", "--absolute-git-dir", codes=(0, 128))
        if output.code == 0 and Path(output.text) != repository.common:
            return Path(output.text)
    module = repository.common / "modules" / submodule.name
    return module if is_real_folder(module) and (module / "HEAD").is_file() else None
