"""`plait gc`: remove what finished batches left behind, and list or restore what was saved of it.

Without a terminal, or with `--json`, it only lists: removing needs `--yes`.
"""

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
from plait.git.gc.removal_rules import (
    BranchItem,
    BrokenRefItem,
    GcItem,
    GcOptions,
    GcPlan,
    KeptItem,
    RefItem,
    Removal,
    plan_gc,
)
from plait.git.gc.restore import SavedCommit, list_saved_commits, restore_branch
from plait.git.location import RepoLocation
from plait.store.state_claim import open_repo


def gc_command(
    where: Path,
    arguments: Annotated[
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
    location = open_repo(where)
    if arguments:
        return _restore(location, arguments, branch, as_json=as_json)
    if branch is not None:
        raise UserError("--as only works with restore", hint="plait gc restore NAME --as BRANCH")
    if listing:
        return _print_saved(location, as_json=as_json)
    with open_session(location) as session:
        collector = open_session_collector(session, load_project_config(where))
        facts = collector.collect_facts()
        seconds = None if older is None else _parse_older(older)
        if with_unmerged and not forget:
            raise UserError("--with-unmerged only works with --forget", hint="plait gc --forget BATCH")
        state = session.preview_state()
        batches = frozenset(find_batch_to_forget(state, facts, name) for name in forget or ())
        options = GcOptions(seconds, batches, with_unmerged, forget_lost)
        plan = plan_gc(facts, options)
        can_ask = output.is_interactive() and not as_json
        lists_only = dry_run or not (yes or can_ask)
        if as_json and lists_only:
            output.print_json(describe_cleanup(plan))
        elif not as_json:
            print_cleanup(plan)
        if dry_run or not (plan.removals or (as_json and yes)):
            return output.OK
        if lists_only:
            output.print_notice("Nothing was removed: that needs --yes, or a terminal to ask on.")
            return output.NEEDS_PERSON
        if not (yes or _confirm(plan, options)):
            output.print_notice("Nothing was removed.")
            return output.FAILED
        return _clean(location, collector, plan, options, as_json=as_json)


def _parse_older(text: str) -> float:
    seconds = parse_duration_setting(text)
    if seconds is None:
        raise UserError(f"{text} is not a duration", hint="--older 14d, --older 12h")
    return seconds


def _clean(
    location: RepoLocation, collector: GarbageCollector, plan: GcPlan, options: GcOptions, *, as_json: bool
) -> int:
    before = _list_saved_names(location)
    outcomes = list(collector.clean(plan.removals, options))
    newly_saved = sorted(_list_saved_names(location) - before)
    if as_json:
        output.print_json(describe_removals(plan, outcomes, newly_saved))
    else:
        print_removed(outcomes, newly_saved, forgotten=sorted(options.forget))
    return output.FAILED if any(isinstance(outcome, KeptItem) for outcome in outcomes) else output.OK


def _list_saved_names(location: RepoLocation) -> set[str]:
    return (
        {commit.name for commit in list_saved_commits(open_repository_git(location))} if location.repository else set()
    )


def _print_saved(location: RepoLocation, *, as_json: bool) -> int:
    commits = list_saved_commits(open_repository_git(location)) if location.repository else []
    if as_json:
        output.print_json(
            {
                "saved": [
                    {"name": commit.name, "ref": commit.ref, "commit": commit.commit, "subject": commit.subject}
                    for commit in commits
                ]
            }
        )
    else:
        print_saved(commits)
    return output.OK


def _restore(location: RepoLocation, arguments: Sequence[str], branch: str | None, *, as_json: bool) -> int:
    if len(arguments) != 2 or arguments[0] != "restore":
        raise UserError("gc takes no arguments except restore NAME", hint="plait gc restore NAME")
    if not location.repository:
        raise UserError(f"{location.top} is not a repository, so nothing is saved in it")
    with open_session(location) as session:
        known = collect_names(session.preview_state())
    restored = restore_branch(open_repository_git(location), known, arguments[1], branch)
    if as_json:
        output.print_json({"branch": restored.branch, "commit": restored.commit, "made": restored.made})
    else:
        what = f"Created branch {restored.branch}" if restored.made else f"Branch {restored.branch} already exists"
        output.print_line(f"{what}, at {restored.commit[:12]}: git switch {restored.branch}")
    return output.OK


def _confirm(plan: GcPlan, options: GcOptions) -> bool:
    """Ask whether to remove all this. A batch whose unmerged results would be lost for good is confirmed by its name."""
    unrecoverable = [item for item in plan.removals if isinstance(item.item, RefItem) and not item.item.elsewhere]
    if not unrecoverable:
        return output.confirm("Remove this? [y/N] ")
    return all(_confirm_by_name(batch, unrecoverable) for batch in sorted(options.forget))


def _confirm_by_name(batch: str, unrecoverable: Sequence[Removal]) -> bool:
    count = sum(isinstance(item.item, RefItem) and item.item.batch == batch for item in unrecoverable)
    question = f"{count} results of batch {batch} were never merged and can't be restored by plait. Type {batch} to delete them: "
    return not count or output.prompt_line(question) == batch


_MAX_GROUPS = 200
_PLURALS = {"branch": "branches", "transcripts": "transcripts", "trash": "trash", "setups": "setups"}


def _get_name(item: GcItem) -> str:
    return item.name if isinstance(item, BranchItem | RefItem | BrokenRefItem) else item.path


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


def _add_groups(page: output.Page, entries: Iterable[Removal | KeptItem]) -> None:
    """Add the items; those of the same kind, batch and reason share a line."""
    groups: dict[tuple[str, str, str], list[GcItem]] = {}
    for entry in entries:
        groups.setdefault((entry.item.batch, entry.item.kind, entry.why), []).append(entry.item)
    width = max(len(_format_batch(batch)) for batch, _, _ in groups)
    for (batch, kind, why), items in sorted(groups.items())[:_MAX_GROUPS]:
        size = sum(item.size for item in items)
        plural = _PLURALS.get(kind, "")
        count = kind if kind == plural and len(items) == 1 else pluralize(len(items), kind, plural)
        amount = f"{count}, {format_size(size)}" if size else count
        only = f" {_get_name(items[0])}" if len(items) == 1 else ""
        page.add_line(f"  {_format_batch(batch):<{width}}  {amount}", (f"{only}: {why}", "dim"))
    if len(groups) > _MAX_GROUPS:
        page.add_line((f"  … and {len(groups) - _MAX_GROUPS} more: --json lists them all", "dim"))


def _format_batch(batch: str) -> str:
    return f"batch {batch}" if batch else "no batch"


def print_removed(outcomes: Sequence[Removal | KeptItem], newly_saved: Sequence[str], forgotten: Sequence[str]) -> None:
    page = output.Page()
    removed = [outcome for outcome in outcomes if isinstance(outcome, Removal)]
    freed = sum(item.item.size for item in removed)
    page.add_line((f"Removed {pluralize(len(removed), 'item')}, {format_size(freed)}.", "bold"))
    for outcome in outcomes:
        if isinstance(outcome, KeptItem):
            page.add_line(("  kept ", "yellow"), f"{outcome.item.kind} {_get_name(outcome.item)}: {outcome.why}")
        elif isinstance(outcome.item, RefItem) and not outcome.item.elsewhere:
            page.add_line(f"  {outcome.item.name} was {outcome.item.tip}; git keeps that commit for a while")
    for name in newly_saved:
        page.add_line(f"  saved {name}: plait gc restore {name}")
    for batch in forgotten:
        page.add_line((f"  The journal still contains batch {batch}: nothing is ever removed from it.", "dim"))
    page.show()


def print_saved(commits: Sequence[SavedCommit]) -> None:
    page = output.Page()
    if not commits:
        page.add_line("Nothing is saved.")
    width = max((len(commit.name) for commit in commits), default=0)
    for commit in commits:
        page.add_line(
            commit.name.ljust(width), (f"  {commit.commit[:12]}  {format_date(commit.at)}  {commit.subject}", "dim")
        )
    if commits:
        page.add_line()
        page.add_line("Create a branch from one: plait gc restore NAME")
    page.show()


def describe_cleanup(plan: GcPlan) -> Mapping[str, object]:
    return {
        "items": [_describe_item(removal) for removal in plan.removals],
        "kept": [_describe_item(kept) for kept in plan.kept],
        "bytes": sum(removal.item.size for removal in plan.removals),
    }


def describe_removals(
    plan: GcPlan, outcomes: Sequence[Removal | KeptItem], newly_saved: Sequence[str]
) -> Mapping[str, object]:
    removed = [outcome for outcome in outcomes if isinstance(outcome, Removal)]
    return {
        "removed": [_describe_item(removal) for removal in removed],
        "kept": [
            _describe_item(outcome)
            for outcome in (*plan.kept, *(outcome for outcome in outcomes if isinstance(outcome, KeptItem)))
        ],
        "saved": list(newly_saved),
        "bytes": sum(removal.item.size for removal in removed),
    }


def _describe_item(entry: Removal | KeptItem) -> Mapping[str, object]:
    return {
        "kind": entry.item.kind,
        "name": _get_name(entry.item),
        "batchId": entry.item.batch or None,
        "bytes": entry.item.size,
        "why": entry.why,
        "save": entry.save if isinstance(entry, Removal) else False,
    }
