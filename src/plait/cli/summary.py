"""The last screen: how a batch ended, what it took, what is not done and how to go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from shlex import quote

from plait.cli.say import ASKS, FAILED, OK, Page
from plait.cli.screen.spans import took
from plait.cli.summary_jobs import show_jobs
from plait.core.status import BatchStatus, Category, TaskStatus, Waiting
from plait.core.views import BatchView, TaskView
from plait.front.contests import ContestView
from plait.front.jobs import Jobs
from plait.front.way import answer, login

_MOST = 10  # of each kind that are told one by one
_NAMED = 4  # together
_NO_JOBS = Jobs()
_BAD_BASE = "the gate fails on the base"
_NO_BUDGET = "raise the budget"
_LONGEST = 400  # characters of a reason
_STYLES = {TaskStatus.DONE: "green", TaskStatus.BLOCKED: "magenta"}
_BAD = (TaskStatus.FAILED, TaskStatus.TIMED_OUT, TaskStatus.CONFLICTED)
_QUIET = (TaskStatus.BLOCKED, TaskStatus.SKIPPED, TaskStatus.CANCELLED, TaskStatus.INTERRUPTED)


def exit_code(view: BatchView) -> int:
    """0: everything that is still asked for is done. 3: all that is left waits for a person. 1: something else came of it."""
    if view.unshipped is not None:  # it was asked for, and nobody got it
        return FAILED
    if view.status is BatchStatus.COMPLETED:  # what a person dropped is not asked for any more
        return OK
    if view.progress.total == dict(view.progress.counts)[TaskStatus.DONE]:
        return FAILED if view.status in {BatchStatus.FAILED, BatchStatus.CANCELLED} else OK
    return ASKS if view.waits_for_person else FAILED


def summary(  # noqa: PLR0913 - all that is told
    view: BatchView,
    *,
    now: float,
    worked: float,
    name: str | None = None,
    jobs: Jobs = _NO_JOBS,
    contests: Sequence[ContestView] = (),
) -> Page:
    """`worked` is the time of all attempts, one after another; `jobs` are those of them that models did.
    A failed entrant of a contest is told of there, and is no failure of the batch.
    """
    page = Page()
    called = name or view.id
    page.line()
    page.line((_headline(view, called), "bold"), *_counts(view))
    if view.started_at is not None:
        page.line(f"  {_times(view, view.started_at, now, worked)}")
    if view.status is BatchStatus.PAUSED:
        why = _flat(view.reason)
        page.line((f"  {why}" if why.startswith("paused") else f"  paused: {why}", "yellow"))
    _show_branch(page, view, called)
    asked = replace(view, tasks=tuple(task for task in view.tasks if task.entrant is None))
    _show_bad(page, asked, called)
    _show_quiet(page, asked)
    _show_asking(page, view, called)
    show_jobs(page, jobs)
    if contests:
        from plait.cli.contest_table import show_contests  # noqa: PLC0415 - few batches have one

        show_contests(page, contests, quote(called))
    _show_next(page, asked, called)
    return page


def _show_branch(page: Page, view: BatchView, name: str) -> None:
    """Where the result is, and how it gets to where others see it."""
    if not view.branch or not view.head or view.head == view.base:
        return
    there = bool(view.pushed) and view.pushed == view.head
    pushed = ", pushed" if there else ""
    page.line(f"  branch {view.branch}{pushed}")
    if view.pr_url:
        page.line(f"  pull request {view.pr_url}")
    if view.unshipped is not None:
        missing = "no pull request" if there else "not published"
        page.line((f"  {missing}", "red"), f"  {_flat(view.unshipped)}")
        for line in view.way_out.splitlines():
            page.line((f"    {line}", "dim"))
    elif view.differs:
        page.line((f"  what was published is older than the branch: plait pr {quote(name)}", "yellow"))
    elif not view.shipped and view.ended_at is not None:
        page.line((f"    plait pr {quote(name)}   opens a pull request", "dim"))


def _headline(view: BatchView, name: str) -> str:
    state = "is not finished" if view.ended_at is None else str(view.status.value)
    return f"batch {name} {state}"


def _counts(view: BatchView) -> list[tuple[str, str]]:
    pieces: list[tuple[str, str]] = []
    for status, count in view.progress.counts:
        if count:
            style = "red" if status in _BAD else _STYLES.get(status, "")
            pieces += [(" · ", "dim"), (f"{count} {_word(status)}", style)]
    return pieces


def _times(view: BatchView, begun: float, now: float, worked: float) -> str:
    wall = max(0.0, (view.ended_at if view.ended_at is not None else now) - begun)
    told, long = took(wall), took(worked)
    if worked > wall and told != long:
        told = f"{told} instead of {long} one after another"
    return f"{told} · {view.cost}" if view.cost else told


def _show_bad(page: Page, view: BatchView, name: str) -> None:
    found = [task for task in view.tasks if task.status in _BAD]
    if not found:
        return
    page.line()
    for task in found[:_MOST]:
        attempts = f" (attempt {task.attempt})" if task.attempt > 1 and "attempt" not in task.reason else ""
        page.line((f"  {_word(task.status)}", "red"), f"  {task.id}: {_flat(task.reason)}{attempts}")
        page.line((f"    {_why(task, f'{quote(name)} {quote(task.id)}')}", "dim"))
    _show_more(page, found)
    unknown = dict.fromkeys(task.agent for task in found if task.category is Category.AUTH)
    for agent in filter(login, unknown):
        page.line((f"    log in with {agent}: {login(agent)}", "dim"))


def _why(task: TaskView, called: str) -> str:
    """The command that shows more: of a conflict, both sides' files are told already."""
    if task.status is TaskStatus.CONFLICTED:
        return f"plait diff {called}"
    return f"plait logs {called}{' --gate' if task.category is Category.GATE else ''}"


def _show_quiet(page: Page, view: BatchView) -> None:
    """Many tasks end for one reason: it is told once."""
    groups: dict[tuple[TaskStatus, str], list[str]] = {}
    for task in view.tasks:
        if task.status in _QUIET:
            groups.setdefault((task.status, _head(task)), []).append(task.id)
    if groups:
        page.line()
    for (status, head), names in [*groups.items()][:_MOST]:
        page.line((f"  {head}", _STYLES.get(status, "")), f": {_names(names)}")
    if len(groups) > _MOST:
        page.line((f"  and {sum(map(len, [*groups.values()][_MOST:]))} more tasks", "dim"))


def _head(task: TaskView) -> str:
    word, reason = _word(task.status), _flat(task.reason)
    if task.by is not None:
        return f"{word} by {task.by}"
    return reason if reason.startswith(word) else f"{word} ({reason})"


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_NAMED])
    return f"{shown} and {len(names) - _NAMED} more" if len(names) > _NAMED else shown


def _show_asking(page: Page, view: BatchView, name: str) -> None:
    called = quote(name)
    asking = [task for task in view.tasks if task.waiting in {Waiting.ANSWER, Waiting.APPROVAL}]
    if not asking:
        return
    page.line()
    for task in asking[:_MOST]:
        page.line(("  waits for you", "yellow"), f"  {task.id}: {_flat(task.reason)}")
        approve = task.waiting is Waiting.APPROVAL
        way = f"plait approve {called}" if approve else answer(f"{called} {quote(task.id)}", task.reason)
        page.line((f"    {way}", "dim"))
    _show_more(page, asking)


def _show_more(page: Page, found: Sequence[TaskView]) -> None:
    if len(found) > _MOST:
        page.line((f"  and {len(found) - _MOST} more (plait status has them all)", "dim"))


def _show_next(page: Page, view: BatchView, name: str) -> None:
    """How to go on, where something is left to go on with."""
    called = quote(name)
    bad = [task for task in view.tasks if task.status in _BAD]
    paused = view.ended_at is None and view.status is BatchStatus.PAUSED
    told: list[str] = []
    if bad:
        names = " ".join(quote(task.id) for task in bad) if len(bad) <= _NAMED else "TASK…"
        told.append(f"plait retry {called} {names}")
    if paused:
        told.append(f"plait run --resume{' --budget AMOUNT' if _NO_BUDGET in view.reason else ''}")
        if _BAD_BASE in view.reason:
            told[-1:] = [f"plait logs {called} --gate", "plait run --resume --gate 'ANOTHER' (or '': none)"]
    if told:
        page.line()
        # A pause holds back what is retried, too.
        joined = "   then   " if paused and _BAD_BASE not in view.reason else "   or   "
        page.line(("  to go on", "bold"), f"  {joined.join(told)}")


def _flat(reason: str) -> str:
    """On one line, and no longer than a few."""
    told = " ".join(reason.split())
    return told if len(told) <= _LONGEST else f"{told[:_LONGEST]}…"


def _word(status: TaskStatus) -> str:
    return status.value.replace("_", " ")
