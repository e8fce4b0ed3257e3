"""A workspace's submodules, from what this machine has of them: no network, and not a word in the shared configuration.

Each becomes a clone of its own that borrows the objects of the user's. (A worktree of the user's clone would be quicker; but
`git submodule update`, which an agent may run in it, would then change the configuration of the user's submodule.)

What was made in the folder of a submodule: its own repository goes with the worktree.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.git.command import Git, GitError
from plait.git.worktrees.saved_refs import SavedRefs
from plait.git.worktrees.worktree import Repository, is_real_folder, read_small_file

_PATH_SUFFIX, _KEY_PREFIX = ".path", "submodule."


@dataclass(frozen=True, slots=True)
class Submodule:
    name: str
    path: str


def list_submodules(git: Git, folder: Path) -> Iterator[Submodule]:
    """As .gitmodules tells them, if they stay inside."""
    if not (folder / ".gitmodules").is_file() or (folder / ".gitmodules").is_symlink():
        return
    words = ("config", "-z", "--file", str(folder / ".gitmodules"), "--get-regexp", r"^submodule\..*\.path$")
    for told in git.run(*words, codes=(0, 1, 128)).fields:
        key, _, path = told.partition("\n")
        name = key.removeprefix(_KEY_PREFIX).removesuffix(_PATH_SUFFIX)
        parts = (*Path(path).parts, *Path(name).parts)
        if path and name and ".." not in parts and not (Path(path).is_absolute() or Path(name).is_absolute()):
            yield Submodule(name, path)


def populate_submodules(repository: Repository, admin: Path, folder: Path, top: Path) -> list[str]:
    """The paths that stay empty: nobody has cloned them here, or not with the commit that is asked for."""
    git = repository.git_at(admin, folder)
    return [path for each in list_submodules(git, folder) for path in _populate(repository, git, admin, each, top)]


def _populate(repository: Repository, git: Git, admin: Path, submodule: Submodule, top: Path) -> Iterator[str]:
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
    inner = admin / "modules" / submodule.name
    _record_base(repository, inner, source)
    for path in populate_submodules(repository, inner, folder, top / submodule.path):
        yield f"{submodule.path}/{path}"


def _record_base(repository: Repository, inner: Path, source: Path) -> None:
    """What it began with, so that what is made in it can be told from it; and its remote, which is not the user's clone."""
    git = repository.git_at(inner, inner)
    git.run("update-ref", SUBMODULE_BASE_REF, "HEAD")
    url = repository.git_at(source, source).run("config", "remote.origin.url", codes=(0, 1)).text
    if url:
        git.run("config", "remote.origin.url", url)


def _find_source(repository: Repository, submodule: Submodule, top: Path) -> Path | None:
    """The user's clone of it: where the checkout has it, or where git keeps it."""
    checkout = top / submodule.path
    if os.path.lexists(checkout / ".git"):
        said = Git(checkout).run("rev-parse", "--absolute-git-dir", codes=(0, 128))
        if said.code == 0 and Path(said.text) != repository.common:
            return Path(said.text)
    kept = repository.common / "modules" / submodule.name
    return kept if is_real_folder(kept) and (kept / "HEAD").is_file() else None


SUBMODULE_BASE_REF = "refs/plait/base"  # in the submodule: what it began with


def save_submodule(saved_refs: SavedRefs, module: Path) -> None:
    """Commits and changes that its remote has not got, as refs of the repository around it."""
    git = saved_refs.repository.git_at(module, module)
    head = git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", codes=(0, 1, 128)).text
    known = (SUBMODULE_BASE_REF,) if read_small_file(module / SUBMODULE_BASE_REF) else ()
    branches = git.text("for-each-ref", "--format=%(objectname)", "refs/heads/").splitlines()
    for tip in dict.fromkeys((_commit_work(saved_refs, git, module, head), *branches)):
        if tip and git.text("rev-list", "-1", tip, "--not", *known, "--remotes", "--tags"):
            saved_refs.fetch_commit(str(module), tip)


def _commit_work(saved_refs: SavedRefs, git: Git, module: Path, head: str) -> str:
    """Everything in its folder, as a commit on its head; the head, if that is all there is."""
    within = git.run("config", "core.worktree", codes=(0, 1)).text
    folder = Path(os.path.normpath(module / within))
    if not head or not within or not is_real_folder(folder):
        return head
    with tempfile.TemporaryDirectory(dir=module) as room:
        tree = _write_tree(saved_refs.repository, module, folder, Path(room) / "index")
    return head if tree == git.text("rev-parse", f"{head}^{{tree}}") else saved_refs.make_commit(git, tree, head)


def _write_tree(repository: Repository, module: Path, folder: Path, index: Path) -> str:
    """By an index of its own, with the old one's time: git compares it with the files'."""
    if (module / "index").is_file():
        shutil.copy2(module / "index", index)
    git = repository.git_at(module, folder, variables={"GIT_INDEX_FILE": str(index)})
    git.run("add", "--all")
    return git.text("write-tree")
