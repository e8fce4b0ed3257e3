"""`plait gc`: what batches left behind, what of it can go, and what was saved of it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from plait.cli.commands.gc import cleanup_json, print_cleanup, print_removed, print_saved, removed_json
from plait.cli.output import FAILED, OK, print_json, replace_control_chars
from plait.client.gc import collect_names, find_batch_to_forget, open_session_collector
from plait.client.gc__attic import open_repository_git
from plait.client.project_sources import load_settings
from plait.client.session import Session, open_session
from plait.config.units import parse_duration_setting
from plait.core.errors import UserError
from plait.core.fast_dataclass import dataclass
from plait.git.gc.collector import GarbageCollector
from plait.git.gc.items import GcFacts, GcOptions, GcPlan, KeptItem, RefItem, Removal
from plait.git.gc.removal_rules import plan_gc
from plait.git.gc.restore import list_saved_commits, restore_branch
from plait.git.location import RepoLocation, find_repo

RESTORE = "restore"


@dataclass(frozen=True, slots=True)
class GcArguments:
    dry_run: bool = False
    older: str | None = None
    forget: tuple[str, ...] = ()
    unmerged: bool = False
    lost: bool = False
    listing: bool = False
    branch: str | None = None
    yes: bool = False
    as_json: bool = False


def gc_command(where: Path, words: Sequence[str], arguments: GcArguments) -> int:
    place = find_repo(where)
    if words:
        return _restore(place, words, arguments)
    if arguments.branch is not None:
        raise UserError("--as is about restoring", hint="plait gc restore NAME --as BRANCH")
    if arguments.listing:
        return _print_saved(place, arguments)
    with open_session(place) as desk:
        attic = open_session_collector(desk, load_settings(where))
        facts = attic.collect_facts()
        request = _parse_request(desk, facts, arguments)
        return _clean(place, attic, plan_gc(facts, request), request, arguments)


def _parse_request(desk: Session, facts: GcFacts, arguments: GcArguments) -> GcOptions:
    older = None if arguments.older is None else parse_duration_setting(arguments.older)
    if arguments.older is not None and older is None:
        raise UserError(f"{arguments.older} is no length of time", hint="--older 14d, --older 12h")
    if arguments.unmerged and not arguments.forget:
        raise UserError(
            "--with-unmerged is about batches that are to be forgotten", hint="plait gc --forget BATCH"
        )
    state = desk.preview_state()
    forget = frozenset(find_batch_to_forget(state, facts, word) for word in arguments.forget)
    return GcOptions(older, forget, arguments.unmerged, arguments.lost)


def _clean(
    place: RepoLocation, attic: GarbageCollector, plan: GcPlan, request: GcOptions, arguments: GcArguments
) -> int:
    if arguments.as_json and arguments.dry_run:
        print_json(cleanup_json(plan))
    elif not arguments.as_json:
        print_cleanup(plan)
    if arguments.dry_run or not (plan.removals or arguments.as_json):
        return OK
    if not (arguments.yes or arguments.as_json or _confirm(plan, request)):
        print("Nothing was removed.", file=sys.stderr)  # noqa: T201 - a person answers a person
        return FAILED
    before = _list_saved_names(place)
    outcomes = list(attic.clean(plan.removals, request))
    newly_saved = sorted(_list_saved_names(place) - before)
    if arguments.as_json:
        print_json(removed_json(plan, outcomes, newly_saved))
    else:
        print_removed(outcomes, newly_saved, forgotten=sorted(request.forget))
    return FAILED if any(isinstance(each, KeptItem) for each in outcomes) else OK


def _list_saved_names(place: RepoLocation) -> set[str]:
    return (
        {each.name for each in list_saved_commits(open_repository_git(place))} if place.repository else set()
    )


def _print_saved(place: RepoLocation, arguments: GcArguments) -> int:
    found = list_saved_commits(open_repository_git(place)) if place.repository else []
    if arguments.as_json:
        print_json(
            {
                "saved": [
                    {"name": e.name, "ref": e.ref, "commit": e.commit, "subject": e.subject} for e in found
                ]
            }
        )
    else:
        print_saved(found)
    return OK


def _restore(place: RepoLocation, words: Sequence[str], arguments: GcArguments) -> int:
    if len(words) != 2 or words[0] != RESTORE:  # the word and a name
        raise UserError("gc takes no names, but for what is to be restored", hint="plait gc restore NAME")
    if not place.repository:
        raise UserError(f"{place.top} is no repository: nothing is saved in it")
    with open_session(place) as desk:
        known = collect_names(desk.preview_state())
    made = restore_branch(open_repository_git(place), known, words[1], arguments.branch)
    if arguments.as_json:
        print_json({"branch": made.branch, "commit": made.commit, "made": made.made})
    else:
        how = "was made" if made.made else "is there already"
        print(
            replace_control_chars(
                f"The branch {made.branch} {how}, at {made.commit[:12]}: git switch {made.branch}"
            )
        )  # noqa: T201 - the answer
    return OK


def _confirm(plan: GcPlan, request: GcOptions) -> bool:
    """Whoever is not at a terminal has said it already. What would be lost for good is confirmed by name."""
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()):
        return True
    unrecoverable = [
        item for item in plan.removals if isinstance(item.item, RefItem) and not item.item.elsewhere
    ]
    if not unrecoverable:
        return prompt_line("Remove this? [y/N] ").lower() in {"y", "yes"}
    return all(_confirm_by_name(batch, unrecoverable) for batch in sorted(request.forget))


def _confirm_by_name(batch: str, unrecoverable: Sequence[Removal]) -> bool:
    many = sum(isinstance(item.item, RefItem) and item.item.batch == batch for item in unrecoverable)
    question = f"{many} results of batch {batch} were never merged, and can't be brought back by plait. Type {batch} to forget it: "
    return not many or prompt_line(question) == batch


def prompt_line(question: str) -> str:
    try:
        return input(replace_control_chars(question)).strip()
    except EOFError:  # Ctrl+D leaves as Ctrl+C does
        raise KeyboardInterrupt from None
