"""Commands that send requests to the engine (cancel, pause, retry, drop …) and print the answer for each task."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from plait.cli import options as opt
from plait.cli.commands.control_wait import RequestWait
from plait.cli.format import MAX_NAMES, pluralize
from plait.cli.output import (
    FAILED,
    OK,
    Page,
    confirm,
    is_interactive,
    print_json,
    print_line,
    print_note,
    print_notice,
    print_problems,
)
from plait.client import task_actions
from plait.client.batch_lookup import BatchSelection, find_batch_and_tasks, find_one_task
from plait.client.session import UNANSWERED_MESSAGE, RequestAnswer, Session, new_request_id, open_session
from plait.core import requests
from plait.core.errors import UserError
from plait.core.explain import explain_in_words
from plait.core.fast_dataclass import dataclass
from plait.core.settings import Mode
from plait.core.state import BatchState, State
from plait.core.text import join_names
from plait.core.views import find_batch_status
from plait.store.state_claim import open_repo

NoWait = Annotated[bool, typer.Option("--no-wait", help="Return as soon as the request is granted.")]


def cancel_command(
    where: Path, names: opt.Tasks = None, *, yes: opt.NoPrompt = False, as_json: opt.Json = False
) -> int:
    with open_session(open_repo(where)) as session:
        target = find_batch_and_tasks(session.preview_state(), names or ())
        if target.tasks:
            return _send_task_requests(session, target, requests.CancelTask, as_json=as_json)
        if not (yes or as_json or target.batch.ended or _confirm_cancel(target.batch)):
            print_notice("Nothing was cancelled.")
            return FAILED
        return _send_batch_request(session, target.batch, requests.CancelBatch, as_json=as_json)


def pause_command(where: Path, names: opt.Tasks = None, *, as_json: opt.Json = False) -> int:
    return _request_for_batch(where, "pause", names or (), requests.Pause, as_json=as_json)


def unpause_command(where: Path, names: opt.Tasks = None, *, as_json: opt.Json = False) -> int:
    return _request_for_batch(where, "unpause", names or (), requests.Unpause, as_json=as_json)


def resume_command(where: Path, names: opt.Tasks = None, *, as_json: opt.Json = False) -> int:
    return _request_for_batch(where, "resume", names or (), requests.Resume, as_json=as_json)


def approve_command(
    where: Path,
    names: opt.Tasks = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Approve this task and all later ones.")] = False,
    as_json: opt.Json = False,
) -> int:
    """Approve tasks. Without a task, approve the next one; `everything`: also all later ones."""
    with open_session(open_repo(where)) as session:
        target = find_batch_and_tasks(session.preview_state(), names or ())
        if everything and target.tasks:
            raise UserError("--all approves the whole batch, so it takes no tasks")
        if everything and target.batch.settings.mode is Mode.QUEUE:
            return _send_batch_request(
                session, target.batch, task_actions.make_auto_approve_factory(target.batch), as_json=as_json
            )
        if target.tasks:
            return _send_task_requests(session, target, requests.Approve, as_json=as_json)
        return _send_batch_request(session, target.batch, requests.Approve, as_json=as_json)


def retry_command(
    where: Path,
    names: opt.Tasks = None,
    *,
    agent: Annotated[str | None, typer.Option("--agent", "-a", metavar="NAME", help="Use this agent.")] = None,
    model: Annotated[str | None, typer.Option("--model", "-m", metavar="NAME", help="Use this model.")] = None,
    flags: Annotated[opt.Flags, opt.SettingOptions(*task_actions.RETRY_KEYS)],
    no_wait: NoWait = False,
    as_json: opt.Json = False,
) -> int:
    """Retry tasks; without names, all that failed, timed out, conflicted or were cancelled. Uses the current settings."""
    with open_followed_session(where) as session:
        target = find_batch_and_tasks(session.preview_state(), names or ())
        if agent is not None:
            task_actions.check_agent(target.batch, agent)
        tasks = task_actions.sort_by_needs(target.batch, target.tasks or task_actions.list_retryable(target.batch))
        make_request = partial(requests.Retry, agent=agent)
        overrides = task_actions.Overrides(flags, [task.task.id for task in tasks], model)
        again = _RunAgain(where, session, BatchSelection(target.batch, tasks), make_request, overrides, as_json)
        return again.run(no_wait=no_wait)


def recheck_command(
    where: Path,
    names: opt.Tasks = None,
    *,
    flags: Annotated[opt.Flags, opt.SettingOptions(*task_actions.RECHECK_KEYS)],
    no_wait: NoWait = False,
    as_json: opt.Json = False,
) -> int:
    """Recheck tasks; without names, all that aren't done and whose agents had finished."""
    with open_followed_session(where) as session:
        target = find_batch_and_tasks(session.preview_state(), names or ())
        tasks = task_actions.sort_by_needs(target.batch, target.tasks or task_actions.list_recheckable(target.batch))
        if not tasks and not as_json:
            print_line(f"Batch {target.batch.id} has nothing to recheck: no unfinished task has a result to verify.")
            return OK
        overrides = task_actions.Overrides(flags, [task.task.id for task in tasks])
        again = _RunAgain(where, session, BatchSelection(target.batch, tasks), requests.Recheck, overrides, as_json)
        return again.run(no_wait=no_wait)


def open_followed_session(where: Path) -> Session:
    from plait.client.event_stream import EventStream  # only for what is shown while waiting

    return open_session(open_repo(where), EventStream())


@dataclass(frozen=True, slots=True)
class _RunAgain:
    """Tasks that are to run or be verified again, with the current settings."""

    where: Path
    session: Session
    target: BatchSelection
    make_request: task_actions.TaskRequestFactory
    overrides: task_actions.Overrides
    as_json: bool

    def run(self, *, no_wait: bool) -> int:
        batch = self.target.batch
        wanted = [self.make_request("", batch.id, task.task.id) for task in self.target.tasks]
        if task_actions.is_grantable(batch, wanted):
            code = self._refresh_batch(runs_agents=any(isinstance(request, requests.Retry) for request in wanted))
            if code is not None:
                return code
        self.session.subscribe()
        answers = _ask_for_tasks(self.session, self.target, self.make_request)
        return wait_for_ends(self.session, batch.id, answers, no_wait=no_wait, as_json=self.as_json)

    def _refresh_batch(self, *, runs_agents: bool) -> int | None:
        """Apply the current settings to the batch. Return None if that worked, else the exit code."""
        from plait.cli.commands.trust import TrustCheck
        from plait.client.batch_refresh import plan_refresh

        batch, interactive = self.target.batch, is_interactive() and not self.as_json
        trust = TrustCheck(interactive=interactive, where=self.where)
        refresh = plan_refresh(self.session.location, batch, self.overrides, trust.check_before_running)
        if refresh is None:
            return None
        print_problems(refresh.warnings)
        if runs_agents and refresh.changes_checks:
            from plait.cli.commands.run_preflight import check_base  # loads the engine's parts
            from plait.client.preflight import plan_batch_preflight

            preflight = plan_batch_preflight(refresh.location, refresh.config, refresh.settings, batch, refresh.inputs)
            code = check_base(preflight, interactive=interactive, as_json=self.as_json) if preflight else None
            if code is not None:
                return code
        refresh.save()
        self._print_own_commands()
        if refresh.change is not None:
            answer = self.session.send(refresh.change)
            if answer.granted is False:
                raise UserError(f"the settings of batch {batch.id} can't be changed: {answer.why}")
            print_notice(f"Batch {batch.id} uses the current settings: {', '.join(refresh.change.fields)} changed.")
        return None

    def _print_own_commands(self) -> None:
        own = [task.task.id for task in self.target.tasks if task.task.verify]
        if own and "run.verify" in self.overrides.flags:
            verb = "has its own verify command" if len(own) == 1 else "have their own verify commands"
            print_notice(f"{join_names(own, MAX_NAMES)} {verb}, which --verify doesn't replace.")


def drop_command(where: Path, names: opt.Tasks = None, *, no_wait: NoWait = False, as_json: opt.Json = False) -> int:
    """Drop tasks; return when the branch no longer contains their changes."""
    with open_session(open_repo(where)) as session:
        target = find_batch_and_tasks(session.preview_state(), names or ())
        batch = target.batch.id
        if not target.tasks:
            raise UserError(
                f"name the tasks of batch {batch} to drop", hint=f"To give up the whole batch: plait cancel {batch}"
            )
        answers = _ask_for_tasks(session, target, requests.Drop)
        dropped = _list_granted_tasks(answers)
        code = RequestWait(session, batch, dropped).wait_until_dropped() if dropped and not no_wait else OK
        return print_answers(session.state, batch, answers, as_json=as_json) or code


def feedback_command(
    where: Path,
    arguments: Annotated[
        list[str],
        opt.make_names_argument("[BATCH] TASK TEXT", "The task, then the text; - reads it from standard input."),
    ],
    *,
    as_json: opt.Json = False,
) -> int:
    if len(arguments) < 2:
        raise UserError("feedback needs a task and a text", hint="plait feedback BATCH TASK 'text'")
    *names, text = arguments
    with open_session(open_repo(where)) as session:
        batch, task = find_one_task(session.preview_state(), names)
        feedback = sys.stdin.buffer.read().decode("utf-8", "replace") if text == "-" else text
        task_actions.check_answer(batch, task, feedback)
        return _send_task_requests(
            session,
            BatchSelection(batch, (task,)),
            lambda name, batch, task: requests.Feedback(name, batch, task, feedback),
            as_json=as_json,
        )


def _request_for_batch(
    where: Path, command: str, names: Sequence[str], make_request: task_actions.BatchRequestFactory, *, as_json: bool
) -> int:
    with open_session(open_repo(where)) as session:
        target = find_batch_and_tasks(session.preview_state(), names)
        if target.tasks:
            raise UserError(
                f"{command} applies to a whole batch",
                hint=f"plait {command} {target.batch.id}; single tasks can be cancelled, retried or dropped.",
            )
        return _send_batch_request(session, target.batch, make_request, as_json=as_json)


def _send_batch_request(
    session: Session, batch: BatchState, make_request: task_actions.BatchRequestFactory, *, as_json: bool
) -> int:
    answer = session.send(make_request(new_request_id(), batch.id))
    return print_answers(session.state, batch.id, [(None, answer)], as_json=as_json)


def _send_task_requests(
    session: Session, target: BatchSelection, make_request: task_actions.TaskRequestFactory, *, as_json: bool
) -> int:
    answers = _ask_for_tasks(session, target, make_request)
    return print_answers(session.state, target.batch.id, answers, as_json=as_json)


def _ask_for_tasks(
    session: Session, target: BatchSelection, make_request: task_actions.TaskRequestFactory
) -> list[task_actions.TaskAnswer]:
    names = [task.task.id for task in target.tasks]
    answers = session.send_all([make_request(new_request_id(), target.batch.id, name) for name in names])
    return list(zip(names, answers, strict=True))


def _list_granted_tasks(answers: Sequence[task_actions.TaskAnswer]) -> list[str]:
    return [task for _, answer in answers if answer.granted for task in answer.tasks]


def wait_for_ends(
    session: Session, batch: str, answers: Sequence[task_actions.TaskAnswer], *, no_wait: bool, as_json: bool
) -> int:
    """Print the answers, what happens, and how the tasks ended; as JSON, only the last. Return the exit code."""
    started = _list_granted_tasks(answers)
    if no_wait or not started:
        return print_answers(session.state, batch, answers, as_json=as_json)
    if as_json:
        code = RequestWait(session, batch, started).wait_until_ended()
        return print_answers(session.state, batch, answers, as_json=True) or code
    from plait.cli.live.renderers import LineRenderer

    refused = print_answers(session.state, batch, answers, as_json=False)
    lines = LineRenderer(batch, started)
    wait = RequestWait(session, batch, started, lambda: lines.add_events(session.read_events()))
    code = wait.wait_until_ended()
    state = session.state
    page = Page()
    for task in (state.batches[batch].find_task(name) for name in dict.fromkeys(started)):
        if task is not None:
            page.add_line(explain_in_words(state, state.batches[batch], task))
    page.show()
    return code if code not in {OK, FAILED} else refused or code


def _confirm_cancel(batch: BatchState) -> bool:
    running = [attempt.task for attempt in batch.alive]
    work = f"stop {join_names(running, MAX_NAMES)} and " if running else ""
    return confirm(
        f"Cancel batch {batch.id}: {work}give up {batch.unfinished_count} of {len(batch.tasks)} tasks? [y/N] "
    )


def print_answers(state: State, batch_id: str, results: Sequence[task_actions.TaskAnswer], *, as_json: bool) -> int:
    """Print the answers; the exit code is 0 if all requests were granted."""
    if as_json:
        print_json(task_actions.describe_answers(state, batch_id, results))
    else:
        _print_results(state, batch_id, results)
    return OK if all(answer.granted for _, answer in results) else FAILED


def _print_results(state: State, batch_id: str, results: Sequence[task_actions.TaskAnswer]) -> None:
    page = Page()
    if not results:
        page.add_line(f"Batch {batch_id} has nothing to retry: no task failed, timed out, conflicted or was cancelled.")
    for name, answer in results:
        if answer.granted:
            page.add_line(_describe_granted(state, batch_id, name, answer))
    page.show()
    sys.stdout.flush()
    for name, answer in results:
        if not answer.granted:
            subject = name or f"batch {batch_id}"
            why = answer.why if answer.granted is False else f"{subject}: {UNANSWERED_MESSAGE}"
            print_note(why, f"plait retry {batch_id}" if why.endswith(requests.RETRY_INSTEAD) else "")


def _describe_granted(state: State, batch_id: str, name: str | None, answer: RequestAnswer) -> str:
    batch = state.batches[batch_id]
    about = answer.tasks if name is None else (name,)
    others = [task for task in answer.tasks if task not in about]
    also = f"; also {join_names(others, MAX_NAMES)}" if others else ""
    if not about:
        return _describe_batch(batch)
    task = batch.find_task(about[0])
    return f"{explain_in_words(state, batch, task)}{also}" if task is not None else _describe_batch(batch)


def _describe_batch(batch: BatchState) -> str:
    if batch.cancelled and batch.ended is None:
        return f"batch {batch.id} is being cancelled: stopping {pluralize(len(batch.alive), 'attempt')}"
    status, reason = find_batch_status(batch)
    return f"batch {batch.id} is {status.value}: {reason}"
