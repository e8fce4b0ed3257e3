"""Checks whether worktrees can be used in a repository, and what people should know first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set as AbstractSet
from pathlib import Path, PurePosixPath

from plait.core.errors import UserError
from plait.core.plan import Problem, Severity
from plait.core.text import join_names
from plait.git.command import PLAIT_IDENTITY, Git, GitError
from plait.git.worktrees.checkout import Submodule, read_submodules
from plait.system.own_folder import find_risk

LOCATION_HINT = "Set [workspace] location to a folder of your own."
_MIN_GIT_VERSION = (2, 38)
_MAX_SHOWN = 3


def check_preconditions(path: Path, base: str = "HEAD") -> list[Problem]:
    """Find what people should know before worktrees are used. `path` is a checkout or a git folder. Raises UserError,
    with a solution, if worktrees can't be used.
    """
    git = Git(path)
    _check_version(git)
    _check_repository(git, path)
    commit = _check_commit(git, base)
    _check_names(git, commit)
    return list(_find_problems(git, commit))


def check_worktrees_folder(folder: Path) -> None:
    """Raise UserError if no worktree can be made in this folder: every task would fail."""
    if why := find_risk(folder):
        raise UserError(f"worktrees can't be made in {folder}: {why}", hint=LOCATION_HINT)


def find_checkout_problems(top: Path, ignored: AbstractSet[str] = frozenset()) -> list[Problem]:
    """Find what the checkout at `top` has that agents or reviewers won't see: uncommitted changes, and a missing name
    for commits.

    `ignored` are files and folders that agents need not see, relative to `top`.
    """
    git = Git(top)
    try:
        missing = find_missing_identity(git)
        return [*_find_uncommitted(git, ignored), *([missing] if missing else [])]
    except GitError:  # it is reported when the base is looked for
        return []


def _find_uncommitted(git: Git, ignored: AbstractSet[str]) -> Iterator[Problem]:
    entries = git.run("status", "--porcelain", "-z", "--no-renames", "--untracked-files=normal").fields
    changes = [(entry[3:].rstrip("/"), entry.startswith("??")) for entry in entries]
    around = {str(parent) for name in ignored for parent in PurePosixPath(name).parents}
    needed = [
        (path, is_new)
        for path, is_new in changes
        if ignored.isdisjoint((path, *map(str, PurePosixPath(path).parents))) and not (is_new and path in around)
    ]
    if not needed:
        return
    new_count = sum(is_new for _, is_new in needed)
    counts = (("modified", len(needed) - new_count), ("new", new_count))
    first, *rest = [f"{count} {kind}" for kind, count in counts if count]
    files = f"{first} {'file' if first.startswith('1 ') else 'files'}{f' and {rest[0]}' if rest else ''}"
    names = join_names([path for path, _ in sorted(needed, key=lambda change: change[1])], _MAX_SHOWN)
    yield Problem(
        Severity.WARNING if new_count < len(needed) else Severity.INFO,
        f"{files} {'is' if len(needed) == 1 else 'are'} not in the base commit; agents won't see"
        f" {'it' if len(needed) == 1 else 'them'}: {names}",
        hint="Commit what the tasks need first.",
    )


def find_missing_identity(git: Git) -> Problem | None:
    """Report a missing name or email for commits. Git's guess from the machine's name doesn't count: it must not appear
    on a pull request.
    """
    strict = git.with_options(settings=("user.useConfigOnly=true",))
    if not strict.run("var", "GIT_COMMITTER_IDENT", codes=(0, 128)).code:
        return None
    plait = f"{PLAIT_IDENTITY['GIT_COMMITTER_NAME']} <{PLAIT_IDENTITY['GIT_COMMITTER_EMAIL']}>"
    return Problem(
        Severity.WARNING,
        f"git has no name and email for your commits: they will be by {plait}",
        hint='Set them: git config --global user.name "Your Name" && git config --global user.email you@example.org',
    )


def _check_version(git: Git) -> None:
    version = re.search(r"(\d+)\.(\d+)", git.text("version"))
    if version is None or (int(version[1]), int(version[2])) < _MIN_GIT_VERSION:
        raise UserError(
            f"git {version[0] if version else ''} is too old for plait's worktrees",
            hint="Install git 2.38 or newer, or run with --isolation in-place.",
        )


def _check_repository(git: Git, path: Path) -> None:
    try:
        git.run("rev-parse", "--git-common-dir")
    except GitError as error:
        if "dubious ownership" in error.stderr:
            raise UserError(
                f"git refuses {path}: dubious ownership",
                hint=f"If you trust it: git config --global --add safe.directory {path}",
            ) from error
        raise UserError(
            f"{path} is not in a git repository, and worktrees need one",
            hint="git init and a first commit make one; --isolation in-place works without.",
        ) from error


def _check_commit(git: Git, base: str) -> str:
    commit = git.resolve_commit(base)
    if commit is not None:
        return commit
    if not git.run("rev-list", "-1", "--all").out:
        raise UserError(
            "this repository has no commits yet, and a worktree needs one",
            hint='Make the first: git add --all && git commit -m "First commit" (or run with --isolation in-place).',
        )
    if base == "HEAD":
        raise UserError(
            "the current branch has no commits yet, and a worktree needs one",
            hint="Switch to a branch that has some, or name one with --base.",
        )
    raise UserError(f"there is no commit {base}", hint="git branch --all shows what there is; git fetch gets more.")


def _check_names(git: Git, commit: str) -> None:
    if git.run("show-ref", "--verify", "--quiet", "refs/heads/plait", codes=(0, 1)).code == 0:
        raise UserError(
            "there is a branch called plait, so git can't have branches called plait/…",
            hint="Give it another name: git branch -m plait NAME",
        )
    if git.read_bool("core.ignoreCase") and (paths := _find_case_clash(git, commit)):
        raise UserError(
            f"{paths[0]} and {paths[1]} differ only in case, and this disk can't hold both:"
            " an agent's work would change one into the other",
            hint="Rename one of them, or work on a disk that tells them apart.",
        )


def _find_case_clash(git: Git, commit: str) -> tuple[str, str] | None:
    """Find two paths that are the same on a case-insensitive disk; None if there are none."""
    paths: dict[str, str] = {}
    for path in git.run("ls-tree", "-r", "-t", "-z", "--name-only", commit).fields:
        if paths.setdefault(path.casefold(), path) != path:
            return paths[path.casefold()], path
    return None


def _find_problems(git: Git, commit: str) -> Iterator[Problem]:
    """Yield what works, but not as people may expect."""
    if git.text("rev-parse", "--is-shallow-repository") == "true":
        yield Problem(
            Severity.INFO,
            "this clone is shallow: agents see no older history, and a branch from before it can't be merged",
            hint="git fetch --unshallow gets the rest.",
        )
    if _has_setting(git, r"^(extensions\.partialclone|remote\..*\.promisor)$"):
        yield Problem(
            Severity.WARNING,
            "this clone is partial: missing files are fetched when a workspace is made",
            hint="[workspace] sparse limits workspaces to the folders that are needed.",
        )
    if git.read_bool("core.sparseCheckout"):
        yield Problem(
            Severity.WARNING,
            "this checkout is sparse; workspaces have all folders by default",
            hint="Set [workspace] sparse to the folders that agents need (git sparse-checkout list).",
        )
    lfs = ("grep", "--quiet", "filter=lfs", commit, "--", ".gitattributes", "**/.gitattributes")
    if not _has_setting(git, r"^filter\.lfs\.(smudge|process)$") and git.run(*lfs, codes=(0, 1)).code == 0:
        yield Problem(
            Severity.WARNING,
            "this repository keeps files in Git LFS, which is not set up here: agents see pointers in their place",
            hint="Install git-lfs and run: git lfs install && git lfs pull",
        )
    if missing := _find_missing_submodules(git, commit):
        yield Problem(
            Severity.WARNING,
            f"submodules that are not cloned here stay empty in workspaces: {join_names(missing, _MAX_SHOWN)}",
            hint="git submodule update --init --recursive gets them.",
        )


def _has_setting(git: Git, pattern: str) -> bool:
    return git.run("config", "--get-regexp", pattern, codes=(0, 1)).code == 0


def _find_missing_submodules(git: Git, commit: str) -> list[str]:
    if git.run("cat-file", "-e", f"{commit}:.gitmodules", codes=(0, 1, 128)).code:
        return []
    common = Path(git.text("rev-parse", "--path-format=absolute", "--git-common-dir"))
    submodules = read_submodules(git, "--blob", f"{commit}:.gitmodules")
    return [submodule.path for submodule in submodules if not _is_cloned(git, common, submodule)]


def _is_cloned(git: Git, common: Path, submodule: Submodule) -> bool:
    cloned = common / "modules" / submodule.name / "HEAD"
    return cloned.is_file() or (git.cwd / submodule.path / ".git").exists()
