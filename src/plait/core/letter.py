"""What a pull request says: a title and a body, from what everybody may see of a batch.

Texts of tasks are other people's: in it they are words and nothing else. They make no link, mention nobody, close no
issue, and are no markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from plait.core.frozen import dataclass
from plait.core.status import TaskStatus
from plait.core.views import BatchView, TaskView
from plait.core.wording import NO_WORDING, TITLE_MOST, Wording

MOST = 60_000  # bytes of a body: forges take 65,536 characters, and people may add theirs
_TITLE = 120  # characters of a title of plait's own
_NAME = 160  # characters of a task's title
_REASON = 300
_HEAD_ROOM = 1_000  # bytes for what stands around the lists
_ZERO = "\u200b"  # between a sign and its word, so that they mean nothing together
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_LIVELY = re.compile(r"[@#!%~$&^:](?=\S)|(?<=\bGH)-(?=\d)|(?<=www)\.", re.IGNORECASE)
_MARKUP = re.compile(r"[!-/:-@\[-`{-~]")
_HARMLESS = re.compile(r"[^`|\\<>]+")
_TRAILER = re.compile(r"[\w.+-]{1,200}")
_SIGNS = {
    TaskStatus.DONE: "✓",
    TaskStatus.FAILED: "✗",
    TaskStatus.TIMED_OUT: "✗",
    TaskStatus.CONFLICTED: "✗",
    TaskStatus.BLOCKED: "⊘",
    TaskStatus.SKIPPED: "\\-",
    TaskStatus.CANCELLED: "\\-",
    TaskStatus.INTERRUPTED: "‖",
}
_HEADINGS = "| status | task | commit | change | verified | cost |\n|---|---|---|---|---|---|"


@dataclass(frozen=True, slots=True)
class Detail:
    """What a view does not hold of a task. `diffstat` is files, lines added and lines removed; `verified` None: not told."""

    diffstat: tuple[int, int, int] | None = None
    commit: str = ""
    verified: bool | None = None


_NONE = Detail()


@dataclass(frozen=True, slots=True)
class Letter:
    title: str
    body: str

    def hidden(self, hide: Callable[[str], str]) -> Letter:
        return Letter(hide(self.title), hide(self.body))


def letter(view: BatchView, said: Wording = NO_WORDING, *, usual: str = "") -> Letter:
    """What a person said of this one, else what plait makes of it; `usual` is what all are to be called."""
    return Letter(title(view, said.title or usual), said.body if said.body.strip() else body(view))


def title(view: BatchView, wanted: str = "") -> str:
    """`wanted` is what a person wants it to be; otherwise it says what is in it."""
    if wanted.strip():
        return _cut(_flat(wanted), TITLE_MOST)
    merged = [task for task in _asked(view) if task.status is TaskStatus.DONE]
    names = ", ".join(_flat(task.title or task.id) for task in merged[:3])
    told = names if len(merged) == 1 else f"{len(merged)} tasks: {names}" + (", …" if len(merged) > 3 else "")
    return _still(_cut(told if merged else f"Batch {_flat(view.id)}", _TITLE))


def body(view: BatchView, details: Mapping[str, Detail] | None = None, *, most: int = MOST) -> str:
    """Never more than `most` bytes: what does not fit is counted."""
    asked = _asked(view)
    left = [task for task in asked if task.status is not TaskStatus.DONE]
    room = (most - _HEAD_ROOM) // 2 if left else most - _HEAD_ROOM
    parts = [_summary(view)]
    if asked:
        rows = ((task.status, _row(view, task, (details or {}).get(task.id, _NONE))) for task in asked)
        table, more = _fitting(rows, room)
        parts += ["\n".join([_HEADINGS, *table]), *more]
    if left:
        reasons, more = _fitting(((task.status, _reason(task)) for task in left), room)
        parts += ["### Not in it", "\n".join(reasons), *more]
    parts.append(_footer(view))
    return "\n\n".join(parts) + "\n"


def _asked(view: BatchView) -> list[TaskView]:
    """Entrants of a contest are nobody's wish: their task is."""
    return [task for task in view.tasks if task.entrant is None]


def _summary(view: BatchView) -> str:
    counts = dict(view.progress.counts)
    merged, total = counts.get(TaskStatus.DONE, 0), view.progress.total
    told = [f"**{merged} of {total} task{'s' if total != 1 else ''} done**"]
    told += _counts({status: count for status, count in counts.items() if status is not TaskStatus.DONE})
    if view.started_at is not None and view.ended_at is not None:
        told.append(_took(view.ended_at - view.started_at))
    if view.cost:
        told.append(_plain(str(view.cost)))
    return " · ".join(told)


def _counts(counts: Mapping[TaskStatus, int]) -> list[str]:
    return [f"{count} {_word(status)}" for status, count in counts.items() if count]


def _row(view: BatchView, task: TaskView, detail: Detail) -> str:
    cells = [
        _status(task.status),
        _name(task),
        _commit(detail.commit or task.commit or ""),
        _change(detail.diffstat or task.diffstat),
        _verified(view, task, detail),
        _plain(str(task.cost)) if task.cost else "",
    ]
    return f"| {' | '.join(cells)} |"


def _reason(task: TaskView) -> str:
    reason = _plain(task.reason, _REASON)
    by = f" by {_code(task.by)}" if task.by and task.by not in task.reason else ""
    return f"- {_status(task.status)}{by}: {_name(task)}" + (f" ({reason})" if reason else "")


def _name(task: TaskView) -> str:
    named = _plain(task.title, _NAME)
    return f"{_code(task.id)} {named}" if named and task.title != task.id else _code(task.id)


def _status(status: TaskStatus) -> str:
    return f"{_SIGNS.get(status, '·')} {_word(status)}"


def _word(status: TaskStatus) -> str:
    return status.value.replace("_", " ")


def _commit(commit: str) -> str:
    """Plain, so that the forge makes a link of it."""
    return commit[:10] if re.fullmatch(r"[0-9a-f]{40,64}", commit) else ""


def _verified(view: BatchView, task: TaskView, detail: Detail) -> str:
    """Where a whole batch is checked, nothing is done before its check has passed."""
    if detail.verified is None and task.status is TaskStatus.DONE and view.settings.verify is not None:
        return "yes"
    return {True: "yes", False: "no", None: ""}[detail.verified]


def _change(diffstat: tuple[int, int, int] | None) -> str:
    if diffstat is None:
        return ""
    files, added, removed = diffstat
    return f"+{added} \u2212{removed} in {files} file{'s' if files != 1 else ''}"


def _fitting(lines: Iterable[tuple[TaskStatus, str]], room: int) -> tuple[list[str], list[str]]:
    """As many lines as there is room for, and how many others there are, by status."""
    kept: list[str] = []
    others: dict[TaskStatus, int] = {}
    for status, line in lines:
        room -= len(line.encode()) + 1
        if room >= 0 and not others:
            kept.append(line)
        else:
            others[status] = others.get(status, 0) + 1
    if not others:
        return kept, []
    return kept, [f"… and {sum(others.values())} more: {', '.join(_counts(others))}"]


def _footer(view: BatchView) -> str:
    """Trailers last: whoever squashes the pull request into one commit keeps them."""
    sources = f" · from {_names(view.sources)}" if view.sources else ""
    made = f"Made by plait: batch {_code(view.id)}, branch {_code(view.branch)}{sources}"
    trailer = f"Plait-Batch: {view.id}" if _TRAILER.fullmatch(view.id) else ""
    return "\n\n".join(filter(None, [made, trailer]))


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(_code(name) for name in names[:3])
    return f"{shown} and {len(names) - 3} more" if len(names) > 3 else shown


def _took(seconds: float) -> str:
    minutes, rest = divmod(int(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h {minutes:02}m"
    return f"{minutes}m {rest:02}s" if minutes else f"{rest}s"


def _plain(text: str, most: int = _NAME) -> str:
    """As markdown that shows exactly this text."""
    spaced = _LIVELY.sub(lambda sign: f"{sign[0]}{_ZERO}", _cut(_flat(text), most))
    return _MARKUP.sub(lambda sign: "&lt;" if sign[0] == "<" else f"\\{sign[0]}", spaced)


def _still(text: str) -> str:
    """For titles, which are no markdown, but may become a commit's subject."""
    return _LIVELY.sub(lambda sign: f"{sign[0]}{_ZERO}" if sign[0] in "@#!-" else sign[0], text)


def _code(text: str) -> str:
    """As code, which no forge looks into, if nothing in it ends code or a table's cell."""
    told = _cut(_flat(text), _NAME)
    return f"`{told}`" if _HARMLESS.fullmatch(told) else _plain(told)


def _flat(text: str) -> str:
    """On one line, and without what can't be seen."""
    return " ".join(_CONTROL.sub("\ufffd", " ".join(text.split())).split())


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
