"""How `plait gc` tells what can go and what went: by batch, with how much disk it takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

from plait.cli.commands.logs__logs_tell import format_size
from plait.cli.format import format_date
from plait.cli.output import Page
from plait.git.gc.items import (
    BatchFolderItem,
    BranchItem,
    GcItem,
    GcPlan,
    KeptItem,
    LockItem,
    LostRepositoryItem,
    RefItem,
    Removal,
    SetupCacheItem,
    TranscriptsItem,
    TrashItem,
    WorktreeItem,
    WorktreeUse,
)
from plait.git.gc.restore import SavedCommit

_MAX_GROUPS = 200
_WORKTREE_LABELS = {
    WorktreeUse.TASK: "workspace",
    WorktreeUse.GATE: "gate's workspace",
    WorktreeUse.POOL: "pooled worktree",
    WorktreeUse.MAKING: "half-made worktree",
}
_PLURALS = {"branch": "branches", "transcripts": "transcripts", "trash": "trash", "setups": "setups"}


def describe_kind(thing: GcItem) -> str:
    match thing:
        case WorktreeItem(use=use):
            return _WORKTREE_LABELS[use]
        case BranchItem():
            return "branch"
        case RefItem():
            return "ref"
        case TranscriptsItem():
            return "transcripts"
        case BatchFolderItem():
            return "batch folder"
        case TrashItem():
            return "trash"
        case SetupCacheItem():
            return "setups"
        case LockItem():
            return "stale lock"
        case LostRepositoryItem():
            return "lost workspaces"
        case _:
            assert_never(thing)


def get_name(thing: GcItem) -> str:
    return thing.name if isinstance(thing, BranchItem | RefItem) else thing.path


def get_size(thing: GcItem) -> int:
    return 0 if isinstance(thing, BranchItem | RefItem | LockItem) else thing.size


def get_batch(thing: GcItem) -> str:
    return "" if isinstance(thing, TrashItem | SetupCacheItem | LostRepositoryItem) else thing.batch


def print_cleanup(plan: GcPlan) -> None:
    page = Page()
    if not plan.removals:
        page.add_line("There is nothing to remove.")
    else:
        page.add_line(("can go", "bold"))
        _add_groups(page, plan.removals)
        total = sum(get_size(item.item) for item in plan.removals)
        page.add_line(f"  {format_size(total)} in all")
        saves = sum(item.save for item in plan.removals)
        if saves:
            page.add_line(
                (
                    f"  {_pluralize(saves, 'of them holds', 'of them hold')} work that is saved first: plait gc --list",
                    "dim",
                )
            )
    if plan.kept:
        page.add_line()
        page.add_line(("stays", "bold"))
        _add_groups(page, plan.kept)
    page.show()


def _add_groups(page: Page, found: Iterable[Removal | KeptItem]) -> None:
    """Things of one kind, of one batch, for one reason are one line."""
    groups: dict[tuple[str, str, str], list[GcItem]] = {}
    for each in found:
        groups.setdefault((get_batch(each.item), describe_kind(each.item), each.why), []).append(each.item)
    width = max(len(_format_batch(of)) for of, _, _ in groups)
    for (of, what, why), things in sorted(groups.items())[:_MAX_GROUPS]:
        taken = sum(map(get_size, things))
        told = f"{_pluralize(len(things), what)}{f', {format_size(taken)}' if taken else ''}"
        only = f" {get_name(things[0])}" if len(things) == 1 else ""
        page.add_line(f"  {_format_batch(of):<{width}}  {told}", (f"{only}: {why}", "dim"))
    if len(groups) > _MAX_GROUPS:
        page.add_line((f"  … and {len(groups) - _MAX_GROUPS} more: --json lists them all", "dim"))


def _format_batch(of: str) -> str:
    return f"batch {of}" if of else "no batch"


def _pluralize(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or _PLURALS.get(one, f'{one}s')}"


def print_removed(
    outcomes: Sequence[Removal | KeptItem], newly_saved: Sequence[str], forgotten: Sequence[str]
) -> None:
    page = Page()
    gone = [each for each in outcomes if isinstance(each, Removal)]
    freed = sum(get_size(item.item) for item in gone)
    page.add_line((f"Removed {_pluralize(len(gone), 'thing')}, {format_size(freed)}.", "bold"))
    for each in outcomes:
        if isinstance(each, KeptItem):
            page.add_line(
                ("  stays ", "yellow"), f"{describe_kind(each.item)} {get_name(each.item)}: {each.why}"
            )
        elif isinstance(each.item, RefItem) and not each.item.elsewhere:
            page.add_line(f"  {each.item.name} was {each.item.tip}; git keeps that commit for a while")
    for each_name in newly_saved:
        page.add_line(f"  saved {each_name}: plait gc restore {each_name}")
    for each_batch in forgotten:
        page.add_line(
            (f"  The journal still tells of batch {each_batch}: nothing is ever taken out of it.", "dim")
        )
    page.show()


def print_saved(found: Sequence[SavedCommit]) -> None:
    page = Page()
    if not found:
        page.add_line("Nothing is saved here.")
    width = max((len(each.name) for each in found), default=0)
    for each in found:
        page.add_line(
            each.name.ljust(width), (f"  {each.commit[:12]}  {format_date(each.at)}  {each.subject}", "dim")
        )
    if found:
        page.add_line()
        page.add_line("plait gc restore NAME makes a branch of one.")
    page.show()


def cleanup_json(plan: GcPlan) -> Mapping[str, object]:
    return {
        "items": [_item_json(item) for item in plan.removals],
        "kept": [_item_json(each) for each in plan.kept],
        "bytes": sum(get_size(item.item) for item in plan.removals),
    }


def removed_json(
    plan: GcPlan, outcomes: Sequence[Removal | KeptItem], newly_saved: Sequence[str]
) -> Mapping[str, object]:
    gone = [each for each in outcomes if isinstance(each, Removal)]
    return {
        "removed": [_item_json(item) for item in gone],
        "kept": [
            _item_json(each)
            for each in (*plan.kept, *(each for each in outcomes if isinstance(each, KeptItem)))
        ],
        "saved": list(newly_saved),
        "bytes": sum(get_size(item.item) for item in gone),
    }


def _item_json(each: Removal | KeptItem) -> Mapping[str, object]:
    return {
        "kind": describe_kind(each.item),
        "name": get_name(each.item),
        "batchId": get_batch(each.item) or None,
        "bytes": get_size(each.item),
        "why": each.why,
        "save": each.save if isinstance(each, Removal) else False,
    }
