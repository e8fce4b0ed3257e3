"""`plait gc`: remove what finished batches left behind, and list or restore what was saved of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from plait.cli import options as opt, output
from plait.cli.format import format_date, format_size, pluralize
from plait.client.gc import collect_names, find_batch_to_forget, open_repository_git, open_session_collector
from plait.client.project_state import load_project_config
from plait.client.session import open_session
from plait.config.units import parse_duration_setting
from plait.core.errors import UserError
from plait.git.gc.collector import GarbageCollector
from plait.git.gc.removal_rules import BranchItem, GcItem, GcOptions, GcPlan, KeptItem, RefItem, Removal, plan_gc
from plait.git.gc.restore import SavedCommit, list_saved_commits, restore_branch
from plait.git.location import RepoLocation, find_repo


def gc_command(
    where: Path,
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[restore NAME]", help="Create a branch from saved work with this name."),
    ] = None,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="Show what would be removed without removing it.")
    ] = False,
    older: Annotated[
        str | None,
        typer.Option(
            "--older",
            metavar="SPAN",
            help="Only batches that ended this long ago, but of those also transcripts and unmerged branches: 14d.",
        ),
    ] = None,
    forget: Annotated[
        list[str] | None,
        typer.Option("--forget", metavar="BATCH", help="Remove everything of this batch except unmerged work."),
    ] = None,
    with_unmerged: Annotated[
        bool, typer.Option("--with-unmerged", help="With --forget: also delete unmerged work, permanently.")
    ] = False,
    forget_lost: Annotated[
        bool, typer.Option("--forget-lost", help="Also remove workspaces of repositories that no longer exist.")
    ] = False,
    listing: Annotated[bool, typer.Option("--list", help="List saved work by name.")] = False,
    branch: Annotated[str | None, typer.Option("--as", metavar="BRANCH", help="With restore: the branch name.")] = None,
    yes: opt.NoPrompt = False,
    as_json: opt.Json = False,
) -> int:
    place = find_repo(where)
    if words:
        return _restore(place, words, branch, as_json=as_json)
    if branch is not None:
        raise UserError("--as only works with restore", hint="plait gc restore NAME --as BRANCH")
    if listing:
        return _print_saved(place, as_json=as_json)
    with open_session(place) as session:
        collector = open_session_collector(session, load_project_config(where))
        facts = collector.collect_facts()
        seconds = None if older is None else parse_duration_setting(older)
        if older is not None and seconds is None:
            raise UserError(f"{older} is not a duration", hint="--older 14d, --older 12h")
        if with_unmerged and not forget:
            raise UserError("--with-unmerged only works with --forget", hint="plait gc --forget BATCH")
        state = session.preview_state()
        batches = frozenset(find_batch_to_forget(state, facts, word) for word in forget or ())
        options = GcOptions(seconds, batches, with_unmerged, forget_lost)
        plan = plan_gc(facts, options)
        if as_json and dry_run:
            output.print_json(describe_cleanup(plan))
        elif not as_json:
            print_cleanup(plan)
        if dry_run or not (plan.removals or as_json):
            return output.OK
        if not (yes or as_json or _confirm(plan, options)):
            output.print_notice("Nothing was removed.")
            return output.FAILED
        return _clean(place, collector, plan, options, as_json=as_json)


def _clean(place: RepoLocation, collector: GarbageCollector, plan: GcPlan, options: GcOptions, *, as_json: bool) -> int:
    before = _list_saved_names(place)
    outcomes = list(collector.clean(plan.removals, options))
    newly_saved = sorted(_list_saved_names(place) - before)
    if as_json:
        output.print_json(describe_removals(plan, outcomes, newly_saved))
    else:
        print_removed(outcomes, newly_saved, forgotten=sorted(options.forget))
    return output.FAILED if any(isinstance(each, KeptItem) for each in outcomes) else output.OK


def _list_saved_names(place: RepoLocation) -> set[str]:
    return {each.name for each in list_saved_commits(open_repository_git(place))} if place.repository else set()


def _print_saved(place: RepoLocation, *, as_json: bool) -> int:
    found = list_saved_commits(open_repository_git(place)) if place.repository else []
    if as_json:
        output.print_json(
            {"saved": [{"name": e.name, "ref": e.ref, "commit": e.commit, "subject": e.subject} for e in found]}
        )
    else:
        print_saved(found)
    return output.OK


def _restore(place: RepoLocation, words: Sequence[str], branch: str | None, *, as_json: bool) -> int:
    if len(words) != 2 or words[0] != "restore":
        raise UserError("gc takes no arguments except restore NAME", hint="plait gc restore NAME")
    if not place.repository:
        raise UserError(f"{place.top} is not a repository, so nothing is saved in it")
    with open_session(place) as session:
        known = collect_names(session.preview_state())
    made = restore_branch(open_repository_git(place), known, words[1], branch)
    if as_json:
        output.print_json({"branch": made.branch, "commit": made.commit, "made": made.made})
    else:
        what = f"Created branch {made.branch}" if made.made else f"Branch {made.branch} already exists"
        output.print_line(f"{what}, at {made.commit[:12]}: git switch {made.branch}")
    return output.OK


def _confirm(plan: GcPlan, options: GcOptions) -> bool:
    """A batch whose unmerged results would be lost for good is confirmed by its name."""
    if not output.is_interactive():
        return True
    unrecoverable = [item for item in plan.removals if isinstance(item.item, RefItem) and not item.item.elsewhere]
    if not unrecoverable:
        return output.confirm("Remove this? [y/N] ")
    return all(_confirm_by_name(batch, unrecoverable) for batch in sorted(options.forget))


def _confirm_by_name(batch: str, unrecoverable: Sequence[Removal]) -> bool:
    many = sum(isinstance(item.item, RefItem) and item.item.batch == batch for item in unrecoverable)
    question = f"{many} results of batch {batch} were never merged and can't be restored by plait. Type {batch} to delete them: "
    return not many or output.prompt_line(question) == batch


_MAX_GROUPS = 200
_PLURALS = {"branch": "branches", "transcripts": "transcripts", "trash": "trash", "setups": "setups"}


def _get_name(thing: GcItem) -> str:
    return thing.name if isinstance(thing, BranchItem | RefItem) else thing.path


def print_cleanup(plan: GcPlan) -> None:
    page = output.Page()
    if not plan.removals:
        page.add_line("There is nothing to remove.")
    else:
        page.add_line(("can be removed", "bold"))
        _add_groups(page, plan.removals)
        total = sum(item.item.size for item in plan.removals)
        page.add_line(f"  {format_size(total)} in total")
        saves = sum(item.save for item in plan.removals)
        if saves:
            page.add_line(
                (
                    f"  {pluralize(saves, 'of them contains', 'of them contain')} work that is saved first: plait gc --list",
                    "dim",
                )
            )
    if plan.kept:
        page.add_line()
        page.add_line(("kept", "bold"))
        _add_groups(page, plan.kept)
    page.show()


def _add_groups(page: output.Page, found: Iterable[Removal | KeptItem]) -> None:
    """Items of the same kind, batch and reason share a line."""
    groups: dict[tuple[str, str, str], list[GcItem]] = {}
    for each in found:
        groups.setdefault((each.item.batch, each.item.kind, each.why), []).append(each.item)
    width = max(len(_format_batch(of)) for of, _, _ in groups)
    for (of, what, why), things in sorted(groups.items())[:_MAX_GROUPS]:
        taken = sum(thing.size for thing in things)
        amount = f"{pluralize(len(things), what, _PLURALS.get(what, ''))}{f', {format_size(taken)}' if taken else ''}"
        only = f" {_get_name(things[0])}" if len(things) == 1 else ""
        page.add_line(f"  {_format_batch(of):<{width}}  {amount}", (f"{only}: {why}", "dim"))
    if len(groups) > _MAX_GROUPS:
        page.add_line((f"  … and {len(groups) - _MAX_GROUPS} more: --json lists them all", "dim"))


def _format_batch(of: str) -> str:
    return f"batch {of}" if of else "no batch"


def print_removed(outcomes: Sequence[Removal | KeptItem], newly_saved: Sequence[str], forgotten: Sequence[str]) -> None:
    page = output.Page()
    gone = [each for each in outcomes if isinstance(each, Removal)]
    freed = sum(item.item.size for item in gone)
    page.add_line((f"Removed {pluralize(len(gone), 'item')}, {format_size(freed)}.", "bold"))
    for each in outcomes:
        if isinstance(each, KeptItem):
            page.add_line(("  kept ", "yellow"), f"{each.item.kind} {_get_name(each.item)}: {each.why}")
        elif isinstance(each.item, RefItem) and not each.item.elsewhere:
            page.add_line(f"  {each.item.name} was {each.item.tip}; git keeps that commit for a while")
    for each_name in newly_saved:
        page.add_line(f"  saved {each_name}: plait gc restore {each_name}")
    for each_batch in forgotten:
        page.add_line((f"  The journal still contains batch {each_batch}: nothing is ever removed from it.", "dim"))
    page.show()


def print_saved(found: Sequence[SavedCommit]) -> None:
    page = output.Page()
    if not found:
        page.add_line("Nothing is saved.")
    width = max((len(each.name) for each in found), default=0)
    for each in found:
        page.add_line(each.name.ljust(width), (f"  {each.commit[:12]}  {format_date(each.at)}  {each.subject}", "dim"))
    if found:
        page.add_line()
        page.add_line("Create a branch from one: plait gc restore NAME")
    page.show()


def describe_cleanup(plan: GcPlan) -> Mapping[str, object]:
    return {
        "items": [_describe_item(item) for item in plan.removals],
        "kept": [_describe_item(each) for each in plan.kept],
        "bytes": sum(item.item.size for item in plan.removals),
    }


def describe_removals(
    plan: GcPlan, outcomes: Sequence[Removal | KeptItem], newly_saved: Sequence[str]
) -> Mapping[str, object]:
    gone = [each for each in outcomes if isinstance(each, Removal)]
    return {
        "removed": [_describe_item(item) for item in gone],
        "kept": [
            _describe_item(each) for each in (*plan.kept, *(each for each in outcomes if isinstance(each, KeptItem)))
        ],
        "saved": list(newly_saved),
        "bytes": sum(item.item.size for item in gone),
    }


def _describe_item(each: Removal | KeptItem) -> Mapping[str, object]:
    return {
        "kind": each.item.kind,
        "name": _get_name(each.item),
        "batchId": each.item.batch or None,
        "bytes": each.item.size,
        "why": each.why,
        "save": each.save if isinstance(each, Removal) else False,
    }
