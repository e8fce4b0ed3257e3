"""`plait gc`: what batches left behind, what of it can go, and what was saved of it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from plait.cli.gc_tell import gone_json, plan_json, show_gone, show_plan, show_saved
from plait.cli.say import FAILED, OK, harmless, write_json
from plait.config.amounts import duration
from plait.core.errors import UserError
from plait.core.frozen import dataclass
from plait.front.desk import Desk, open_desk
from plait.front.tidying import names, open_attic, to_forget
from plait.wiring import Place, find_place
from plait.wiring.attic import (
    Attic,
    Cleanup,
    Facts,
    Item,
    Kept,
    Ref,
    Wish,
    plan_cleanup,
    repository_git,
    restore,
    saved,
)
from plait.wiring.sources import settings

RESTORE = "restore"


@dataclass(frozen=True, slots=True)
class GcWish:
    dry_run: bool = False
    older: str | None = None
    forget: tuple[str, ...] = ()
    unmerged: bool = False
    lost: bool = False
    listing: bool = False
    branch: str | None = None
    yes: bool = False
    as_json: bool = False


def gc_command(where: Path, words: Sequence[str], wish: GcWish) -> int:
    place = find_place(where)
    if words:
        return _restore(place, words, wish)
    if wish.branch is not None:
        raise UserError("--as is about restoring", hint="plait gc restore NAME --as BRANCH")
    if wish.listing:
        return _list(place, wish)
    with open_desk(place) as desk:
        attic = open_attic(desk, settings(where))
        facts = attic.facts()
        asked = _asked(desk, facts, wish)
        return _clean(place, attic, plan_cleanup(facts, asked), asked, wish)


def _asked(desk: Desk, facts: Facts, wish: GcWish) -> Wish:
    older = None if wish.older is None else duration(wish.older)
    if wish.older is not None and older is None:
        raise UserError(f"{wish.older} is no length of time", hint="--older 14d, --older 12h")
    if wish.unmerged and not wish.forget:
        raise UserError(
            "--with-unmerged is about batches that are to be forgotten", hint="plait gc --forget BATCH"
        )
    state = desk.ahead()
    forget = frozenset(to_forget(state, facts, word) for word in wish.forget)
    return Wish(older, forget, wish.unmerged, wish.lost)


def _clean(place: Place, attic: Attic, plan: Cleanup, asked: Wish, wish: GcWish) -> int:
    if wish.as_json and wish.dry_run:
        write_json(plan_json(plan))
    elif not wish.as_json:
        show_plan(plan)
    if wish.dry_run or not (plan.items or wish.as_json):
        return OK
    if not (wish.yes or wish.as_json or _confirmed(plan, asked)):
        print("Nothing was removed.", file=sys.stderr)  # noqa: T201 - a person answers a person
        return FAILED
    before = _saved(place)
    told = list(attic.clean(plan.items, asked))
    fresh = sorted(_saved(place) - before)
    if wish.as_json:
        write_json(gone_json(plan, told, fresh))
    else:
        show_gone(told, fresh, forgotten=sorted(asked.forget))
    return FAILED if any(isinstance(each, Kept) for each in told) else OK


def _saved(place: Place) -> set[str]:
    return {each.name for each in saved(repository_git(place))} if place.repository else set()


def _list(place: Place, wish: GcWish) -> int:
    found = saved(repository_git(place)) if place.repository else []
    if wish.as_json:
        write_json(
            {
                "saved": [
                    {"name": e.name, "ref": e.ref, "commit": e.commit, "subject": e.subject} for e in found
                ]
            }
        )
    else:
        show_saved(found)
    return OK


def _restore(place: Place, words: Sequence[str], wish: GcWish) -> int:
    if len(words) != 2 or words[0] != RESTORE:  # the word and a name
        raise UserError("gc takes no names, but for what is to be restored", hint="plait gc restore NAME")
    if not place.repository:
        raise UserError(f"{place.top} is no repository: nothing is saved in it")
    with open_desk(place) as desk:
        known = names(desk.ahead())
    made = restore(repository_git(place), known, words[1], wish.branch)
    if wish.as_json:
        write_json({"branch": made.branch, "commit": made.commit, "made": made.made})
    else:
        how = "was made" if made.made else "is there already"
        print(harmless(f"The branch {made.branch} {how}, at {made.commit[:12]}: git switch {made.branch}"))  # noqa: T201 - the answer
    return OK


def _confirmed(plan: Cleanup, asked: Wish) -> bool:
    """Whoever is not at a terminal has said it already. What would be lost for good is confirmed by name."""
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()):
        return True
    doomed = [item for item in plan.items if isinstance(item.thing, Ref) and not item.thing.elsewhere]
    if not doomed:
        return _said("Remove this? [y/N] ").lower() in {"y", "yes"}
    return all(_by_name(batch, doomed) for batch in sorted(asked.forget))


def _by_name(batch: str, doomed: Sequence[Item]) -> bool:
    many = sum(isinstance(item.thing, Ref) and item.thing.batch == batch for item in doomed)
    question = f"{many} results of batch {batch} were never merged, and can't be brought back by plait. Type {batch} to forget it: "
    return not many or _said(question) == batch


def _said(question: str) -> str:
    try:
        return input(harmless(question)).strip()
    except EOFError:  # Ctrl+D leaves as Ctrl+C does
        raise KeyboardInterrupt from None
