"""Title and body of a batch's pull request.

Texts of tasks are untrusted: they are escaped so that they make no link or mention, close no issue, and are no markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from plait.core.ballot import Vote
from plait.core.fast_dataclass import dataclass
from plait.core.requests import MAX_OVERRIDE_TITLE_CHARS, NO_OVERRIDE, PullRequestOverride
from plait.core.settings import Spend
from plait.core.status import TaskStatus
from plait.core.text import ZERO_WIDTH_SPACE, defuse_references, join_names, shorten
from plait.core.views import BatchView, TaskView

MAX_BODY_BYTES = 60_000  # forges accept 65,536 characters; the rest is for people's own text
_MAX_TITLE_CHARS = 120  # characters of a title of plait's own
_MAX_NAME_CHARS = 160  # characters of a task's title
_MAX_REASON_CHARS = 300
_FRAME_BYTES = 1_000  # bytes for what is around the lists
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_ACTIVE_SYNTAX = re.compile(r"[@#!%~$&^:](?=\S)|(?<=\bGH)-(?=\d)|(?<=www)\.", re.IGNORECASE)
_MARKUP = re.compile(r"[!-/:-@\[-`{-~]")
_SAFE_CODE = re.compile(r"[^`|\\<>]+")
_TRAILER = re.compile(r"[\w.+-]{1,200}")
_STATUS_SIGNS = {
    TaskStatus.DONE: "✓",
    TaskStatus.FAILED: "✗",
    TaskStatus.TIMED_OUT: "✗",
    TaskStatus.CONFLICTED: "✗",
    TaskStatus.BLOCKED: "⊘",
    TaskStatus.SKIPPED: "\\-",
    TaskStatus.CANCELLED: "\\-",
    TaskStatus.INTERRUPTED: "‖",
}
_MAX_VERDICT_CHARS = 120  # characters of what a judge says
_MAX_VOTES_SHARE = 4  # of the body, for contests
_TABLE_HEADER = "| status | task | commit | change | verified | cost |\n|---|---|---|---|---|---|"


@dataclass(frozen=True, slots=True)
class PullRequestText:
    title: str
    body: str

    def redact(self, hide: Callable[[str], str]) -> PullRequestText:
        return PullRequestText(hide(self.title), hide(self.body))


def write_pull_request(
    view: BatchView, override: PullRequestOverride = NO_OVERRIDE, *, usual: str = ""
) -> PullRequestText:
    """Return a person's own title and body, else plait's; `usual` is the configured title."""
    return PullRequestText(
        write_title(view, override.title or usual), override.body if override.body.strip() else write_body(view)
    )


def write_title(view: BatchView, wanted: str = "") -> str:
    """Return the title that a person wants, else one that names the merged tasks."""
    if wanted.strip():
        return shorten(_to_one_line(wanted), MAX_OVERRIDE_TITLE_CHARS)
    merged = [task for task in _list_requested(view) if task.status is TaskStatus.DONE]
    names = ", ".join(_to_one_line(task.title or task.id) for task in merged[:3])
    title = names if len(merged) == 1 else f"{len(merged)} tasks: {names}" + (", …" if len(merged) > 3 else "")
    return defuse_references(shorten(title if merged else f"Batch {_to_one_line(view.id)}", _MAX_TITLE_CHARS))


def write_body(view: BatchView) -> str:
    """Return a body of at most `MAX_BODY_BYTES`: tasks that do not fit are only counted."""
    requested = _list_requested(view)
    not_done = [task for task in requested if task.status is not TaskStatus.DONE]
    judged = [task for task in requested if task.ballot is not None]
    free_bytes = MAX_BODY_BYTES - _FRAME_BYTES
    votes_bytes = free_bytes // _MAX_VOTES_SHARE if judged else 0
    max_bytes = (free_bytes - votes_bytes) // (2 if not_done else 1)
    parts = [_summary(view)]
    if requested:
        table, omitted = _fit_lines(((task.status, _format_row(view, task)) for task in requested), max_bytes)
        parts += ["\n".join([_TABLE_HEADER, *table]), *omitted]
    if not_done:
        reasons, omitted = _fit_lines(((task.status, _format_reason(task)) for task in not_done), max_bytes)
        parts += ["### Not included", "\n".join(reasons), *omitted]
    if judged:
        votes, omitted = _fit_lines(((task.status, _format_votes(task)) for task in judged), votes_bytes)
        parts += ["### Judged", "\n".join(votes), *omitted]
    parts.append(_format_footer(view))
    return "\n\n".join(parts) + "\n"


def _list_requested(view: BatchView) -> list[TaskView]:
    """List all tasks but the entrants of contests."""
    return [task for task in view.tasks if task.entrant is None]


def _summary(view: BatchView) -> str:
    counts = dict(view.progress.counts)
    merged, total = counts.get(TaskStatus.DONE, 0), view.progress.total
    parts = [f"**{merged} of {total} task{'s' if total != 1 else ''} done**"]
    parts += _format_counts({status: count for status, count in counts.items() if status is not TaskStatus.DONE})
    if view.started_at is not None and view.ended_at is not None:
        parts.append(_format_duration(view.wall_time.over))
    if view.cost:
        parts.append(_format_cost(view.cost))
    return " · ".join(parts)


def _format_counts(counts: Mapping[TaskStatus, int]) -> list[str]:
    return [f"{count} {status.label}" for status, count in counts.items() if count]


def _format_row(view: BatchView, task: TaskView) -> str:
    # Where a whole batch is verified, nothing is done before its verification has passed.
    verified = task.status is TaskStatus.DONE and view.settings.verify is not None
    cells = [
        _format_status(task.status),
        _format_name(task),
        _format_commit(task.commit or ""),
        _format_diffstat(task.diffstat),
        "yes" if verified else "",
        _format_cost(task.cost),
    ]
    return f"| {' | '.join(cells)} |"


def _format_reason(task: TaskView) -> str:
    reason = _escape_markdown(task.reason, _MAX_REASON_CHARS)
    by = f" by {_format_code(task.by)}" if task.by and task.by not in task.reason else ""
    return f"- {_format_status(task.status)}{by}: {_format_name(task)}" + (f" ({reason})" if reason else "")


def _format_votes(task: TaskView) -> str:
    """Format a contest as a list item: who won, and one line for each judge's vote."""
    assert task.ballot is not None
    winner = f"{_format_code(task.winner)} won; " if task.winner else ""
    votes = [f"  - {_format_vote(vote)}" for vote in task.ballot.votes]
    return "\n".join([f"- {_format_code(task.id)}: {winner}{task.ballot.describe()}", *votes])


def _format_vote(vote: Vote) -> str:
    judge = _format_code(vote.judge)
    if vote.failure:
        return f"{judge}: no vote ({_escape_markdown(vote.failure, _MAX_VERDICT_CHARS)})"
    choices = " \\> ".join(map(_format_code, vote.ranking))
    rejected = f"rejects {', '.join(map(_format_code, vote.rejected))}" if vote.rejected else ""
    reason = f" ({_escape_markdown(vote.reason, _MAX_VERDICT_CHARS)})" if vote.reason else ""
    return f"{judge}: {'; '.join(filter(None, (choices, rejected)))}{reason}"


def _format_name(task: TaskView) -> str:
    named = _escape_markdown(task.title, _MAX_NAME_CHARS)
    return f"{_format_code(task.id)} {named}" if named and task.title != task.id else _format_code(task.id)


def _format_status(status: TaskStatus) -> str:
    return f"{_STATUS_SIGNS.get(status, '·')} {status.label}"


def _format_commit(commit: str) -> str:
    """Return the abbreviated commit as plain text, so that the forge makes a link of it; "" for anything else."""
    return commit[:10] if re.fullmatch(r"[0-9a-f]{40,64}", commit) else ""


def _format_cost(cost: Spend) -> str:
    """Format a cost with escaped dollar signs: two in a paragraph would be a formula."""
    return str(cost).replace("$", "\\$") if cost else ""


def _format_diffstat(diffstat: tuple[int, int, int] | None) -> str:
    files, added, removed = diffstat or (0, 0, 0)
    if not files:
        return ""
    return f"+{added} \u2212{removed} in {files} file{'s' if files != 1 else ''}"


def _fit_lines(lines: Iterable[tuple[TaskStatus, str]], free_bytes: int) -> tuple[list[str], list[str]]:
    """Return as many lines as there is room for, and a line that counts the others by status, if there are any."""
    kept: list[str] = []
    others: dict[TaskStatus, int] = {}
    for status, line in lines:
        free_bytes -= len(line.encode()) + 1
        if free_bytes >= 0 and not others:
            kept.append(line)
        else:
            others[status] = others.get(status, 0) + 1
    if not others:
        return kept, []
    return kept, [f"… and {sum(others.values())} more: {', '.join(_format_counts(others))}"]


def _format_footer(view: BatchView) -> str:
    """Return the last lines of the body. Trailers come last, so that a squash merge keeps them."""
    sources = f" · from {join_names([_format_code(name) for name in view.sources], 3)}" if view.sources else ""
    credit = f"Made by plait: batch {_format_code(view.id)}, branch {_format_code(view.branch)}{sources}"
    trailer = f"Plait-Batch: {view.id}" if _TRAILER.fullmatch(view.id) else ""
    return "\n\n".join(filter(None, [credit, trailer]))


def _format_duration(seconds: float) -> str:
    minutes, rest = divmod(int(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h {minutes:02}m"
    return f"{minutes}m {rest:02}s" if minutes else f"{rest}s"


def _escape_markdown(text: str, max_chars: int = _MAX_NAME_CHARS) -> str:
    """Return markdown that shows exactly this text."""
    spaced = _ACTIVE_SYNTAX.sub(lambda sign: f"{sign[0]}{ZERO_WIDTH_SPACE}", shorten(_to_one_line(text), max_chars))
    return _MARKUP.sub(lambda sign: "&lt;" if sign[0] == "<" else f"\\{sign[0]}", spaced)


def _format_code(text: str) -> str:
    """Format as a code span, which forges don't interpret; escape a text that would end the span or a table cell."""
    line = shorten(_to_one_line(text), _MAX_NAME_CHARS)
    return f"`{line}`" if _SAFE_CODE.fullmatch(line) else _escape_markdown(line)


def _to_one_line(text: str) -> str:
    """Put a text on one line, and replace control characters."""
    return " ".join(_CONTROL.sub("\ufffd", " ".join(text.split())).split())
