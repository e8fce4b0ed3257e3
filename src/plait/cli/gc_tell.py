"""How `plait gc` tells what can go and what went: by batch, with how much disk it takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

from plait.cli.logs_tell import amount
from plait.cli.say import Page
from plait.cli.show import date
from plait.wiring.attic import (
    Branch,
    Cleanup,
    Folder,
    Item,
    Kept,
    Lock,
    Lost,
    Ref,
    Saved,
    Setups,
    Thing,
    Transcripts,
    Trash,
    Use,
    Worktree,
)

_SHOWN = 200
_USES = {
    Use.TASK: "workspace",
    Use.GATE: "gate's workspace",
    Use.POOL: "pooled worktree",
    Use.MAKING: "half-made worktree",
}
_PLURALS = {"branch": "branches", "transcripts": "transcripts", "trash": "trash", "setups": "setups"}


def kind(thing: Thing) -> str:
    match thing:
        case Worktree(use=use):
            return _USES[use]
        case Branch():
            return "branch"
        case Ref():
            return "ref"
        case Transcripts():
            return "transcripts"
        case Folder():
            return "batch folder"
        case Trash():
            return "trash"
        case Setups():
            return "setups"
        case Lock():
            return "stale lock"
        case Lost():
            return "lost workspaces"
        case _:
            assert_never(thing)


def name(thing: Thing) -> str:
    return thing.name if isinstance(thing, Branch | Ref) else thing.path


def size(thing: Thing) -> int:
    return 0 if isinstance(thing, Branch | Ref | Lock) else thing.size


def batch(thing: Thing) -> str:
    return "" if isinstance(thing, Trash | Setups | Lost) else thing.batch


def show_plan(plan: Cleanup) -> None:
    page = Page()
    if not plan.items:
        page.line("There is nothing to remove.")
    else:
        page.line(("can go", "bold"))
        _groups(page, plan.items)
        total = sum(size(item.thing) for item in plan.items)
        page.line(f"  {amount(total)} in all")
        saves = sum(item.save for item in plan.items)
        if saves:
            page.line(
                (
                    f"  {_count(saves, 'of them holds', 'of them hold')} work that is saved first: plait gc --list",
                    "dim",
                )
            )
    if plan.kept:
        page.line()
        page.line(("stays", "bold"))
        _groups(page, plan.kept)
    page.show()


def _groups(page: Page, found: Iterable[Item | Kept]) -> None:
    """Things of one kind, of one batch, for one reason are one line."""
    groups: dict[tuple[str, str, str], list[Thing]] = {}
    for each in found:
        groups.setdefault((batch(each.thing), kind(each.thing), each.why), []).append(each.thing)
    width = max(len(_whose(of)) for of, _, _ in groups)
    for (of, what, why), things in sorted(groups.items())[:_SHOWN]:
        taken = sum(map(size, things))
        told = f"{_count(len(things), what)}{f', {amount(taken)}' if taken else ''}"
        only = f" {name(things[0])}" if len(things) == 1 else ""
        page.line(f"  {_whose(of):<{width}}  {told}", (f"{only}: {why}", "dim"))
    if len(groups) > _SHOWN:
        page.line((f"  … and {len(groups) - _SHOWN} more: --json lists them all", "dim"))


def _whose(of: str) -> str:
    return f"batch {of}" if of else "no batch"


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or _PLURALS.get(one, f'{one}s')}"


def show_gone(told: Sequence[Item | Kept], fresh: Sequence[str], forgotten: Sequence[str]) -> None:
    page = Page()
    gone = [each for each in told if isinstance(each, Item)]
    freed = sum(size(item.thing) for item in gone)
    page.line((f"Removed {_count(len(gone), 'thing')}, {amount(freed)}.", "bold"))
    for each in told:
        if isinstance(each, Kept):
            page.line(("  stays ", "yellow"), f"{kind(each.thing)} {name(each.thing)}: {each.why}")
        elif isinstance(each.thing, Ref) and not each.thing.elsewhere:
            page.line(f"  {each.thing.name} was {each.thing.tip}; git keeps that commit for a while")
    for each_name in fresh:
        page.line(f"  saved {each_name}: plait gc restore {each_name}")
    for each_batch in forgotten:
        page.line(
            (f"  The journal still tells of batch {each_batch}: nothing is ever taken out of it.", "dim")
        )
    page.show()


def show_saved(found: Sequence[Saved]) -> None:
    page = Page()
    if not found:
        page.line("Nothing is saved here.")
    width = max((len(each.name) for each in found), default=0)
    for each in found:
        page.line(each.name.ljust(width), (f"  {each.commit[:12]}  {date(each.at)}  {each.subject}", "dim"))
    if found:
        page.line()
        page.line("plait gc restore NAME makes a branch of one.")
    page.show()


def plan_json(plan: Cleanup) -> Mapping[str, object]:
    return {
        "items": [_json(item) for item in plan.items],
        "kept": [_json(each) for each in plan.kept],
        "bytes": sum(size(item.thing) for item in plan.items),
    }


def gone_json(plan: Cleanup, told: Sequence[Item | Kept], fresh: Sequence[str]) -> Mapping[str, object]:
    gone = [each for each in told if isinstance(each, Item)]
    return {
        "removed": [_json(item) for item in gone],
        "kept": [_json(each) for each in (*plan.kept, *(each for each in told if isinstance(each, Kept)))],
        "saved": list(fresh),
        "bytes": sum(size(item.thing) for item in gone),
    }


def _json(each: Item | Kept) -> Mapping[str, object]:
    return {
        "kind": kind(each.thing),
        "name": name(each.thing),
        "batchId": batch(each.thing) or None,
        "bytes": size(each.thing),
        "why": each.why,
        "save": each.save if isinstance(each, Item) else False,
    }
