"""What happens to the batch branch, as plain lines: gates, rebuilds, publishing, conflicts that are foreseen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plait.cli.format import shorten_commit
from plait.client.stream_event import StreamEvent

_MAX_NAMES = 3

EventDetails = Mapping[str, object]


def format_commit(name: object) -> str:
    return shorten_commit(str(name)) if name else "?"


def describe_rebuild(more: EventDetails) -> str:
    gone = _join_names(more.get("without"))
    return f"its branch is made anew without {gone}" if gone else "its branch is made anew"


def describe_gate_start(more: EventDetails) -> str:
    """`gate 2: make test, on 3f2a9b17c0 (3 merges)`"""
    return f"{_format_gate_name(more)}: {more.get('command')}, on {format_commit(more.get('commit'))}{_format_merge_count(more)}"


def describe_progress(event: StreamEvent, name: str) -> str | None:
    """Most progress is counting, and not worth a line."""
    more = event.data
    if "conflictsWith" in more:
        return _describe_predicted_conflict(more)
    gated = more.get("gating")
    if isinstance(gated, Mapping):
        return _describe_gate_result(gated, name)
    return _describe_publishing(more) if "publishing" in more else None


def _describe_predicted_conflict(more: EventDetails) -> str:
    other = more.get("conflictsWith") or "the batch branch"
    files = _join_names(more.get("files"))
    return f"would conflict with {other} in {files}" if files else f"would not conflict with {other} any more"


def _describe_gate_result(more: EventDetails, name: str) -> str:
    why = f": {more['error']}" if more.get("error") else ""
    said = f"{_format_gate_name(more)} {more.get('result')}{_format_merge_count(more)}{why}"
    if more.get("result") != "failed":
        return said
    suspects = more.get("suspects")
    if isinstance(suspects, Sequence) and len(suspects) > 1:
        said = f"{said}; the guilty one is among {_join_names(suspects)}"
    return f"{said} · plait logs {name} --gate --attempt {more.get('gate')}"


def _describe_publishing(more: EventDetails) -> str:
    match more.get("publishing"):
        case "started":
            pull = "" if more.get("publish") == "push" else " and its pull request"
            return f"publishing its branch{pull}, at {format_commit(more.get('commit'))}"
        case "done":
            url = f": {more['prUrl']}" if more.get("prUrl") else ""
            return f"published, at {format_commit(more.get('commit'))}{url}"
        case _:
            return f"not published: {more.get('error')}"


def _format_gate_name(more: EventDetails) -> str:
    return f"gate {more['gate']}" if more.get("gate") else "gate"


def _format_merge_count(more: EventDetails) -> str:
    match more.get("merges"):
        case None:
            return ""
        case 0:
            return " (the base, without any merge)"
        case 1:
            return " (1 merge)"
        case count:
            return f" ({count} merges)"


def _join_names(found: object) -> str:
    names = [str(each) for each in found] if isinstance(found, Sequence) else []
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(names[:_MAX_NAMES]) + more
