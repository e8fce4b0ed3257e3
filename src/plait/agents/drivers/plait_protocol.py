"""Parsing the output of plait's own processes: JSON objects `{"type": …}`, one per line; other lines mean nothing."""

from __future__ import annotations

from collections.abc import Iterator

from plait.agents.interface import ActivityKind, AgentEvent
from plait.agents.output_parser import Json, JsonLinesParser, ToolError, get_text, make_activity
from plait.agents.retry_after import NO_RETRY_AFTER, RetryAfter
from plait.core.status import Category

_MAX_PROTOCOL_WAIT_SECONDS = 40 * 86400.0


class PlaitProtocolParser(JsonLinesParser):
    """Usage and result are different for each process."""

    def handle_usage(self, event: Json) -> Iterator[AgentEvent]:
        raise NotImplementedError

    def handle_result(self, event: Json) -> None:
        raise NotImplementedError

    def handle_text(self, line: str) -> Iterator[AgentEvent]:
        yield from make_activity(line, ActivityKind.SAYS)

    def handle_event(self, event: Json) -> Iterator[AgentEvent]:
        match event.get("type"):
            case "phase":
                yield from self.update_phase(event.get("name"))
            case "activity":
                yield from make_activity(event.get("text"), _parse_kind(event.get("doing")))
            case "usage":
                yield from self.handle_usage(event)
            case "result":
                self.finished = True
                self.handle_result(event)
            case "error":
                yield from self.report_error(_parse_error(event))
            case _:
                pass


def _parse_error(event: Json) -> ToolError:
    status, category = event.get("status"), _parse_category(event.get("category"))
    number = status if isinstance(status, int) else None
    return ToolError(get_text(event, "message"), number, category, wait=_parse_wait(event.get("retry_after")))


def _parse_wait(after: object) -> RetryAfter:
    sound = isinstance(after, int | float) and not isinstance(after, bool) and 0 < after <= _MAX_PROTOCOL_WAIT_SECONDS
    return RetryAfter(float(after)) if sound else NO_RETRY_AFTER  # type: ignore[arg-type]  # a number, as was just seen


def _parse_category(text: object) -> Category | None:
    return Category(text) if isinstance(text, str) and text in set(Category) else None


def _parse_kind(text: object) -> ActivityKind:
    return ActivityKind(text) if isinstance(text, str) and text in set(ActivityKind) else ActivityKind.SAYS
