"""`plait status`: batches and their tasks, where their results are, and the engine; with --watch, at each change."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from plait.cli import format as fmt
from plait.cli.live.task_selection import TaskSelection, select_visible_tasks
from plait.cli.output import OK, Page
from plait.client.batch_lookup import find_batch
from plait.client.session import Session, open_session
from plait.core.settings import ExecutorKind, Isolation, SandboxMode
from plait.core.state import BatchState, State
from plait.core.status import Category, TaskStatus, WaitReason
from plait.core.text import join_names
from plait.core.views import BatchView, TaskView, describe_password_wait, make_batch_view
from plait.engine.daemon import EngineInfo
from plait.git.location import RepoLocation
from plait.store.interfaces import InboxError
from plait.store.project_files import open_state_paths
from plait.store.state_claim import open_repo

if TYPE_CHECKING:
    from plait.cli.live.signals import Bell
    from plait.runtime.executor import NodeStatus

_BRIEF_WIDTH = 120  # of a table without a terminal, if the reasons are shown in full elsewhere
MAX_ENDED_BATCHES = 10  # batches that have ended; `plait history` has them all
_MAX_NODES = 20  # of a cluster, one line each
_ACTIVE_STATUSES = (TaskStatus.RUNNING, TaskStatus.VERIFYING, TaskStatus.MERGING)
_NOTABLE_STATUSES = (
    TaskStatus.FAILED,
    TaskStatus.TIMED_OUT,
    TaskStatus.CONFLICTED,
    TaskStatus.BLOCKED,
    TaskStatus.CANCELLED,
    TaskStatus.SKIPPED,
    TaskStatus.INTERRUPTED,
)


def show_status(where: Path, batch: str | None, *, watch: bool, as_json: bool) -> int:
    gc.disable()  # the process ends after its answer: garbage collection costs more than it frees
    with open_session(open_repo(where)) as session:
        if watch:
            gc.enable()
            return _watch_status(session, batch, as_json=as_json)
        print_status(session, batch, as_json=as_json)
    return OK


def print_status(session: Session, name: str | None, *, as_json: bool, rows: int | None = None) -> None:
    state, engine = _read_state(session), session.find_engine()
    chosen = sort_newest_first(state) if name is None else [find_batch(state, name)]
    if as_json:
        _print_json(session.location, state, chosen, engine)
    elif name is None:
        _print_all(state, chosen, engine)
    else:
        is_forgotten = os.path.lexists(open_state_paths(session.location).forgotten_marker(chosen[0].id))
        _print_one(state, chosen[0], engine, rows, is_forgotten=is_forgotten)


def _read_state(session: Session) -> State:
    try:
        return session.preview_state()
    except InboxError:  # without pending requests
        return session.state


def sort_newest_first(state: State) -> list[BatchState]:
    return sorted(state.batches.values(), key=lambda batch: -batch.order)


def _print_json(location: RepoLocation, state: State, batches: Sequence[BatchState], engine: EngineInfo | None) -> None:
    from plait.cli.output import print_json  # only for --json
    from plait.client.batch_json import describe_batches, list_batch
    from plait.git.location import compute_project_id

    name = compute_project_id(location)
    shown = [list_batch(state, batch, eta=_estimate_end(state, batch), project_id=name) for batch in batches]
    print_json(describe_batches(engine, state, shown))


def _estimate_end(state: State, batch: BatchState) -> float | None:
    if batch.ended is not None:
        return None
    from plait.client.eta import EtaEstimator  # only for unfinished batches

    return EtaEstimator().estimate_end(state, batch.id, time.time())


def _print_all(state: State, batches: Sequence[BatchState], engine: EngineInfo | None) -> None:
    page = Page()
    if not batches:
        page.add_line("There is no batch yet: start one with `plait run`.")
    ended = 0
    for batch in batches:
        ended += batch.ended is not None
        if batch.ended is None or ended <= MAX_ENDED_BATCHES:
            _add_batch(page, make_batch_view(state, batch))
    if ended > MAX_ENDED_BATCHES:
        page.add_line((f"and {ended - MAX_ENDED_BATCHES} older ones: plait history", "dim"))
    _add_provider_limits(page, state)
    _add_engine(page, state, engine)
    page.show()


def _add_batch(page: Page, view: BatchView) -> None:
    unwritten = [each.source for each in view.unwritten if each.retried]
    page.add_line(
        (view.id, "bold"),
        "  ",
        (f"{view.status.value:<9}", fmt.STATUS_STYLES[view.status]),
        f"  {format_counts(view)} · {_format_batch_duration(view)}",
        (f" · {fmt.truncate_line(', '.join(view.sources), 40)}" if view.sources else "", "dim"),
        f" · {published}" if (published := format_publication(view)) else "",
        (f" · statuses are not in {join_names(unwritten, fmt.MAX_NAMES)}" if unwritten else "", "red"),
    )
    if view.waits_for_person:
        page.add_line((f"{'':<{len(view.id)}}  {'':<9}  {_describe_question(view)}", "yellow"))
    for task in view.tasks:
        if task.waiting is WaitReason.PROGRAM:  # whatever else runs: it may ask a person for a passphrase
            page.add_line((f"{'':<{len(view.id)}}  {'':<9}  {task.id}: {task.reason}", "yellow"))


def _describe_question(view: BatchView) -> str:
    task = next((task for task in view.tasks if task.waiting and task.waiting.is_on_person), None)
    if task is None or task.waiting is WaitReason.PAUSE:
        return view.reason
    return f"{task.id}: {task.reason}"


def format_counts(view: BatchView) -> str:
    """Format the counts: `4/7 done · 2 running · 1 failed`."""
    counts = dict(view.progress.counts)
    running = sum(counts[status] for status in _ACTIVE_STATUSES)
    parts = [f"{counts[TaskStatus.DONE]}/{view.progress.total} done"]
    parts += [f"{running} running"] if running else []
    parts += [f"{counts[status]} {status.label}" for status in _NOTABLE_STATUSES if counts[status]]
    return " · ".join(parts)


def _format_batch_duration(view: BatchView) -> str:
    return fmt.format_batch_time(view, time.time())


def _print_one(
    state: State, batch: BatchState, engine: EngineInfo | None, rows: int | None, *, is_forgotten: bool
) -> None:
    """Print one batch. `is_forgotten`: its branches and files were removed."""
    view, page = make_batch_view(state, batch), Page()
    page.add_line(
        ("batch ", "bold"),
        (view.id, "bold"),
        " · ",
        (view.status.value, fmt.STATUS_STYLES[view.status]),
        f" · {format_counts(view)} · {_format_batch_duration(view)}",
        f" · {view.cost}" if view.cost else "",
    )
    page.add_line((f"{fmt.truncate_line(view.reason, fmt.get_line_width())}", "dim"))
    sources = f" from {', '.join(view.sources)}" if view.sources else ""
    sandbox = "" if view.settings.sandbox is SandboxMode.OFF else f" · sandbox {view.settings.sandbox}"
    executor = "" if view.settings.executor is ExecutorKind.LOCAL else f" · executor {view.settings.executor}"
    page.add_line((f"submitted {fmt.format_date(view.created_at)}{sources}{sandbox}{executor}", "dim"))
    branch = [("plait gc removed its branches and files; what it saved: plait gc --list", "yellow")]
    result = [*(branch if is_forgotten else describe_branch(view)), *describe_unwritten(view)]
    for line in result:
        page.add_line(line)
    page.add_line()
    add_tasks(
        page,
        view,
        None if rows is None else max(1, rows - len(result)),
        now=time.time(),
        shows_work=rows is None and not is_forgotten,
    )
    _add_provider_limits(page, state)
    _add_engine(page, state, engine)
    page.show()


def add_tasks(page: Page, view: BatchView, rows: int | None, *, now: float, shows_work: bool = False) -> None:
    """Add all tasks, or the most important ones if `rows` is given. `shows_work`: where the work of each is."""
    chosen = TaskSelection(view.tasks) if rows is None else select_visible_tasks(view.tasks, rows)
    names = min(40, max((len(task.id) for task in chosen.shown), default=0))
    changes = max((len(_format_diffstat(task)) for task in chosen.shown if task.commit), default=0)
    width = fmt.get_line_width() or (None if rows is None else _BRIEF_WIDTH)
    for task in chosen.shown:
        label = f"  {task.id:<{names}}  "
        status = f"{task.status.label:<11}"
        duration = f"  {fmt.format_task_time(task, now):>7}"
        change = _format_change(task, changes)
        max_chars = None if width is None else width - len(label) - len(status) - len(duration) - len(change) - 2
        about = fmt.truncate_line(_describe_task(task, brief=rows is not None), max_chars)
        page.add_line(
            label,
            (status, fmt.STATUS_STYLES[task.status]),
            duration,
            (f"{change}  {about}".rstrip(), "dim"),
        )
        if shows_work and (where := locate_work(view, task)):
            page.add_line((f"{'':<{names + 4}}{where}", "dim"))  # never cut, so that it can be copied
    _add_hidden_counts(page, chosen)


def _add_hidden_counts(page: Page, chosen: TaskSelection) -> None:
    if chosen.hidden:
        counts = ", ".join(f"{count} {status.label}" for status, count in chosen.hidden)
        page.add_line((f"  and {counts}", "dim"))


def _format_change(task: TaskView, width: int) -> str:
    """Format the columns of a merged task's change and its commit."""
    return f"  {_format_diffstat(task):<{width}}  {fmt.shorten_commit(task.commit)}" if task.commit else ""


def _format_diffstat(task: TaskView) -> str:
    return fmt.format_diffstat(task.diffstat, fmt.get_minus_sign())


def _describe_task(task: TaskView, *, brief: bool) -> str:
    reason = task.short if brief else task.reason
    text = task.title if task.status is TaskStatus.DONE else reason
    return (
        text
        if task.commit or task.category is Category.EMPTY
        else " · ".join(filter(None, (_format_diffstat(task), text)))
    )


def _add_provider_limits(page: Page, state: State) -> None:
    """Add providers that are unavailable, and until when; their tasks continue by themselves."""
    for provider, breaker in state.breakers.items() if state.open else ():
        if breaker.until is not None:
            page.add_line(
                (f"{fmt.format_provider_limit(provider, breaker.until, time.time())} ({breaker.why})", "yellow")
            )


def _add_engine(page: Page, state: State, engine: EngineInfo | None) -> None:
    if engine is not None:
        page.add_line((f"engine {engine.pid}, since {fmt.format_date(engine.since)}", "dim"))
        if engine.trouble:
            page.add_line((f"the engine is stuck: {engine.trouble}", "yellow"))
        add_nodes(page, engine.nodes)
        return
    from plait.core.scheduler.rules import is_engine_needed  # slow to import, and only needed without an engine

    if is_engine_needed(state):
        page.add_line(("work is pending but no engine is running: plait run --resume", "yellow"))


def add_nodes(page: Page, nodes: Sequence[NodeStatus]) -> None:
    """Add a cluster's nodes: all slots in one line, then each node, but of a large cluster only those with a problem."""
    if not nodes:
        return
    alive = [node for node in nodes if node.is_alive]
    slots, used = sum(node.usable_slots for node in alive), sum(node.used for node in alive)
    page.add_line((f"cluster: {fmt.pluralize(len(alive), 'node')}, {used} of {slots} slots used", "dim"))
    shown = nodes if len(nodes) <= _MAX_NODES else [node for node in nodes if node.problem or not node.is_alive]
    width = min(40, max((len(node.name) for node in shown), default=0))
    for node in shown[:_MAX_NODES]:
        problem = node.problem or ("" if node.is_alive else "lost")
        page.add_line(
            (f"  {node.name:<{width}}  {node.address:<15}  {node.used} of {node.slots}", "dim"),
            (f"  {problem}" if problem else "", "yellow"),
        )
    if len(shown) > _MAX_NODES:
        page.add_line((f"  … {len(shown) - _MAX_NODES} more with a problem", "yellow"))


def format_publication(view: BatchView) -> str:
    """Say briefly what of the batch is published; empty if nothing."""
    if view.publishing:
        return f"publishing: {describe_password_wait(view.awaited_program)}" if view.awaited_program else "publishing"
    if view.unshipped is not None:
        return "not published"
    if view.is_outdated:
        return f"older than its branch: {view.pr_url}" if view.pr_url else "pushed, older than its branch"
    return view.pr_url or ("pushed" if view.shipped else "")


def describe_branch(view: BatchView) -> Iterator[tuple[str, str]]:
    """Yield lines about the branch with their styles; none as long as nothing is merged."""
    if not view.branch or not view.head or (view.head == view.base and not view.shipped):
        return
    yield f"branch {view.branch} at {fmt.shorten_commit(view.head)}{_describe_publication(view)}", ""
    if view.pr_url:
        yield f"pull request {view.pr_url}", ""
    if view.unshipped is not None:
        yield f"not published: {' '.join(view.unshipped.split())}", "red"
        yield from ((f"  {line}", "dim") for line in view.unshipped_hint.splitlines())


def describe_unwritten(view: BatchView) -> Iterator[tuple[str, str]]:
    """Yield lines with their styles about the sources that lack statuses."""
    for unwritten in view.unwritten:
        why = " ".join(unwritten.why.split())
        yield f"statuses are not in {unwritten.source}: {why}", "red" if unwritten.retried else "yellow"
        yield from ((f"  {line}", "dim") for line in unwritten.hint.splitlines())


def _describe_publication(view: BatchView) -> str:
    command = f"plait pr {quote(view.id)}"
    if view.publishing:
        wait = f": {describe_password_wait(view.awaited_program)}" if view.awaited_program else ""
        return f", being published{wait}"
    if view.unshipped is not None:
        return ""
    if view.is_outdated:
        return f"; the published commit {fmt.shorten_commit(view.shipped)} is older: {command}"
    if view.shipped:
        return f", pushed; no pull request: {view.no_pull_request}" if view.no_pull_request else ", pushed"
    return f", not published: {command}" if view.ended_at is not None else ""


def locate_work(view: BatchView, task: TaskView) -> str:
    """Return the task's workspace or branch, until its work is merged."""
    if view.settings.isolation is Isolation.IN_PLACE or not task.attempt or task.status is TaskStatus.DONE:
        return ""
    if task.status in {*_ACTIVE_STATUSES, TaskStatus.INTERRUPTED} and task.workspace:
        return f"in {task.workspace}"
    if task.diffstat is None:
        return ""
    from plait.git.refs import task_branch  # not needed for most tasks

    return f"on branch {task_branch(view.id, task.id)}"


_NON_TASK_LINES = 7  # of a batch's page
_REFRESH_SECONDS = 1.0  # elapsed times are updated while nothing else happens


def _watch_status(session: Session, name: str | None, *, as_json: bool) -> int:
    """Print a page at each change; with a BATCH until it ends, else until interrupted."""
    from shutil import get_terminal_size  # not needed to print once

    batch = find_batch(session.preview_state(), name).id if name is not None else None
    screen = sys.stdout.isatty() and not as_json
    bell = None
    if screen:
        from plait.cli.live.signals import Bell, load_bell_setting  # slow to import, and only needed here

        bell = Bell(batch, enabled=load_bell_setting(session.location.top))
    while True:
        rows = None
        if screen:
            sys.stdout.write("\x1b[H\x1b[2J")
            rows = max(1, get_terminal_size().lines - _NON_TASK_LINES)  # so that nothing scrolls away
        print_status(session, batch, as_json=as_json, rows=rows)
        sys.stdout.flush()
        if batch is not None and batch in session.state.batches and batch not in session.state.open:
            return OK
        _wait_for_changes(session, bell)


def _wait_for_changes(session: Session, bell: Bell | None) -> None:
    """Return at the next record; on a screen also every second, to update the elapsed times."""
    while True:
        with suppress(InboxError):  # without write access one can still watch
            session.ensure_engine()
        changed = session.wait(_REFRESH_SECONDS)
        records = session.refresh()
        if bell is not None:
            bell.ring_for(session.state, records)
        if changed or bell is not None:
            return
