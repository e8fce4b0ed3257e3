"""Workspaces as git worktrees on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from plait.core.errors import UserError, WorldError
from plait.core.task import Attempt
from plait.kit import Outfit
from plait.ports import Author, Captured, Restore
from plait.site import refs
from plait.site.git import GitError
from plait.site.workspaces import branches, laying, sparse, stamp, submodules
from plait.site.workspaces.layout import Layout, children
from plait.site.workspaces.pool import Pool
from plait.site.workspaces.repository import Repository
from plait.site.workspaces.saving import save
from plait.site.workspaces.shelf import Shelf
from plait.site.workspaces.sizes import Sizes
from plait.site.workspaces.stamp import Stamp
from plait.site.workspaces.worktree import Worktree, find, home, is_folder

KEEP = 4


class GitWorkspaces:
    """`git_dir` is the repository's common git folder, `root` a folder for its workspaces alone.

    `keep` worktrees wait for the next task. `told` hears what people should know of a workspace that is usable all the same.
    """

    def __init__(
        self,
        git_dir: Path,
        root: Path,
        *,
        keep: int = KEEP,
        environment: Mapping[str, str] | None = None,
        told: Callable[[str], None] | None = None,
    ) -> None:
        for path in (git_dir, root):
            if "\n" in str(path):
                raise UserError(
                    f"there can be no workspaces with a line end in a folder's name: {str(path)!r}",
                    hint="Give the folder another name, or set [workspace] location to another one.",
                )
        self._repository = Repository(git_dir, environment)
        self._layout = Layout(Path(os.path.realpath(root)))
        self._pool = Pool(self._repository, self._layout, keep)
        self._sizes = Sizes()
        self._told = told or (lambda _: None)
        self._swept = False

    def path(self, batch: str, task: str) -> str:
        return str(self._layout.task(batch, task))

    def prepare(self, batch: str, task: str, base: str, outfit: Outfit, *, top: str) -> str:
        place, branch = self._layout.task(batch, task), refs.task_branch(batch, task)
        wanted = Stamp(batch, task, self._commit(base), outfit.makes, sparse.folders(outfit.sparse))
        self._sweep_once()
        here = find(self._repository, place)
        if here is not None and _began(here, wanted):
            branches.unlock(here)
        else:
            begin = self._where_to_begin(here, wanted, branch)
            branches.check_free(self._repository, self._layout.root, branch)
            if here is not None:
                self._save_and_give_back(here, batch, task)
            self._make(place, wanted, begin, branch)
        self._fill(place, top)
        return str(place)

    def capture(  # noqa: PLR0913 - it is all that makes a commit
        self, attempt: Attempt, base: str, author: Author, restore: Restore, *, hooks: bool, largest: int = 0
    ) -> Captured:
        from plait.site.capture import capture  # noqa: PLC0415 - only who captures needs it

        common, environment = self._repository.common, self._repository.environment
        place = self.path(attempt.batch, attempt.task)
        told = (Path(place), attempt, base, author, restore)
        return capture(*told, hooks=hooks, largest=largest, environment=environment, common=common)

    def glance(self, batch: str, task: str, base: str) -> str | None:
        from plait.site.capture import glance  # noqa: PLC0415 - only who captures needs it

        common, environment = self._repository.common, self._repository.environment
        place = self._layout.task(batch, task)
        return glance(place, batch, task, base, environment=environment, common=common)

    def put_back(self, attempt: Attempt, tip: str) -> None:
        from plait.site.capture import put_back  # noqa: PLC0415 - only who captures needs it

        common, environment = self._repository.common, self._repository.environment
        place = self.path(attempt.batch, attempt.task)
        put_back(Path(place), attempt, tip, environment=environment, common=common)

    def checkout(self, batch: str, commit: str, outfit: Outfit, *, top: str) -> str:
        """What a gate leaves is no work: it is not saved."""
        place = self._layout.gate(batch)
        wanted = Stamp(batch, "", self._commit(commit), outfit.makes, sparse.folders(outfit.sparse))
        self._sweep_once()
        here = find(self._repository, place)
        if here is None or not _began(here, wanted) or not self._clean(here, wanted):
            if here is not None:
                self._pool.give_back(here)
            self._make(place, wanted, wanted.base, "")
        self._fill(place, top)
        return str(place)

    def release(self, batch: str, task: str) -> None:
        self._release(self._layout.task(batch, task), batch, task)
        self.empty_trash()

    def release_gate(self, batch: str) -> None:
        self._release(self._layout.gate(batch), batch, "")
        with suppress(OSError):
            self._layout.batch(batch).rmdir()
        self._pool.sweep()
        self.empty_trash()

    def release_batch(self, batch: str) -> None:
        """All of them, where nobody works in any. One that can't be given back keeps none of the others."""
        problems = [problem for place in self._places(batch) if (problem := self._try_release(place, batch))]
        with suppress(OSError):
            self._layout.batch(batch).rmdir()
        self._pool.sweep()
        self.empty_trash()
        if problems:
            raise problems[0]

    def usage(self) -> int:
        own = (*self._repository.admins, *children(self._repository.trash))
        return self._sizes.total((*self._layout.all(), *own))

    def shrink(self, keep: int = 0) -> None:
        """Let go of pooled worktrees, down to so many: the disk may be short, or nothing more is to come."""
        self._pool.shrink(keep)
        self.empty_trash()

    def empty_trash(self) -> None:
        self._pool.empty_trash()

    def _commit(self, name: str) -> str:
        commit = self._repository.commit(name)
        if commit is None:
            raise WorldError(
                f"{self._repository.common} has no commit {name}",
                hint="Fetch it, or start the batch again from a commit that is there.",
            )
        return commit

    def _sweep_once(self) -> None:
        if not self._swept:
            self._pool.sweep()
            self._swept = True

    def _where_to_begin(self, here: Worktree | None, wanted: Stamp, branch: str) -> str:
        """If somebody took the folder of a task that had begun here, with all that was committed in it."""
        known = stamp.read(here.admin) if here is not None and here.admin is not None else None
        tip = self._repository.commit(f"refs/heads/{branch}")
        if known is None or tip is None or not known.began_as(wanted):
            return wanted.base
        return tip if self._repository.holds(wanted.base, tip) else wanted.base

    def _make(self, place: Path, wanted: Stamp, commit: str, branch: str, *, new: bool = False) -> None:
        used = False
        try:
            with self._pool.worktree(wanted, commit, new=new) as (worktree, used):
                laying.lay(self._repository, worktree, wanted, commit, used=used)
                if branch:
                    shelf = Shelf(self._repository, wanted.batch, wanted.task)
                    branches.begin(shelf, worktree, branch, commit)
                self._pool.place(worktree, place)
        except GitError:
            if not used:
                raise
            # Its last task may have left what git can't remove.
            self._make(place, wanted, commit, branch, new=True)

    def _fill(self, place: Path, top: str) -> None:
        """Where a crash came between, nobody has worked here yet."""
        here = find(self._repository, place)
        known = stamp.read(here.admin) if here is not None and here.admin is not None else None
        if here is None or here.admin is None or known is None or known.filled:
            return
        empty = submodules.fill(self._repository, here.admin, place, Path(top))
        stamp.write(here.admin, replace(known, filled=True))
        if empty:
            self._told(
                f"submodules stay empty in {place}: {', '.join(empty)} (this machine has no clone of them with the commit"
                " that is asked for; git submodule update --init in the checkout gets one)"
            )

    def _clean(self, here: Worktree, wanted: Stamp) -> bool:
        assert here.admin is not None
        git = self._repository.at(here.admin, here.folder, settings=sparse.settings(here.admin))
        at = git.run("rev-parse", "--verify", "--quiet", "HEAD", codes=(0, 1, 128)).text
        return at == wanted.base and not git.run("status", "--porcelain", "--untracked-files=all").out

    def _places(self, batch: str) -> list[Path]:
        """All folders of the batch, and those that somebody removed and git still knows of."""
        folder = self._layout.batch(batch)
        homes = [home(each) for each in self._repository.admins]
        gone = [each for each in homes if each is not None and each.parent == folder]
        return list(dict.fromkeys((*children(folder), *gone)))

    def _try_release(self, place: Path, batch: str) -> WorldError | None:
        here = find(self._repository, place)
        known = stamp.read(here.admin) if here is not None and here.admin is not None else None
        try:
            self._release(place, batch, known.task if known else place.name.removeprefix("task-"))
        except WorldError as error:
            return error
        return None

    def _release(self, place: Path, batch: str, task: str) -> None:
        here = find(self._repository, place)
        if here is None:
            return
        if place == self._layout.gate(batch):
            self._pool.give_back(here)
        else:
            self._save_and_give_back(here, batch, task)

    def _save_and_give_back(self, here: Worktree, batch: str, task: str) -> None:
        if here.admin is None and is_folder(here.folder):
            tip = self._repository.commit(f"refs/heads/{refs.task_branch(batch, task)}")
            here = self._pool.adopt(here.folder, tip or self._commit("HEAD"))
        save(Shelf(self._repository, batch, task), here)
        self._pool.give_back(here)


def _began(here: Worktree, wanted: Stamp) -> bool:
    known = stamp.read(here.sound) if here.sound is not None else None
    return known is not None and known.began_as(wanted)
