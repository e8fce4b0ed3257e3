"""Shipping: the batch branch is pushed and its pull request opened, or brought up to date, and this waits for it."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from plait.cli.say import FAILED, OK, Page, harmless, write_json
from plait.core.errors import UserError
from plait.core.frozen import dataclass
from plait.core.requests import Ship
from plait.core.settings import Publish
from plait.core.state import BatchState
from plait.core.views import BatchView, batch_view
from plait.front.announcing import wanted
from plait.front.asking import request_id
from plait.front.desk import Desk, open_desk
from plait.front.names import find
from plait.wiring import find_place

PATIENCE = 300.0  # seconds for a push and a forge; after that it goes on without anybody waiting
GLANCE = 0.5


@dataclass(frozen=True, slots=True)
class Words:
    """What the pull request is to say; None: as it was said last. `body` is a file, `-` the standard input."""

    title: str | None = None
    body: str | None = None


_NO_WORDS = Words()


def pr_command(
    where: Path, words: Sequence[str], publish: Publish, said: Words = _NO_WORDS, *, as_json: bool
) -> int:
    body = _read(where, said.body) if said.body is not None else None
    if said.title is not None and not said.title.strip():
        raise UserError("a title has to have words", hint="Without --title, it stays as it is.")
    with open_desk(find_place(where)) as desk:
        meant = find(desk.ahead(), words)
        if meant.tasks:
            raise UserError(
                "a pull request is about a whole batch",
                hint=f"plait pr {meant.batch.id}; plait drop takes single tasks out of it.",
            )
        view = batch_view(desk.ahead(), meant.batch)
        title, body = wanted(desk.place, view, said.title, body)
        request = Ship(request_id(), meant.batch.id, publish, title, body)
        return _shipped(desk, request, as_json=as_json)


def ship(desk: Desk, batch: str, publish: Publish) -> int:
    """The exit code: whether it is where it was asked to be."""
    return _shipped(desk, Ship(request_id(), batch, publish), as_json=False)


def _read(where: Path, name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == "-" else (where / name).read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise UserError(f"{harmless(name)} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{harmless(name)} is no text in UTF-8") from error


def _shipped(desk: Desk, request: Ship, *, as_json: bool) -> int:
    batch = request.batch
    answer = desk.ask(request)
    if answer.granted is False:
        return _told(desk.state.batches[batch], answer.why, "", as_json=as_json)
    deadline = time.monotonic() + PATIENCE
    while (why := _pending(desk, request)) and time.monotonic() < deadline:
        desk.tend()
        desk.wait(GLANCE)
        desk.heard()
    view = _view(desk, batch)
    if why or view.unshipped is not None:
        return _told(desk.state.batches[batch], why or view.unshipped or "", view.way_out, as_json=as_json)
    _tell(view, as_json=as_json)
    return OK


def _pending(desk: Desk, request: Ship) -> str:
    """What it waits for; nothing, if it is over."""
    batch = desk.state.batches[request.batch]
    if request.id in desk.state.unanswered or request.id in {each.id for each in desk.pending()}:
        return "no engine has taken it yet; it is safe, and is seen to as soon as one does"
    if batch.wish is not None or batch.publishing is not None:
        return "it is still under way; plait status shows its end"
    return ""


def _view(desk: Desk, batch: str) -> BatchView:
    return batch_view(desk.state, desk.state.batches[batch])


def _tell(view: BatchView, *, as_json: bool) -> None:
    if as_json:
        write_json(
            {"batchId": view.id, "branch": view.branch, "commit": view.shipped, "prUrl": view.pr_url or None}
        )
        return
    page = Page()
    page.line(f"{view.branch} is pushed, at {view.shipped[:10]}.")
    if view.pr_url:
        page.line(f"Pull request: {view.pr_url}")
    page.show()


def _told(batch: BatchState, why: str, way_out: str, *, as_json: bool) -> int:
    if as_json:
        write_json(
            {
                "batchId": batch.id,
                "branch": batch.branch or None,
                "prUrl": None,
                "error": why,
                "hint": way_out,
            }
        )
    else:
        print(f"plait: {harmless(why)}", file=sys.stderr)  # noqa: T201 - as errors are told
        for line in way_out.splitlines():
            print(f"  {harmless(line)}", file=sys.stderr)  # noqa: T201
    return FAILED
