"""`plait pr`: push the batch branch, open or update its pull request, and wait for that."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from plait.cli import options as opt
from plait.cli.format import shorten_commit
from plait.cli.output import FAILED, OK, print_json, print_line, print_note, replace_control_chars
from plait.client.batch_lookup import find_batch_and_tasks
from plait.client.pull_request_preview import check_pull_request_text
from plait.client.session import Session, new_request_id, open_session
from plait.core.errors import UserError
from plait.core.requests import Ship
from plait.core.settings import Publish
from plait.core.state import BatchState
from plait.core.views import BatchView, describe_password_wait, make_batch_view
from plait.store.state_claim import open_repo

PUBLISH_TIMEOUT_SECONDS = 300.0  # afterwards publishing continues in the background
PUBLISH_POLL_SECONDS = 0.5


def pr_command(
    where: Path,
    names: opt.Tasks = None,
    *,
    draft: opt.Draft = False,
    push: opt.Push = False,
    title: Annotated[
        str | None,
        typer.Option("--title", metavar="TEXT", help="Title of the pull request, kept in later updates."),
    ] = None,
    body_file: Annotated[
        str | None,
        typer.Option(
            "--body-file", metavar="FILE", help="Description of the pull request in Markdown; - reads standard input."
        ),
    ] = None,
    as_json: opt.Json = False,
) -> int:
    publish = Publish(opt.choose_publish_mode(pr=None, draft=draft, push=push) or Publish.PR)
    body = _read_body(where, body_file) if body_file is not None else None
    if title is not None and not title.strip():
        raise UserError("the title is blank", hint="Leave --title out to keep the current one.")
    with open_session(open_repo(where)) as session:
        target = find_batch_and_tasks(session.preview_state(), names or ())
        if target.tasks:
            raise UserError(
                "a pull request contains a whole batch",
                hint=f"plait pr {target.batch.id}; plait drop removes single tasks from it.",
            )
        view = make_batch_view(session.preview_state(), target.batch)
        title, body = check_pull_request_text(session.location, view, title, body)
        request = Ship(new_request_id(), target.batch.id, publish, title, body)
        return _publish(session, request, as_json=as_json)


def publish_and_wait(session: Session, batch: str, publish: Publish) -> int:
    """Publish the batch and wait. The exit code is 0 if it was published."""
    return _publish(session, Ship(new_request_id(), batch, publish), as_json=False)


def _read_body(where: Path, name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == "-" else (where / name).read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise UserError(f"{replace_control_chars(name)} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{replace_control_chars(name)} is not UTF-8 text") from error


def _publish(session: Session, request: Ship, *, as_json: bool) -> int:
    batch = request.batch
    answer = session.send(request)
    if answer.granted is False:
        return _print_failure(session.state.batches[batch], answer.why, "", as_json=as_json)
    deadline, awaited = time.monotonic() + PUBLISH_TIMEOUT_SECONDS, ""
    while (why := _get_pending_reason(session, request)) and time.monotonic() < deadline:
        session.ensure_engine()
        session.wait(PUBLISH_POLL_SECONDS)
        session.read_events()
        if (program := session.state.batches[batch].awaited_program) not in {awaited, ""}:
            print_line(describe_password_wait(program), stderr=True)
        awaited = program
    view = make_batch_view(session.state, session.state.batches[batch])
    if why or view.unshipped is not None:
        return _print_failure(
            session.state.batches[batch], why or view.unshipped or "", view.unshipped_hint, as_json=as_json
        )
    _print_published(view, as_json=as_json)
    return OK


def _get_pending_reason(session: Session, request: Ship) -> str:
    """Say what the request waits for; empty if it is finished."""
    batch = session.state.batches[request.batch]
    if request.id in session.state.unanswered or request.id in {each.id for each in session.list_pending()}:
        return "request saved, but no engine has picked it up yet; check `plait status`"
    if batch.requested_publish is not None or batch.publishing is not None:
        return "still publishing; check `plait status`"
    return ""


def _print_published(view: BatchView, *, as_json: bool) -> None:
    if as_json:
        note = {"note": f"no pull request: {view.no_pull_request}"} if view.no_pull_request else {}
        result = {"batchId": view.id, "branch": view.branch, "commit": view.shipped, "prUrl": view.pr_url or None}
        print_json(result | note)
        return
    none = f"; no pull request: {view.no_pull_request}" if view.no_pull_request else ""
    print_line(f"Pushed {view.branch} at {shorten_commit(view.shipped)}{none}.")
    if view.pr_url:
        print_line(f"Pull request: {view.pr_url}")


def _print_failure(batch: BatchState, why: str, hint: str, *, as_json: bool) -> int:
    if as_json:
        print_json({"batchId": batch.id, "branch": batch.branch or None, "prUrl": None, "error": why, "hint": hint})
    else:
        print_note(why, hint)
    return FAILED
