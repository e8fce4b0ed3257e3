"""The attic of one repository: what lies in it, and taking things out of it for good."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import assert_never

from plait.adapters.attic import heads, papers
from plait.adapters.attic.adopting import adopt
from plait.adapters.attic.lost import lost
from plait.adapters.attic.model import (
    Batch,
    Branch,
    Facts,
    Folder,
    Item,
    Kept,
    Lock,
    Lost,
    Ref,
    Setups,
    Thing,
    Transcripts,
    Trash,
    Use,
    Wish,
    Worktree,
)
from plait.adapters.attic.plan import judge
from plait.adapters.attic.rooms import age, at_work
from plait.adapters.attic.standing import Ground, look_again, worktrees
from plait.core.errors import WorldError
from plait.core.frozen import dataclass
from plait.site.folder import StateFolder, forget, make_private
from plait.site.outfitting import prune_cache
from plait.site.outfitting.disk import remove
from plait.site.workspaces.layout import Layout, new_id
from plait.site.workspaces.pool import Pool
from plait.site.workspaces.repository import Repository
from plait.site.workspaces.saving import save
from plait.site.workspaces.shelf import Shelf
from plait.site.workspaces.worktree import find, is_folder, point

BATCH_BRANCH = "batch+branch"  # in the place of a task's word: no task has this one


@dataclass(frozen=True, slots=True)
class Known:
    """What the journal knows: batches, and the ids of their tasks."""

    batches: Mapping[str, Batch]
    tasks: Mapping[str, Sequence[str]]


class Attic:
    """`known` is asked anew whenever it matters. Safe beside an engine, and beside another of its kind."""

    def __init__(
        self, repository: Repository, layout: Layout, folder: StateFolder, known: Callable[[], Known]
    ) -> None:
        self._repository = repository
        self._layout = layout
        self._folder = folder
        self._known = known
        self._roots = {layout.root}

    def facts(self) -> Facts:
        known = self._known()
        return Facts(time.time(), known.batches, tuple(self._things(known)))

    def _things(self, known: Known) -> Iterator[Thing]:
        yield from papers.papers(self._folder, known.tasks)
        yield from papers.trash(self._folder)
        if not (
            self._repository.common / "HEAD"
        ).is_file():  # a folder that is no repository has nothing else
            return
        names, git = heads.Names.of(known.tasks), self._repository.git
        yield from worktrees(self._ground(known))
        yield from papers.left_in(self._layout)
        yield from papers.locks(self._repository, names)
        yield from heads.branches(git, names, heads.checked_out(git))
        yield from heads.held(git, names)
        yield from papers.setups(self._layout)
        yield from lost(self._layout.root.parent)

    def clean(self, items: Sequence[Item], wish: Wish) -> Iterator[Item | Kept]:
        """Each as it went, or why it stays after all. In the order of a plan."""
        trees = [item for item in items if isinstance(item.thing, Worktree)]
        for item in trees:
            yield self._told(item, wish)
        if trees:
            self._clear_away()
        for item in items:
            if not isinstance(item.thing, Worktree):
                yield self._told(item, wish)
        self._close_up()

    def _told(self, item: Item, wish: Wish) -> Item | Kept:
        try:
            why = self._remove(item, wish)
        except WorldError as error:
            why = error.message
        except OSError as error:
            why = f"{error.strerror or error}"
        return Kept(item.thing, why) if why else item

    def _remove(self, item: Item, wish: Wish) -> str:
        """Why it stays; empty if it is gone."""
        thing = item.thing
        match thing:
            case Worktree(use=Use.MAKING):
                return ""  # cleared away with what was thrown away
            case Worktree():
                return self._throw(thing, wish)
            case Branch():
                return self._drop_branch(thing, wish)
            case Ref():
                return self._drop_ref(thing, wish)
            case Lock():
                return self._unlock(thing)
            case Setups():
                prune_cache(Path(thing.path), 0)
            case Trash() | Lost():
                remove(Path(thing.path))
            case Transcripts() | Folder():
                return self._drop_papers(thing, wish)
            case _:
                assert_never(thing)
        return ""

    def _throw(self, seen: Worktree, wish: Wish) -> str:
        """Under the lock that workspaces are made under, after another look: it may be somebody's again."""
        with self._repository.locked():
            known = self._known()
            now = look_again(self._ground(known), seen)
            if now is None:
                return ""
            if isinstance(kept := judge(Facts(time.time(), known.batches, (now,)), wish, now), Kept):
                return kept.why
            self._put_away(now)
        return ""

    def _put_away(self, thing: Worktree) -> None:
        there = find(self._repository, Path(thing.path))
        if there is None:
            return
        if thing.use is Use.TASK:
            if there.admin is None and is_folder(there.folder):
                there = adopt(self._repository, self._layout, there.folder, thing.batch, thing.task)
            save(Shelf(self._repository, thing.batch, thing.task), there)
        away = self._trash(thing) / (there.admin.name if there.admin is not None else new_id())
        if os.path.lexists(there.folder):
            there.move(away)
        elif there.admin is not None:
            point(there.admin, away)

    def _trash(self, thing: Worktree) -> Path:
        """On the same disk: it may lie where worktrees were made before the settings changed."""
        root = Path(thing.path).parent.parent
        self._roots.add(root)
        return Layout(root).trash

    def _clear_away(self) -> None:
        """The files first; git's own folders about worktrees that have none any more follow."""
        for root in self._roots:
            pool = Pool(self._repository, Layout(root), keep=0)
            pool.empty_trash()
            pool.sweep()
            pool.empty_trash()

    def _close_up(self) -> None:
        """Folders that have become empty."""
        for root in self._roots:
            for folder in root.glob("batch-*"):
                with suppress(OSError):
                    folder.rmdir()

    def _still(self, thing: Thing, wish: Wish) -> str:
        """Why it must stay, seen with what the journal knows now."""
        verdict = judge(Facts(time.time(), self._known().batches, (thing,)), wish, thing)
        return verdict.why if isinstance(verdict, Kept) else ""

    def _drop_branch(self, thing: Branch, wish: Wish) -> str:
        git, ref = self._repository.git, f"{heads.HEADS}{thing.name}"
        with self._repository.locked():
            if why := self._still(thing, wish):
                return why
            if where := heads.checked_out(git).get(ref):
                return f"it is checked out in {where}"
            if not (wish.unmerged and thing.batch in wish.forget):
                Shelf(self._repository, thing.batch, thing.task or BATCH_BRANCH).keep(thing.tip, leaving=ref)
            return heads.delete(git, ref, thing.tip)

    def _drop_ref(self, thing: Ref, wish: Wish) -> str:
        return self._still(thing, wish) or heads.delete(self._repository.git, thing.name, thing.tip)

    def _drop_papers(self, thing: Transcripts | Folder, wish: Wish) -> str:
        """Out of the way at once: whoever takes the batch up again meanwhile finds nothing half removed."""
        if why := self._still(thing, wish):
            return why
        away = self._folder.root / papers.TRASH / new_id()
        make_private(away.parent)
        if isinstance(thing, Folder) and thing.batch in wish.forget:
            forget(self._folder, thing.batch)
        with suppress(FileNotFoundError):
            Path(thing.path).rename(away)
            remove(away)
        return ""

    def _unlock(self, thing: Lock) -> str:
        path = Path(thing.path)
        if os.path.lexists(path) and age(path) < thing.age:
            return "somebody has taken it anew"
        path.unlink(missing_ok=True)
        return ""

    def _ground(self, known: Known) -> Ground:
        return Ground(self._repository, self._layout, known.batches, at_work())
