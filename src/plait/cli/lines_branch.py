"""What happens to the batch branch, as plain lines: gates, rebuilds, publishing, conflicts that are foreseen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plait.cli.show import commit
from plait.front.event import Event

_NAMED = 3

More = Mapping[str, object]


def short(name: object) -> str:
    return commit(str(name)) if name else "?"


def rebuilding(more: More) -> str:
    gone = _names(more.get("without"))
    return f"its branch is made anew without {gone}" if gone else "its branch is made anew"


def gating(more: More) -> str:
    """`gate 2: make test, on 3f2a9b17c0 (3 merges)`"""
    return f"{_gate(more)}: {more.get('command')}, on {short(more.get('commit'))}{_merges(more)}"


def progress(event: Event, name: str) -> str | None:
    """Most progress is counting, and not worth a line."""
    more = event.more
    if "conflictsWith" in more:
        return _foreseen(more)
    gated = more.get("gating")
    if isinstance(gated, Mapping):
        return _gated(gated, name)
    return _publishing(more) if "publishing" in more else None


def _foreseen(more: More) -> str:
    other = more.get("conflictsWith") or "the batch branch"
    files = _names(more.get("files"))
    return f"would conflict with {other} in {files}" if files else f"would not conflict with {other} any more"


def _gated(more: More, name: str) -> str:
    why = f": {more['error']}" if more.get("error") else ""
    said = f"{_gate(more)} {more.get('result')}{_merges(more)}{why}"
    if more.get("result") != "failed":
        return said
    suspects = more.get("suspects")
    if isinstance(suspects, Sequence) and len(suspects) > 1:
        said = f"{said}; the guilty one is among {_names(suspects)}"
    return f"{said} · plait logs {name} --gate --attempt {more.get('gate')}"


def _publishing(more: More) -> str:
    match more.get("publishing"):
        case "started":
            pull = "" if more.get("publish") == "push" else " and its pull request"
            return f"publishing its branch{pull}, at {short(more.get('commit'))}"
        case "done":
            url = f": {more['prUrl']}" if more.get("prUrl") else ""
            return f"published, at {short(more.get('commit'))}{url}"
        case _:
            return f"not published: {more.get('error')}"


def _gate(more: More) -> str:
    return f"gate {more['gate']}" if more.get("gate") else "gate"


def _merges(more: More) -> str:
    match more.get("merges"):
        case None:
            return ""
        case 0:
            return " (the base, without any merge)"
        case 1:
            return " (1 merge)"
        case count:
            return f" ({count} merges)"


def _names(found: object) -> str:
    names = [str(each) for each in found] if isinstance(found, Sequence) else []
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
