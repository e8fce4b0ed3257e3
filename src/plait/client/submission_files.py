"""The files of a new batch, written to a folder of its own before the batch is submitted."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from plait.agents.redaction import Redactor, build_redactor
from plait.client.session import REOPENING_REQUESTS, Submission
from plait.core.errors import UserError, WorldError
from plait.core.requests import Request, Resume
from plait.core.state import State
from plait.core.task import Task
from plait.git.location import RepoLocation
from plait.store import project_files
from plait.store.batch_files import (
    BatchInputs,
    RepoOptions,
    SandboxOptions,
    has_environment,
    write_batch_environment,
    write_batch_files,
)
from plait.store.state_claim import claim_state
from plait.system.atomic_files import make_private_folder

_MIN_ID_DIGITS = 4  # hexadecimal digits
_TRIES_PER_LENGTH = 16


def create_batch_files(location: RepoLocation, state: State, submission: Submission) -> str:
    """Write the files and return the new batch's id: short, and unique, because creating its folder reserves it."""
    claim_state(location.state)
    taken = {*state.batches, *(task.id for task in submission.plan.tasks)}
    with _wrap_os_errors(location):
        batch = next(name for name in _generate_ids() if name not in taken and _make_folder(location, name))
        inputs = BatchInputs(
            str(location.top),
            submission.plan.tasks,
            submission.agents,
            submission.options or RepoOptions(),
            submission.sources,
            submission.template,
            dict(submission.flags),
            submission.sandbox or SandboxOptions(),
        )
        try:
            write_batch_files(project_files.open_state_paths(location), batch, inputs, os.environ)
        except OSError:
            remove_batch_files(location, batch)
            raise
    return batch


def redact_submission(submission: Submission) -> Submission:
    """Return the batch without secrets in what others see: titles, and reasons why tasks wait."""
    redact = build_redactor(os.environ, *(task.env for task in submission.plan.tasks))
    plan = submission.plan
    tasks = tuple(_redact_task(task, redact) for task in plan.tasks)
    phases = tuple(replace(phase, title=redact(phase.title), reason=redact(phase.reason)) for phase in plan.phases)
    return replace(submission, plan=replace(plan, tasks=tasks, phases=phases))


def _redact_task(task: Task, redact: Redactor) -> Task:
    """Redact a task. The agent gets everything: a redacted title is put above a text without a heading."""
    needs = tuple(replace(need, reason=redact(need.reason)) for need in task.needs)
    title = redact(task.title)
    if (title, needs) == (task.title, task.needs):
        return task
    is_complete = title == task.title or task.body.lstrip().startswith("# ")
    body = task.body if is_complete else f"# {' '.join(task.title.split())}\n\n{task.body}".rstrip()
    return replace(task, title=title, needs=needs, body=body)


def remove_batch_files(location: RepoLocation, batch: str) -> None:
    """Remove the files of a batch that was not accepted, because they may hold secrets."""
    shutil.rmtree(project_files.open_state_paths(location).batch(batch), ignore_errors=True)


def renew_environment(location: RepoLocation, state: State, requests: Sequence[Request]) -> None:
    """Save this process's environment for batches that are reopened, since an ended batch has none, and for paused ones
    that are resumed, since a key may have been wrong.

    Raises UserError if gc has removed the batch.
    """
    for request in requests:
        batch = state.batches.get(request.batch) if isinstance(request, REOPENING_REQUESTS) else None
        if batch is None:
            continue
        paths = project_files.open_state_paths(location)
        exists = has_environment(paths, batch.id)
        if not exists and os.path.lexists(paths.forgotten_marker(batch.id)):
            raise UserError(f"batch {batch.id} was removed by plait gc", hint="Run its tasks again: plait run.")
        ended = batch.ended is not None  # its environment is about to be deleted
        if not exists or ended or (isinstance(request, Resume) and batch.paused is not None):
            with _wrap_os_errors(location):
                write_batch_environment(paths, batch.id, os.environ)


@contextmanager
def _wrap_os_errors(location: RepoLocation) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WorldError(
            f"can't write the batch's files: {error}",
            hint=f"Check permissions of {location.state} and free disk space.",
        ) from error


def _generate_ids() -> Iterator[str]:
    length = _MIN_ID_DIGITS
    while True:
        for _ in range(_TRIES_PER_LENGTH):
            yield os.urandom(length).hex()[:length]
        length += 1


def _make_folder(location: RepoLocation, batch: str) -> bool:
    folder = project_files.open_state_paths(location).batch(batch)
    make_private_folder(folder.parent)
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        return False
    return True
