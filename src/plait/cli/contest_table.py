"""A contest as people read it: a row for each entrant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from plait.cli.say import Page, harmless
from plait.cli.screen.row import cost
from plait.cli.screen.spans import took
from plait.cli.show import changes, cut, minus, room
from plait.core.status import TaskStatus
from plait.front.contests import ContestView, EntrantView

_MOST = 10  # contests that are told one by one
_VERDICT = 200  # characters
_WHY = 100
_MARGIN = "    "
_HEADS = ("entrant", "agent", "time", "cost", "change", "score", "verdict")


def show_contests(page: Page, contests: Sequence[ContestView], name: str) -> None:
    """Nothing, for batches without any."""
    for contest in contests[:_MOST]:
        page.line()
        page.line(("  contest for ", "bold"), (contest.task, "bold"))
        show_table(page, contest)
    if len(contests) > _MOST:
        page.line((f"  and {len(contests) - _MOST} more contests: plait explain {name} TASK", "dim"))


def show_table(page: Page, contest: ContestView) -> None:
    """Columns that say nothing are left out; where the terminal is too narrow, a verdict has a line of its own."""
    rows = [_row(entrant) for entrant in contest.entrants]
    shown = [n for n in range(len(_HEADS)) if any(row[n] for row in rows)]
    widths = [max(len(row[n]) for row in (_HEADS, *rows)) for n in shown]
    width = room()
    beneath = width is not None and len(_MARGIN) + sum(widths) + 2 * (len(widths) - 1) > width
    if beneath:
        shown, widths = shown[:-1], widths[:-1]
    page.line((f"{_MARGIN}{_line((_HEADS[n] for n in shown), widths)}", "dim"))
    for entrant, row in zip(contest.entrants, rows, strict=True):
        page.line((f"{_MARGIN}{_line((row[n] for n in shown), widths)}", _style(entrant)))
        if beneath:
            page.line((f"{_MARGIN}  {row[-1]}", _style(entrant)))
    won = any(entrant.won for entrant in contest.entrants)
    if contest.why:  # whom it did not take, their verdicts tell
        page.line((f"{_MARGIN}{harmless(contest.why if won else cut(contest.why, _WHY))}", "dim"))
    kept = [entrant.branch for entrant in contest.entrants if entrant.branch and not entrant.won]
    if kept:
        page.line((f"{_MARGIN}{'branches of the others' if won else 'their branches'}:", "dim"))
    for branch in kept:
        page.line((f"{_MARGIN}  {branch}", "dim"))


def _row(entrant: EntrantView) -> tuple[str, ...]:
    verdict = " ".join(entrant.verdict.split())
    files = entrant.diffstat[0] if entrant.diffstat is not None else 0
    where = f" in {files} file{'' if files == 1 else 's'}" if files else ""
    return (
        entrant.id,
        entrant.agent,
        "" if entrant.seconds is None else took(entrant.seconds),
        cost(entrant.cost),
        f"{changes(entrant.diffstat, minus())}{where}",
        "" if entrant.score is None else f"{entrant.score:g}",
        harmless(verdict if len(verdict) <= _VERDICT else f"{verdict[:_VERDICT]}…"),
    )


def _line(cells: Iterable[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _style(entrant: EntrantView) -> str:
    if entrant.won:
        return "green"
    return "" if entrant.status in {None, TaskStatus.DONE} else "red"
