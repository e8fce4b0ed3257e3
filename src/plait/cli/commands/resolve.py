"""`plait resolve`: show a task's conflict, or resolve it by taking a side of each file or editing it."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

import typer

from plait.cli import options as opt
from plait.cli.commands.control import NoWait, open_followed_session, wait_for_ends
from plait.cli.output import OK, Page, print_json
from plait.client.batch_lookup import find_one_task
from plait.client.conflicts import ConflictChoices, TaskConflict, describe_conflict, make_resolution, view_resolvable
from plait.client.session import new_request_id
from plait.core import requests
from plait.core.errors import UserError
from plait.git.merge.resolution import Side
from plait.store.state_claim import open_repo

_EDITOR_VARIABLES = ("GIT_EDITOR", "VISUAL", "EDITOR")


def resolve_command(
    where: Path,
    names: Annotated[list[str], opt.make_names_argument("[BATCH] TASK", "The task in conflict.")],
    *,
    batch: Annotated[
        list[str] | None, typer.Option("--batch", metavar="FILE", help="Take the batch branch's version of FILE.")
    ] = None,
    task: Annotated[
        list[str] | None, typer.Option("--task", metavar="FILE", help="Take the task's version of FILE.")
    ] = None,
    rest: Annotated[
        Literal["batch", "task"] | None, typer.Option("--rest", help="Take this side of all other files.")
    ] = None,
    edit: Annotated[
        bool, typer.Option("--edit", help="Edit the other files, with both sides between markers.")
    ] = False,
    markers: Annotated[bool, typer.Option("--markers", help="Accept lines that look like conflict markers.")] = False,
    no_wait: NoWait = False,
    as_json: opt.Json = False,
) -> int:
    """Resolve a conflict, without an agent; the result is verified and merged. Without options, list the files."""
    if edit and rest:
        raise UserError("--edit and --rest are both for all other files: give one of them")
    sides: dict[str, Side | str] = {**dict.fromkeys(batch or (), Side.BATCH), **dict.fromkeys(task or (), Side.TASK)}
    if len(sides) < len([*(batch or ()), *(task or ())]):
        raise UserError("a file is named twice: take one of its sides")
    with open_followed_session(where) as session:
        batch_state, task_state = find_one_task(session.preview_state(), names)
        name, location = task_state.task.id, open_repo(where)
        view = view_resolvable(batch_state, task_state)
        if not (sides or rest or edit):
            return _show(describe_conflict(location, view), as_json=as_json)
        texts = _edit_files(describe_conflict(location, view), sides) if edit else {}
        choices = ConflictChoices({**sides, **texts}, Side(rest) if rest else None, markers)
        made = make_resolution(location, view, choices)
        session.subscribe()
        change, onto = view.merge.change, view.merge.onto
        request = requests.Resolve(
            new_request_id(), batch_state.id, name, onto, change.tip, made.commit, made.diffstat, made.files
        )
        answer = session.send(request)
        return wait_for_ends(session, batch_state.id, [(name, answer)], no_wait=no_wait, as_json=as_json)


def _show(conflict: TaskConflict, *, as_json: bool) -> int:
    if as_json:
        print_json(conflict)
        return OK
    page = Page()
    page.add_line(f"{conflict.task_id} conflicts with the batch branch at {conflict.with_[:12]}:")
    for file in conflict.files:
        by = f", last changed by {', '.join(file.touched_by)}" if file.touched_by else ""
        page.add_line(f"  {file.path} ({file.kind.value}{by})")
    if conflict.more:
        page.add_line(f"  and {conflict.more} more")
    names = f"{conflict.batch_id} {conflict.task_id}"
    page.add_line(f"Take sides: plait resolve {names} --batch FILE --task FILE --rest batch|task")
    page.add_line(f"Edit them: plait resolve {names} --edit. Let an agent repair it: plait retry {names}")
    page.show()
    return OK


def _edit_files(conflict: TaskConflict, sides: dict[str, Side | str]) -> dict[str, str]:
    """Let the person edit the files for which no side was chosen, and return their texts."""
    editor = next((os.environ[name] for name in _EDITOR_VARIABLES if os.environ.get(name)), "")
    if not editor:
        raise UserError("no editor is set", hint="Set EDITOR, or take sides with --batch and --task.")
    files = [file for file in conflict.files if file.path not in sides]
    if fixed := next((file.path for file in files if not file.editable or file.merged is None), None):
        raise UserError(f"{fixed} can't be edited", hint=f"Take a side of it: --batch {fixed}, or --task {fixed}")
    texts: dict[str, str] = {}
    with TemporaryDirectory(prefix="plait-resolve-") as folder:
        paths = [Path(folder) / f"{n}-{PurePosixPath(file.path).name}" for n, file in enumerate(files, 1)]
        for path, file in zip(paths, files, strict=True):
            path.write_bytes((file.merged or "").encode())
        _run_editor(editor, paths)
        for path, file in zip(paths, files, strict=True):
            try:
                texts[file.path] = path.read_bytes().decode()
            except UnicodeDecodeError:
                raise UserError(f"the text of {file.path} is not UTF-8: nothing was resolved") from None
    return texts


def _run_editor(editor: str, paths: Sequence[Path]) -> None:
    """Run the editor as git does: the variable is a command line."""
    code = subprocess.run([*shlex.split(editor), *map(str, paths)], check=False).returncode  # the user's own editor
    if code:
        raise UserError(f"{editor} ended with status {code}: nothing was resolved")
