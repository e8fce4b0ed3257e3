"""The line of merges, its rebuilds and its gates."""

from __future__ import annotations

from plait.core.decisions import GateEnding, GateStarted, MergeStarted, RebuildStarted
from plait.core.reports import GateDone, GateLost, MergeConflicted, MergeDone, MergeFailed, RebuildDone
from plait.core.status import Category
from plait.core.task import Step
from plait.testing.audit.book.book import Book
from plait.testing.audit.pages import BatchPage, GatePage, Link, TaskPage


def merge_started(book: Book, event: MergeStarted) -> None:
    batch = book.batch(event.batch)
    batch.merging = event.task
    page = batch.tasks[event.task]
    page.merging = page.numbers[Step.MERGE] = event.n


def merge_over(book: Book, at: float, report: MergeDone | MergeConflicted | MergeFailed) -> None:
    batch = book.batches.get(report.batch)
    page = batch.tasks.get(report.task) if batch else None
    if batch is None or page is None or page.merging != report.n:
        return
    page.merging = batch.merging = None
    if isinstance(report, MergeDone):
        batch.line.append(Link(report.task, page.life, report.commit))
    else:
        conflict = isinstance(report, MergeConflicted)
        _trouble(page, Category.CONFLICT if conflict else Category.MERGE, at)


def _trouble(page: TaskPage, category: Category, at: float) -> None:
    page.trouble, page.trouble_at = category, at


def rebuild_started(book: Book, event: RebuildStarted) -> None:
    batch = book.batch(event.batch)
    batch.rebuild, batch.rebuilds = event, event.n


def rebuild_done(book: Book, at: float, report: RebuildDone) -> None:
    batch = book.batches.get(report.batch)
    if batch is None or batch.rebuild is None or batch.rebuild.n != report.n:
        return
    batch.rebuild = None
    lives = {link.task: link.life for link in batch.line}
    old = batch.line
    batch.line = [Link(merged.task, lives[merged.task], merged.commit) for merged in report.line]
    _doubt(batch, old)
    for clash in report.clashes:
        page = batch.tasks[clash.task]
        if page.ended is None or page.done:
            # It was done by being in the branch; it no longer is.
            page.ended = None
            _trouble(page, Category.CONFLICT, at)


def _doubt(batch: BatchPage, old: list[Link]) -> None:
    """What was tested counts up to the first merge that is gone."""
    same = 0
    for was, now in zip(old, batch.line, strict=False):
        if was.task != now.task:
            break
        same += 1
    batch.gated = min(batch.gated, same)
    if batch.gate is not None and len(batch.gate.prefix) > same:
        batch.gate.stale = True


def gate_started(book: Book, at: float, event: GateStarted) -> None:
    batch = book.batch(event.batch)
    batch.gate = GatePage(event, at, tuple(batch.line[: event.size]))
    batch.gates = event.n


def gate_ending(book: Book, event: GateEnding) -> None:
    gate = book.batch(event.batch).gate
    if gate is not None and gate.order.n == event.n:
        gate.ending = True


def gate_over(book: Book, report: GateDone | GateLost) -> None:
    batch = book.batches.get(report.batch)
    if batch is None or batch.gate is None or batch.gate.order.n != report.n:
        return
    gate, batch.gate = batch.gate, None
    if gate.stale:
        return
    if isinstance(report, GateLost):
        batch.gate_losses += 1
        return
    batch.gate_losses = 0
    if report.passed:
        batch.base_proved = True
        batch.gated = max(batch.gated, gate.order.size)
    elif gate.prefix:
        batch.failed[names(gate.prefix)] = None
    else:
        batch.base_failed = True


def names(prefix: tuple[Link, ...]) -> tuple[tuple[str, int], ...]:
    """A prefix of the line as what was in it; rebuilding gives the same merges new commits."""
    return tuple((link.task, link.life) for link in prefix)
