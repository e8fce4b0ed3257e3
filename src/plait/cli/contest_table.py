"""The table of a contest: a row for each entrant, and the votes of judges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from plait.cli import format as fmt
from plait.cli.output import Page
from plait.client.result_files import ContestResult, Entrant, JudgeVote
from plait.core.settings import Spend
from plait.core.status import TaskStatus

_MAX_CONTESTS = 10  # shown in full
_MAX_VERDICT_CHARS = 200
_MAX_REASON_CHARS = 100
_MARGIN = "    "
_HEADERS = ("entrant", "agent", "time", "cost", "change", "score", "verdict")


def add_contests(page: Page, contests: Mapping[str, ContestResult], name: str) -> None:
    for task, contest in list(contests.items())[:_MAX_CONTESTS]:
        page.add_line()
        page.add_line(("  contest for ", "bold"), (task, "bold"))
        add_contest_table(page, contest)
    if len(contests) > _MAX_CONTESTS:
        page.add_line((f"  and {len(contests) - _MAX_CONTESTS} more contests: plait explain {name} TASK", "dim"))


def add_contest_table(page: Page, contest: ContestResult) -> None:
    """Add the table. Empty columns are left out; on a narrow terminal the verdict gets its own line."""
    rows = [_make_cells(entrant) for entrant in contest.entrants]
    shown = [n for n in range(len(_HEADERS)) if any(row[n] for row in rows)]
    widths = [max(len(row[n]) for row in (_HEADERS, *rows)) for n in shown]
    width = fmt.get_line_width()
    verdict_below = width is not None and len(_MARGIN) + sum(widths) + 2 * (len(widths) - 1) > width
    if verdict_below:
        shown, widths = shown[:-1], widths[:-1]
    page.add_line((f"{_MARGIN}{_join_cells((_HEADERS[n] for n in shown), widths)}", "dim"))
    for entrant, row in zip(contest.entrants, rows, strict=True):
        page.add_line((f"{_MARGIN}{_join_cells((row[n] for n in shown), widths)}", _get_entrant_style(entrant)))
        if verdict_below:
            page.add_line((f"{_MARGIN}  {row[-1]}", _get_entrant_style(entrant)))
    won = any(entrant.is_winner for entrant in contest.entrants)
    if contest.why:  # the others have their reasons in their verdicts
        why = contest.why if won else fmt.truncate_line(contest.why, _MAX_REASON_CHARS)
        page.add_line((f"{_MARGIN}{why}", "dim"))
    _add_votes(page, contest)
    branches = [entrant.branch for entrant in contest.entrants if entrant.branch and not entrant.is_winner]
    if branches:
        page.add_line((f"{_MARGIN}{'branches of the others' if won else 'their branches'}:", "dim"))
    for branch in branches:
        page.add_line((f"{_MARGIN}  {branch}", "dim"))


def _add_votes(page: Page, contest: ContestResult) -> None:
    if not contest.votes:
        return
    page.add_line((f"{_MARGIN}{contest.summary}", "dim"))
    width = max(len(vote.judge) for vote in contest.votes)
    for vote in contest.votes:
        page.add_line((f"{_MARGIN}  {vote.judge.ljust(width)}  {_describe_vote(vote)}", "dim"))


def _describe_vote(vote: JudgeVote) -> str:
    if vote.failure is not None:
        return f"no vote: {fmt.truncate_line(vote.failure, _MAX_VERDICT_CHARS)}"
    choices = " > ".join(vote.ranking)
    rejected = f"rejects {', '.join(vote.rejected)}" if vote.rejected else ""
    reason = f" ({fmt.truncate_line(vote.reason, _MAX_VERDICT_CHARS)})" if vote.reason else ""
    return f"{'; '.join(filter(None, (choices, rejected)))}{reason}"


def _make_cells(entrant: Entrant) -> tuple[str, ...]:
    stat = entrant.diffstat
    where = f" in {fmt.pluralize(stat.files, 'file')}" if stat is not None and stat.files else ""
    change = fmt.format_diffstat(None if stat is None else (stat.files, stat.added, stat.removed), fmt.get_minus_sign())
    return (
        entrant.entrant,
        entrant.agent,
        "" if entrant.seconds is None else fmt.format_elapsed(entrant.seconds),
        fmt.format_cost(Spend(round(entrant.cost.usd * 1e6), entrant.cost.tokens)),
        f"{change}{where}",
        "" if entrant.score is None else f"{entrant.score:g}",
        fmt.truncate_line(entrant.verdict, _MAX_VERDICT_CHARS),
    )


def _join_cells(cells: Iterable[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _get_entrant_style(entrant: Entrant) -> str:
    if entrant.is_winner:
        return "green"
    return "" if entrant.status in {None, TaskStatus.DONE} else "red"
