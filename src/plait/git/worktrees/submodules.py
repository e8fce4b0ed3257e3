"""Fills a workspace's submodules from what is cloned on this machine.

No network is used and the shared configuration is not touched. Each becomes a clone of its own that borrows the objects of
the user's clone. (A worktree of that clone would be faster, but `git submodule update` in it would change its configuration.)
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.git.command import Git, GitError
from plait.git.worktrees.worktree import Repository, is_real_folder


@dataclass(frozen=True, slots=True)
class Submodule:
    name: str
    path: str


def list_submodules(git: Git, folder: Path) -> Iterator[Submodule]:
    """Those in .gitmodules whose paths stay inside."""
    if not (folder / ".gitmodules").is_file() or (folder / ".gitmodules").is_symlink():
        return
    for each in read_submodules(git, "--file", str(folder / ".gitmodules")):
        parts = (*Path(each.path).parts, *Path(each.name).parts)
        absolute = Path(each.path).is_absolute() or Path(each.name).is_absolute()
        if each.path and each.name and ".." not in parts and not absolute:
            yield each


def read_submodules(git: Git, *source: str) -> Iterator[Submodule]:
    """All entries of a .gitmodules; `source` says which."""
    args = ("config", "-z", *source, "--get-regexp", r"^submodule\..*\.path$")
    for row in git.run(*args, codes=(0, 1, 128)).fields:
        key, _, path = row.partition("\n")
        yield Submodule(key.removeprefix("submodule.").removesuffix(".path"), path)


def populate_submodules(repository: Repository, admin: Path, folder: Path, top: Path) -> list[str]:
    """The paths that stay empty, because no clone here has the commit."""
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
    """Record the commit it started from, and set its remote to the clone's."""
    git = repository.git_at(inner, inner)
    git.run("update-ref", SUBMODULE_BASE_REF, "HEAD")
    url = repository.git_at(source, source).run("config", "remote.origin.url", codes=(0, 1)).text
    if url:
        git.run("config", "remote.origin.url", url)


def _find_source(repository: Repository, submodule: Submodule, top: Path) -> Path | None:
    """The user's clone: in the checkout, or in git's modules folder."""
    checkout = top / submodule.path
    if os.path.lexists(checkout / ".git"):
        output = Git(checkout).run("rev-parse", "--absolute-git-dir", codes=(0, 128))
        if output.code == 0 and Path(output.text) != repository.common:
            return Path(output.text)
    kept = repository.common / "modules" / submodule.name
    return kept if is_real_folder(kept) and (kept / "HEAD").is_file() else None


SUBMODULE_BASE_REF = "refs/plait/base"  # in the submodule: what it began with
