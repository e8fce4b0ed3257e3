"""`plait history`: all batches that ever were, with when, how long and how they ended."""

from __future__ import annotations

import time
from pathlib import Path

from plait.cli.say import OK, Page, write_json
from plait.cli.screen.spans import took
from plait.cli.show import cut, date, style, word
from plait.cli.status import counts, newest_first
from plait.cli.status_branch import published
from plait.core.views import BatchView, batch_view
from plait.front.desk import open_desk
from plait.wiring import find_place


def history_command(where: Path, *, as_json: bool) -> int:
    with open_desk(find_place(where)) as desk:
        state = desk.ahead()
    views = [batch_view(state, batch) for batch in newest_first(state)]
    if as_json:
        write_json({"batches": [_json(view) for view in views]})
    else:
        _show(views)
    return OK


def _show(views: list[BatchView]) -> None:
    page = Page()
    if not views:
        page.line("There is no batch yet: `plait run` makes one.")
    for view in views:
        page.line(
            (date(view.created_at), "dim"),
            "  ",
            (f"{view.id:<4}", "bold"),
            "  ",
            (f"{word(view.status):<9}", style(view.status)),
            f"  {took(_seconds(view)):>7}  {counts(view)}",
            f" · {view.cost}" if view.cost else "",
            (f" · {cut(', '.join(view.sources), 60)}" if view.sources else "", "dim"),
            f" · {told}" if (told := published(view)) else "",
        )
    page.show()


def _seconds(view: BatchView) -> float:
    return (view.ended_at if view.ended_at is not None else time.time()) - view.created_at


def _json(view: BatchView) -> dict[str, object]:
    """As BATCH, without its tasks and settings."""
    from plait.front.book import progress_json  # noqa: PLC0415 - people are told in words
    from plait.front.instant import iso, iso_or_none  # noqa: PLC0415
    from plait.front.shape import cost_json  # noqa: PLC0415

    return {
        "id": view.id,
        "status": view.status.value,
        "reason": view.reason,
        "mode": view.mode.value,
        "sources": view.sources,
        "branch": view.branch or None,
        "prUrl": view.pr_url or None,
        "createdAt": iso(view.created_at),
        "startedAt": iso_or_none(view.started_at),
        "completedAt": iso_or_none(view.ended_at),
        "seconds": round(_seconds(view), 3),
        "cost": cost_json(view.cost),
        "progress": progress_json(view.progress.total, dict(view.progress.counts)),
    }
