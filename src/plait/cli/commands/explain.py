"""`plait explain`: why a task has its status, its needs, attempts and result, and the next step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from plait.cli import format as fmt, options as opt
from plait.cli.contest_table import add_contest_table
from plait.cli.output import OK, Page, print_json
from plait.client.batch_lookup import find_one_task, format_attempt_label
from plait.client.full_explanation import (
    FullExplanation,
    TaskResultDetails,
    describe_explanation,
    explain_fully,
    explain_need,
)
from plait.client.history import GateRun, PastAttempt
from plait.client.next_step import suggest_next_step
from plait.client.session import open_session
from plait.client.task_notes import FeedbackPart, FeedbackSource
from plait.core.explain import explain_in_words, explain_status
from plait.core.reports import Outcome
from plait.core.state import BatchState, State
from plait.core.status import Category, TaskStatus
from plait.core.task import Need, NeedKind
from plait.core.text import join_names
from plait.store.state_claim import open_repo


def explain_command(where: Path, names: opt.OneTask = None, *, as_json: opt.Json = False) -> int:
    location = open_repo(where)
    with open_session(location) as session:
        state = session.preview_state()
        batch, task = find_one_task(state, names or ())
    details = explain_fully(location, state, batch, task)
    if as_json:
        print_json(describe_explanation(details))
    else:
        _print_explanation(details)
    return OK


def _print_explanation(details: FullExplanation) -> None:
    state, batch, task = details.state, details.batch, details.task
    page, explanation = Page(), explain_status(state, batch, task)
    page.add_line((explain_in_words(state, batch, task), fmt.STATUS_STYLES[explanation.status]))
    about = " · ".join(filter(None, (task.task.title, str(task.task.origin or ""), f"batch {batch.id}")))
    page.add_line((about, "dim"))
    if details.contest is not None:
        page.add_line()
        page.add_line(("contest", "bold"))
        add_contest_table(page, details.contest)
    needs = [need for need in task.task.needs if need.kind is not NeedKind.ENTRANT]
    if needs:
        page.add_line()
        page.add_line(("needs", "bold"))
        for need in needs:
            _add_need(page, state, batch, need)
    if details.attempts:
        page.add_line()
        page.add_line(("attempts", "bold"))
        for attempt in details.attempts:
            _add_attempt(page, attempt)
            if node := details.nodes.get(attempt.attempt):
                page.add_line((f"  {'':<9} on {node}", "dim"))
    lines = list(describe_result(batch, details.result)) if details.result is not None else []
    if lines:
        page.add_line()
        page.add_line(("result", "bold"))
        for label, text in lines:
            page.add_line(f"  {label:<9} {' '.join(text.split())}")
    page.add_line()
    page.add_line(suggest_next_step(state, batch, task))
    page.show()


def _add_need(page: Page, state: State, batch: BatchState, need: Need) -> None:
    explanation = explain_need(state, batch, need)
    why = ", ".join(filter(None, ("chain" if need.kind is NeedKind.CHAIN else "", need.reason)))
    origin = f" ({need.at})" if need.at else ""
    status = (
        ("not in this batch", "dim")
        if explanation is None
        else (explanation.status.label, fmt.STATUS_STYLES[explanation.status])
    )
    reason = explanation.reason if explanation is not None and explanation.status is not TaskStatus.DONE else ""
    page.add_line(f"  {need.on}  ", status, f"{why and f'  {why}'}{origin}", (f"  {reason}" if reason else "", "dim"))


def _add_attempt(page: Page, attempt: PastAttempt) -> None:
    length = fmt.format_elapsed(fmt.measure_elapsed(attempt.started_at, attempt.ended_at))
    head = f"  {format_attempt_label(attempt.attempt):<9} {attempt.agent:<8} {length:>7}  "
    width = fmt.get_line_width()
    outcome = fmt.truncate_line(_describe_outcome(attempt), None if width is None else width - len(head))
    page.add_line(head, (outcome, _get_outcome_style(attempt.outcome)))
    for part in attempt.told:
        _add_told(page, part)
    if attempt.told_check is not None:
        page.add_line(
            (f"  {'':<9} feedback: the end of the output of {format_attempt_label(attempt.told_check)}", "dim")
        )
    if attempt.then:
        page.add_line((f"  {'':<9} retried: {fmt.truncate_line(attempt.then, width)}", "dim"))


_TOLD_LABELS = {
    FeedbackSource.PERSON: "person",
    FeedbackSource.ANSWER: "answer",
    FeedbackSource.REVIEW: "review comments",
    FeedbackSource.CHECK: "failed check",
    FeedbackSource.CONFLICT: "conflict",
    FeedbackSource.PLAIT: "plait",
}
_MAX_TOLD_LINES = 12


def _add_told(page: Page, part: FeedbackPart) -> None:
    first, *others = part.text.strip().splitlines()
    page.add_line((f"  {'':<9} feedback ({_TOLD_LABELS[part.source]}): {first}", "dim"))
    for line in others[: _MAX_TOLD_LINES - 1]:
        page.add_line((f"  {'':<9}   {line}".rstrip(), "dim"))
    if len(others) >= _MAX_TOLD_LINES:
        page.add_line((f"  {'':<9}   … {len(others) + 1 - _MAX_TOLD_LINES} more lines: plait explain --json", "dim"))


def _get_outcome_style(outcome: Outcome | None) -> str:
    if outcome is None:
        return "cyan"
    return "green" if outcome.category is Category.OK else "red"


def _describe_outcome(attempt: PastAttempt) -> str:
    if attempt.outcome is None:
        return f"being stopped ({attempt.ending.value})" if attempt.ending else "running"
    if attempt.outcome.category is Category.OK:
        return f"ok{f', stopped by plait ({attempt.ending.value})' if attempt.ending else ''}"
    if attempt.ending is not None:  # what a tool prints while it is terminated is not about its work
        return f"stopped by plait ({attempt.ending.value})"
    code = attempt.outcome.exit_code
    detail = attempt.outcome.detail or ("" if code is None else f"exit status {code}")
    return f"{attempt.outcome.category.value.replace('_', ' ')}{f': {detail}' if detail else ''}"


def describe_result(batch: BatchState, result: TaskResultDetails) -> Iterator[tuple[str, str]]:
    """Yield labels and texts about the result."""
    if result.workspace:
        yield "workspace", result.workspace
    if result.diffstat is not None:
        files = f" in {join_names(result.files, fmt.MAX_NAMES)}" if result.files else ""
        yield "changed", f"{fmt.format_diffstat(result.diffstat, fmt.get_minus_sign())}{files}"
    if result.tip:
        yield "branch", f"{result.branch} at {fmt.shorten_commit(result.tip)}"
    elif result.kept:
        yield "branch", f"{result.branch} is gone; {result.kept} has its work"
    if result.merged:
        yield (
            "merged",
            f"as {fmt.shorten_commit(result.merged)}, {result.place} of {len(batch.merges)} in {batch.branch}",
        )
    running = batch.gate
    if running is not None and not running.stale and 0 < result.place <= running.size:
        yield "gate", f"gate {running.n} runs on it now: plait logs {batch.id} --gate -f"
    elif result.gate is not None:
        yield "gate", _describe_gate(result.gate)
    if result.published:
        url = batch.published.url if batch.published is not None else ""
        yield "published", url or f"pushed, with the batch branch at {fmt.shorten_commit(result.published)}"


def _describe_gate(gate: GateRun) -> str:
    decision = gate.decision
    why = f": {gate.detail}" if gate.detail else ""
    result = "passed" if gate.passed else f"failed{why}"
    return f"gate {decision.n} ({decision.command}), on {fmt.shorten_commit(decision.commit)}, {result}"
