"""`plait history`: all batches with their date, duration and result. Also the options of `plait status`, whose own
module is loaded without typer by the fast path.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from plait.cli import options as opt
from plait.cli.commands.status import format_counts, format_publication, show_status, sort_newest_first
from plait.cli.format import STATUS_STYLES, format_agent_time, format_date, format_elapsed, truncate_line
from plait.cli.output import OK, Page, print_json
from plait.client.session import open_session
from plait.core.views import BatchView, make_batch_view
from plait.store.state_claim import open_repo


def status_command(
    where: Path,
    batch: Annotated[
        str | None,
        typer.Argument(
            metavar="[BATCH]",
            help="Batch id or a unique prefix; default: the newest batch.",
            autocompletion=opt.complete_batches,
        ),
    ] = None,
    *,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Keep watching and print changes.")] = False,
    as_json: opt.Json = False,
) -> int:
    return show_status(where, batch, watch=watch, as_json=as_json)


def history_command(where: Path, *, as_json: opt.Json = False) -> int:
    with open_session(open_repo(where)) as session:
        state = session.preview_state()
    views = [make_batch_view(state, batch) for batch in sort_newest_first(state)]
    if as_json:
        from plait.client.batch_json import describe_past_batch  # only for --json

        print_json({"batches": [describe_past_batch(view, time.time()) for view in views]})
    else:
        _print_history(views)
    return OK


def _print_history(views: list[BatchView]) -> None:
    page, now = Page(), time.time()
    if not views:
        page.add_line("There is no batch yet: start one with `plait run`.")
    for view in views:
        page.add_line(
            (format_date(view.created_at), "dim"),
            "  ",
            (f"{view.id:<4}", "bold"),
            "  ",
            (f"{view.status.value:<9}", STATUS_STYLES[view.status]),
            f"  {format_elapsed(view.wall_time.measure(now)):>7}  {format_counts(view)}",
            f" · {agents}" if (agents := format_agent_time(view, now)) else "",
            f" · {view.cost}" if view.cost else "",
            (f" · {truncate_line(', '.join(view.sources), 60)}" if view.sources else "", "dim"),
            f" · {published}" if (published := format_publication(view)) else "",
        )
    page.show()
