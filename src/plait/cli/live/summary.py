"""The summary after a run: the tasks, how the batch ended, time and cost, failures, and the next commands."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from shlex import quote

from plait.cli.format import MAX_NAMES, STATUS_STYLES, format_batch_time, pluralize, truncate_line
from plait.cli.output import FAILED, NEEDS_PERSON, OK, Page
from plait.client.next_step import find_login_hint, format_answer_command
from plait.client.result_files import ContestResult, JobOutput, ModelJob, ModelJobs
from plait.core.settings import Publish
from plait.core.status import BatchStatus, Category, PauseCause, TaskStatus, WaitReason
from plait.core.text import join_names
from plait.core.views import BatchView, TaskView

_MAX_TASKS = 40  # in the table; the rest is counted
_MAX_PER_KIND = 10  # shown one by one
_NO_JOBS = ModelJobs()
_NO_CONTESTS: Mapping[str, ContestResult] = {}
_MAX_REASON_CHARS = 400
_NOT_RUN_STATUSES = (TaskStatus.BLOCKED, TaskStatus.SKIPPED, TaskStatus.CANCELLED, TaskStatus.INTERRUPTED)


def get_batch_exit_code(view: BatchView) -> int:
    """Return 0 if all that is still wanted is done, 3 if the rest waits for a person, else 1."""
    if view.unshipped is not None:  # publishing was requested and failed
        return FAILED
    if view.ended_at is not None and any(unwritten.retried for unwritten in view.unwritten):
        return FAILED
    if view.status is BatchStatus.COMPLETED:  # dropped tasks don't count
        return OK
    if view.progress.total == dict(view.progress.counts)[TaskStatus.DONE]:
        return FAILED if view.status.is_terminal else OK
    return NEEDS_PERSON if view.waits_for_person else FAILED


def make_summary(
    view: BatchView,
    *,
    now: float,
    jobs: ModelJobs = _NO_JOBS,
    contests: Mapping[str, ContestResult] = _NO_CONTESTS,
    publish_option: Publish = Publish.PR,
) -> Page:
    """Make the summary; `publish_option` is what the remote allows. Failed entrants are listed with their contest, and
    failed jobs with the jobs, not as failures.
    """
    from plait.cli.commands.status import add_tasks, describe_unwritten  # only at the end of a run

    requested = replace(view, tasks=tuple(task for task in view.tasks if task.entrant is None))
    page = Page()
    page.add_line()
    add_tasks(page, requested, _MAX_TASKS, now=now)
    page.add_line()
    page.add_line(*_format_headline(view), *_format_counts(view))
    if view.started_at is not None:
        page.add_line(f"  {_format_times(view, now)}")
    if view.status is BatchStatus.PAUSED:
        why = truncate_line(view.reason, _MAX_REASON_CHARS)
        page.add_line((f"  {why}" if why.startswith("paused") else f"  paused: {why}", "yellow"))
    _add_branch(page, view, publish_option)
    for line, style in describe_unwritten(view):
        page.add_line((f"  {line}", style))
    _add_failed(page, requested, {job.task_id for job in jobs.jobs})
    if len(requested.tasks) > _MAX_TASKS:
        _add_not_run(page, requested)
    _add_questions(page, view)
    add_jobs(page, jobs, view.id)
    if contests:
        from plait.cli.contest_table import add_contests  # few batches have one

        add_contests(page, contests, quote(view.id))
    _add_next_steps(page, requested)
    return page


def _add_branch(page: Page, view: BatchView, publish_option: Publish) -> None:
    """Add the branch, what of it is published, and how to publish it."""
    if not view.branch or not view.head or view.head == view.base:
        return
    is_pushed = bool(view.pushed) and view.pushed == view.head
    pushed = ", pushed" if is_pushed else ""
    page.add_line(f"  branch {view.branch}{pushed}")
    if view.pr_url:
        page.add_line(f"  pull request {view.pr_url}")
    elif view.no_pull_request:
        page.add_line(f"  no pull request: {view.no_pull_request}")
    if view.unshipped is not None:
        missing = "no pull request" if is_pushed else "not published"
        page.add_line((f"  {missing}", "red"), f"  {truncate_line(view.unshipped, _MAX_REASON_CHARS)}")
        for line in view.unshipped_hint.splitlines():
            page.add_line((f"    {line}", "dim"))
    elif view.is_outdated:
        page.add_line((f"  what was published is older than the branch: plait pr {quote(view.id)}", "yellow"))
    elif not view.shipped and view.ended_at is not None and publish_option is not Publish.OFF:
        effect = "opens a pull request" if publish_option is Publish.PR else "pushes the branch"
        page.add_line((f"    plait pr {quote(view.id)}   {effect}", "dim"))


def _format_headline(view: BatchView) -> list[tuple[str, str]]:
    if view.ended_at is None:
        return [(f"batch {view.id} is not finished", "bold")]
    partial = f": {view.reason.partition(';')[0]}" if view.status is BatchStatus.PARTIAL else ""
    return [(f"batch {view.id} ", "bold"), (f"{view.status.value}{partial}", f"bold {STATUS_STYLES[view.status]}")]


def _format_counts(view: BatchView) -> list[tuple[str, str]]:
    pieces: list[tuple[str, str]] = []
    named = view.status is BatchStatus.PARTIAL  # the headline says how many are done
    for status, count in view.progress.counts:
        if count and not (named and status is TaskStatus.DONE):
            pieces += [(" · ", "dim"), (f"{count} {status.label}", STATUS_STYLES[status])]
    return pieces


def _format_times(view: BatchView, now: float) -> str:
    text = format_batch_time(view, now)
    return f"{text} · {view.cost}" if view.cost else text


def _add_failed(page: Page, view: BatchView, listed: Collection[str]) -> None:
    """Add the tasks that failed, except those that are `listed` with their errors elsewhere."""
    failed = [task for task in view.tasks if task.status.is_failure and task.id not in listed]
    if not failed:
        return
    page.add_line()
    for task in failed[:_MAX_PER_KIND]:
        attempts = f" (attempt {task.attempt})" if task.attempt > 1 and "attempt" not in task.reason else ""
        text = f"{task.id}: {truncate_line(task.reason, _MAX_REASON_CHARS)}{attempts}"
        page.add_line((f"  {task.status.label}  ", "red"), text, indent=len(task.status.label) + 4)
        page.add_line((f"    {_suggest_command(task, f'{quote(view.id)} {quote(task.id)}')}", "dim"))
    _add_more_count(page, failed)
    agents = dict.fromkeys(task.agent for task in failed if task.category is Category.AUTH)
    for agent in filter(find_login_hint, agents):
        page.add_line((f"    log in with {agent}: {find_login_hint(agent)}", "dim"))


def _suggest_command(task: TaskView, arguments: str) -> str:
    """Return the command that shows more."""
    if task.status is TaskStatus.CONFLICTED:
        return f"plait diff {arguments}"
    return f"plait logs {arguments}{' --gate' if task.category is Category.GATE else ''}"


def _add_not_run(page: Page, view: BatchView) -> None:
    """Add the tasks that did not run; those with the same status and reason share a line."""
    groups: dict[tuple[TaskStatus, str], list[str]] = {}
    for task in view.tasks:
        if task.status in _NOT_RUN_STATUSES:
            groups.setdefault((task.status, _format_group(task)), []).append(task.id)
    if groups:
        page.add_line()
    for (status, head), names in [*groups.items()][:_MAX_PER_KIND]:
        page.add_line((f"  {head}", STATUS_STYLES[status]), f": {join_names(names, MAX_NAMES)}")
    if len(groups) > _MAX_PER_KIND:
        page.add_line((f"  and {sum(map(len, [*groups.values()][_MAX_PER_KIND:]))} more tasks", "dim"))


def _format_group(task: TaskView) -> str:
    word, reason = task.status.label, truncate_line(task.reason, _MAX_REASON_CHARS)
    if task.by is not None:
        return f"{word} by {task.by}"
    return reason if reason.startswith(word) else f"{word} ({reason})"


def _add_questions(page: Page, view: BatchView) -> None:
    name = quote(view.id)
    asking = [task for task in view.tasks if task.waiting in {WaitReason.ANSWER, WaitReason.APPROVAL}]
    if not asking:
        return
    page.add_line()
    for task in asking[:_MAX_PER_KIND]:
        page.add_line(("  waits for you", "yellow"), f"  {task.id}: {truncate_line(task.reason, _MAX_REASON_CHARS)}")
        approve = task.waiting is WaitReason.APPROVAL
        command = (
            f"plait approve {name}"
            if approve
            else format_answer_command(f"{name} {quote(task.id)}", asks_for_budget=task.asks_for_budget)
        )
        page.add_line((f"    {command}", "dim"))
    _add_more_count(page, asking)


def _add_more_count(page: Page, tasks: Sequence[TaskView]) -> None:
    if len(tasks) > _MAX_PER_KIND:
        page.add_line((f"  and {len(tasks) - _MAX_PER_KIND} more (see plait status)", "dim"))


def _add_next_steps(page: Page, view: BatchView) -> None:
    """Add the commands that continue an unfinished batch."""
    name = quote(view.id)
    failed = [task for task in view.tasks if task.status.is_failure]
    paused = view.pause_cause is not None
    base_fails = view.pause_cause is PauseCause.GATE and view.base_fails_gate
    commands: list[str] = []
    if failed:
        names = " ".join(quote(task.id) for task in failed) if len(failed) <= MAX_NAMES else "TASK…"
        commands.append(f"plait retry {name} {names}")
    if paused:
        commands.append(f"plait run --resume{' --budget AMOUNT' if view.pause_cause is PauseCause.BUDGET else ''}")
        if base_fails:
            commands[-1:] = [f"plait logs {name} --gate", "plait run --resume --gate 'ANOTHER' (or '': none)"]
    if commands:
        page.add_line()
        # A paused batch doesn't start retried tasks either.
        joined = "   then   " if paused and not base_fails else "   or   "
        page.add_line(("  next", "bold"), f"  {joined.join(commands)}")


_MAX_ERROR_CHARS = 200
_JOB_STYLES = {"passed": "green", "failed": "red"}


def add_jobs(page: Page, jobs: ModelJobs, batch: str) -> None:
    """Add all model jobs, with what they wrote and took, or their errors."""
    if not jobs:
        return
    pieces: list[tuple[str, str]] = []
    for name, count in jobs.counts:
        style = _JOB_STYLES.get(name, "") if count else ""
        pieces += [(" · " if pieces else "", "dim"), (f"{count} {name}", style)]
    page.add_line()
    page.add_line(("  jobs  ", "bold"), *pieces)
    width = max(len(job.task_id) for job in jobs.jobs)
    for job in jobs.jobs:
        style = STATUS_STYLES[job.status] if job.error else ""
        page.add_line((f"    {job.task_id:<{width}}  ", style), _describe_job(job), indent=width + 6)
    failed = [job.task_id for job in jobs.jobs if job.error]
    if failed:
        page.add_line((f"    plait logs {quote(batch)} {quote(failed[0])}", "dim"))


def _describe_job(job: ModelJob) -> str:
    """Describe a job: its error, what it wrote, its tests apart, and its time and cost."""
    parts: list[str] = []
    if job.error:
        error = truncate_line(job.error, _MAX_ERROR_CHARS)
        parts.append(error if error.startswith(job.status.label) else f"{job.status.label}: {error}")
    if job.outputs:
        parts.append(_list_outputs(job.outputs))
    elif not job.error:
        parts.append("nothing written" if job.status.is_terminal else job.status.label)
    if job.tests:
        parts.append(f"tests: {_list_outputs(job.tests)}")
    if job.retry_used:
        parts.append("retried")
    if job.fixes:
        parts.append(f"repaired {pluralize(job.fixes, 'time')}")
    if job.implicit_context:
        parts.append(f"implicit context: {join_names(job.implicit_context, MAX_NAMES)}")
    parts += [f"warning: {' '.join(warning.split())[:200]}" for warning in job.warnings[:2]]
    return " · ".join(parts)


def _list_outputs(outputs: Sequence[JobOutput]) -> str:
    return join_names([f"{output.path} ({pluralize(output.lines, 'line')})" for output in outputs], MAX_NAMES)
