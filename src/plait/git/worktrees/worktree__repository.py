"""The repository that workspaces are made from, by its common git folder: one for all of its worktrees."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from plait.git.command import Git
from plait.git.worktrees.worktree__layout import WORKTREE_ID_PREFIX, list_children
from plait.system import locks__lock

CHECKOUT_WORKERS = 8  # a checkout waits for the disk more than for a core
_SETTINGS = (
    "worktree.useRelativePaths=false",  # or adding one changes the shared configuration
    "submodule.recurse=false",  # they are seen to one by one, and may stay empty
    "core.trustctime=true",  # or an edit that keeps size and time goes unseen
    "core.checkStat=default",
    "core.safecrlf=false",  # what is saved is saved as it is
    "filter.lfs.required=false",  # without the content, the pointer
    "lfs.transfer.maxretries=1",
    f"checkout.workers={CHECKOUT_WORKERS}",
)


class Repository:
    def __init__(self, git_dir: Path, environment: Mapping[str, str] | None = None) -> None:
        self.common = Path(os.path.realpath(git_dir))
        self.environment = environment
        # A work tree of its own, since the configuration may name one that is gone.
        self.git = self.git_at(self.common, self.common)

    @property
    def plait_folder(self) -> Path:
        return self.common / "plait"

    @property
    def trash(self) -> Path:
        return self.plait_folder / "trash"

    @property
    def admin_folders(self) -> list[Path]:
        """Git's folders about the worktrees that plait made."""
        return [
            each
            for each in list_children(self.common / "worktrees")
            if each.name.startswith(WORKTREE_ID_PREFIX)
        ]

    def admin_folder(self, name: str) -> Path:
        return self.common / "worktrees" / name

    def git_at(
        self,
        git_dir: Path,
        folder: Path,
        *,
        variables: Mapping[str, str] | None = None,
        settings: Sequence[str] = (),
    ) -> Git:
        """Git in a folder, told where everything is: it must never look for a repository above and find another one."""
        places = {"GIT_DIR": str(git_dir), "GIT_WORK_TREE": str(folder), **(variables or {})}
        return Git(folder, environment=self.environment, variables=places, settings=(*_SETTINGS, *settings))

    def lock(self) -> AbstractContextManager[None]:
        """Git can't make two worktrees at once; and nobody else moves one meanwhile."""
        return locks__lock.hold_short_lock(self.plait_folder / "workspaces.lock")

    def resolve_commit(self, name: str) -> str | None:
        """The commit that a name stands for now."""
        said = self.git.run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", codes=(0, 1, 128))
        return said.text if said.code == 0 else None

    def is_ancestor(self, ancestor: str, commit: str) -> bool:
        said = self.git.run("merge-base", "--is-ancestor", ancestor, commit, codes=(0, 1, 128))
        return said.code == 0
