"""`plait history`: all batches with their date, duration and result."""

from __future__ import annotations

from pathlib import Path

from plait.cli.commands.status import format_counts, format_publication, sort_newest_first
from plait.cli.format import STATUS_STYLES, format_date, format_elapsed, measure_elapsed, truncate_line
from plait.cli.output import OK, Page, print_json
from plait.client.session import open_session
from plait.core.views import BatchView, make_batch_view
from plait.git.location import find_repo


def history_command(where: Path, *, as_json: bool) -> int:
    with open_session(find_repo(where)) as session:
        state = session.preview_state()
    views = [make_batch_view(state, batch) for batch in sort_newest_first(state)]
    if as_json:
        print_json({"batches": [_batch_json(view) for view in views]})
    else:
        _print_history(views)
    return OK


def _print_history(views: list[BatchView]) -> None:
    page = Page()
    if not views:
        page.add_line("There is no batch yet: start one with `plait run`.")
    for view in views:
        page.add_line(
            (format_date(view.created_at), "dim"),
            "  ",
            (f"{view.id:<4}", "bold"),
            "  ",
            (f"{view.status.value:<9}", STATUS_STYLES[view.status]),
            f"  {format_elapsed(measure_elapsed(view.created_at, view.ended_at)):>7}  {format_counts(view)}",
            f" · {view.cost}" if view.cost else "",
            (f" · {truncate_line(', '.join(view.sources), 60)}" if view.sources else "", "dim"),
            f" · {told}" if (told := format_publication(view)) else "",
        )
    page.show()


def _batch_json(view: BatchView) -> dict[str, object]:
    """Like `batch_json`, without tasks and settings."""
    from plait.client.json_encoding import (
        cost_json,
        progress_json,
        to_iso,
        to_iso_or_none,
    )

    return {
        "id": view.id,
        "status": view.status.value,
        "reason": view.reason,
        "mode": view.mode.value,
        "sources": view.sources,
        "branch": view.branch or None,
        "prUrl": view.pr_url or None,
        "createdAt": to_iso(view.created_at),
        "startedAt": to_iso_or_none(view.started_at),
        "completedAt": to_iso_or_none(view.ended_at),
        "seconds": round(measure_elapsed(view.created_at, view.ended_at), 3),
        "cost": cost_json(view.cost),
        "progress": progress_json(view.progress.total, dict(view.progress.counts)),
    }
