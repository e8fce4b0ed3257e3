"""Parsers of agent output: plain text of unknown tools, a JSON object per line, and the events of plait's own processes.

Exit codes lie, so a tool's own report of its result counts first. Without one, the exit status and the last lines are
judged like those of any command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from json import loads
from typing import Any, TypeGuard, cast

from plait.agents.error_patterns import MAX_DETAIL_CHARS, classify_error, classify_exit, find_error, was_killed
from plait.agents.interface import Activity, ActivityKind, AgentEvent, PhaseStarted, SessionStarted, SpendUpdated
from plait.agents.plain_text import to_plain_text, truncate
from plait.agents.retry_after import NO_RETRY_AFTER, RetryAfter
from plait.core.fast_dataclass import dataclass
from plait.core.reports import Outcome
from plait.core.settings import NO_SPEND, Spend
from plait.core.status import Category

MAX_ACTIVITY_CHARS = 4096  # characters for people; where there is less room, they are cut
MAX_PHASE_CHARS = 80
MAX_PHASES = 200  # each is a record in the journal
_MAX_HEADLINE_CHARS = 1000  # a longer line is no heading
_BAR = "[=\u2500-\u257f]"  # box drawings

_PHASE_HEADLINE = re.compile(
    rf"[^\w\s=]{{0,8}} ?{_BAR}{{3,}} ?"
    r"(phase #?\d.*?|phase(?: \w{1,12})? ?[:\u2013\u2014-].*?)"
    rf" ?(?:{_BAR}{{2,}}.*)?",
    re.IGNORECASE,
)


class _PhaseParser:
    """Base of all parsers: a tool may report the stages of its work."""

    _phase = ""
    _phases = 0

    def update_phase(self, name: object) -> Iterator[AgentEvent]:
        shown = to_plain_text(name, MAX_PHASE_CHARS) if isinstance(name, str) else ""
        if shown and shown != self._phase and self._phases < MAX_PHASES:
            self._phase = shown
            self._phases += 1
            yield PhaseStarted(shown)


class PlainTextParser(_PhaseParser):
    """Parses plain text. Only the exit status means success; with `use_output`, the last lines may explain a failure."""

    def __init__(self, *, use_output: bool) -> None:
        self._use_output = use_output
        self._line = ""

    def feed(self, line: str) -> Sequence[AgentEvent]:
        if line == self._line:
            return ()
        self._line = line
        shown = to_plain_text(line, MAX_ACTIVITY_CHARS)
        if not shown:
            return ()
        if ("hase" in line or "HASE" in line) and len(line) < _MAX_HEADLINE_CHARS:
            return (*self.update_phase(find_phase(shown)), Activity(shown))
        return (Activity(shown),)

    def mark_gap(self) -> None:
        pass

    def finish(self, code: int, tail: str, printed_at: float) -> Outcome:
        return classify_exit(code, tail, printed_at=printed_at, use_output=self._use_output)


def find_phase(shown: str) -> str:
    """Return the phase that this line announces; empty if it announces none."""
    match = _PHASE_HEADLINE.fullmatch(" ".join(shown.split()))
    return match[1].rstrip(" :") if match else ""


# What a tool printed. Any: its shape is up to the tool, so every access checks it.
Json = Mapping[str, Any]

# A session becomes an argument of the next command: it must not look like an option, or be two words.
_SESSION = re.compile(r"[A-Za-z0-9][\w.:-]{0,199}", re.ASCII)
_MAX_COUNT = 10**15
_PERMISSIONS_HINT = ": what it may do unasked is set under [agents.permissions]"


@dataclass(frozen=True, slots=True)
class ToolError:
    """An error that a tool reports. `status` is an HTTP status; `category` is set where it is certain, `fallback` is for
    messages that match no pattern. `wait` is what the tool said earlier about a rate limit.
    """

    message: str
    status: int | None = None
    category: Category | None = None
    fallback: Category = Category.TASK
    wait: RetryAfter = NO_RETRY_AFTER


class JsonLinesParser(_PhaseParser):
    """Base of the drivers' parsers, which handle events and set `finished` or `error` when the tool reports its result."""

    # Whether to judge a tool that printed no event at all by its exit status: the settings' arguments may ask for text.
    trust_exit_status = False
    result_prefix = ""  # the start of the line with the result, which is parsed even if it is cut off

    workspace = ""
    session: str | None = None
    session_gone = False  # the session must not be continued again
    spend = NO_SPEND
    error: ToolError | None = None
    finished = False
    last_message = ""
    question: str | None = None
    changes_made: int | None = None  # changes of the workspace, for tools that report them
    _complete = True  # no output was skipped
    _saw_event = False
    _reported_spend = NO_SPEND

    def __init__(self, before: Spend = NO_SPEND, permission_note: str = "") -> None:
        """Start a parser; `permission_note` may explain why a tool did nothing."""
        self.before = before
        self.permission_note = permission_note
        self.denied: list[str] = []  # the tools that it may not use

    def handle_event(self, event: Json) -> Iterator[AgentEvent]:
        """Handle one JSON object."""
        raise NotImplementedError

    def handle_text(self, line: str) -> Iterator[AgentEvent]:
        """Handle a line that is no JSON object; most are noise."""
        shown = to_plain_text(line, MAX_ACTIVITY_CHARS)
        if shown:
            yield Activity(shown)

    def handle_invalid(self, _line: str, /) -> Iterator[AgentEvent]:
        """Handle an object without its end (some tools put whole files into one), or a text that starts like one."""
        self.mark_gap()
        yield from ()

    def mark_gap(self) -> None:
        """Note that output was skipped: it may contain changes, so their number is no longer known."""
        self._complete = False
        self.question = None

    def feed(self, line: str) -> Sequence[AgentEvent]:
        stripped = line.strip()
        if not stripped.startswith("{"):
            return tuple(self.handle_text(line))
        event = self._parse_line(stripped)
        if event is None:
            return tuple(self.handle_invalid(line))
        self._saw_event = True
        try:
            return tuple(self.handle_event(event))
        except (TypeError, AttributeError, KeyError, IndexError, ValueError, OverflowError, RecursionError):
            return ()  # an unknown shape costs only this line

    def _parse_line(self, line: str) -> Json | None:
        """Parse a line, or what is left of an overlong one with the result; None if it is no JSON."""
        with suppress(ValueError, RecursionError):
            return cast("Json", loads(line))
        with suppress(ValueError, RecursionError):
            return cast("Json", loads(repair_json(line))) if line.startswith(self.result_prefix or "\n") else None
        return None

    def finish(self, code: int, tail: str, printed_at: float) -> Outcome:
        if self.question is not None:
            ended = Outcome(Category.QUESTION, code, truncate(self.question, MAX_DETAIL_CHARS), question=self.question)
        elif (failed := classify_failure(code, strip_events(tail), printed_at, self.error)) is not None:
            ended = failed
        elif self.finished:
            ended = self._make_finished_outcome(code)
        elif self.trust_exit_status and not self._saw_event:
            ended = Outcome(Category.OK, code, "" if tail.strip() else "it printed nothing")
        else:
            ended = Outcome(Category.TASK, code, "it exited without reporting a result")
        return replace(ended, spend=self.spend, session="" if self.session_gone else self.session)

    def _make_finished_outcome(self, code: int) -> Outcome:
        """Return the outcome when the tool reports success. If it changed nothing, its last message may explain why."""
        if not self.is_idle:
            return Outcome(Category.OK, code)
        if self.denied:
            text = f"it was not allowed to use {', '.join(dict.fromkeys(self.denied))}{_PERMISSIONS_HINT}"
            return Outcome(Category.USAGE, code, truncate(text, MAX_DETAIL_CHARS))
        if not self.last_message.strip():
            return Outcome(Category.EMPTY, code, "the model's answer was empty")
        text = f"it said: {to_plain_text(last_nonempty_line(self.last_message), MAX_DETAIL_CHARS // 2)}"
        note = f" ({self.permission_note})" if self.permission_note else ""
        return Outcome(Category.OK, code, truncate(f"{text}{note}", MAX_DETAIL_CHARS))

    @property
    def is_idle(self) -> bool:
        """Whether it is certain that nothing in the workspace was changed so far."""
        return self.changes_made == 0 and self._complete

    def record_change(self) -> None:
        """Count a change of the workspace; after one, a question is not waited for."""
        self.changes_made = (self.changes_made or 0) + 1
        self.question = None

    def update_session(self, session: object) -> Iterator[AgentEvent]:
        if isinstance(session, str) and session != self.session and _SESSION.fullmatch(session):
            self.session = session
            yield SessionStarted(session)

    def report_message(self, text: object) -> Iterator[AgentEvent]:
        """Report what the agent says; its last message may explain the result."""
        self.last_message = str(text or "")
        yield from make_activity(self.last_message, ActivityKind.SAYS)

    def report_error(self, error: ToolError) -> Iterator[AgentEvent]:
        self.error = error
        yield from make_activity(error.message, ActivityKind.FAILS)

    def report_success(self) -> None:
        """Note that the tool has finished, and so recovered from the errors that it reported before."""
        self.finished, self.error = True, None

    def report_growing_spend(self, spend: Spend) -> Iterator[AgentEvent]:
        """Report a spend as `report_spend` does, but only when it has grown by a quarter."""
        self.spend = self.spend.at_least(spend)
        if self.spend.tokens * 4 >= self._reported_spend.tokens * 5 and self.spend != self._reported_spend:
            self._reported_spend = self.spend
            yield SpendUpdated(self.spend)

    def report_spend(self, spend: Spend) -> Iterator[AgentEvent]:
        """Report the spending of this attempt so far; it never shrinks."""
        more = self.spend.at_least(spend)
        if more != self._reported_spend:
            self.spend = self._reported_spend = more
            yield SpendUpdated(more)


def classify_failure(code: int, tail: str, printed_at: float, error: ToolError | None) -> Outcome | None:
    """Return how a run failed: by a signal, the error that the tool reports, or the exit status; None if it did not."""
    if was_killed(code):
        return classify_exit(code, tail)
    if error is not None:
        return _classify_tool_error(code, error, printed_at)
    return classify_exit(code, tail, printed_at=printed_at, use_output=True) if code else None


def _classify_tool_error(code: int, error: ToolError, printed_at: float) -> Outcome:
    """Classify the error that the tool reports, whatever the exit status is."""
    found = classify_error(error.message, error.status, printed_at)
    category = error.category or (found.category if found else error.fallback)
    outcome = Outcome(category, code, truncate(to_plain_text(error.message) or f"exit status {code}", MAX_DETAIL_CHARS))
    if category is not Category.RATE_LIMIT:
        return outcome
    asked = (found.wait if found else NO_RETRY_AFTER) or error.wait
    return replace(outcome, retry_after=asked.after, retry_at=asked.at)


def make_activity(text: object, kind: ActivityKind, *details: object) -> Iterator[AgentEvent]:
    """Yield an activity such as `editing src/app.py`; none for an empty text."""
    words = " ".join(str(part) for part in (text, *details) if part)
    shown = to_plain_text(" ".join(words.split()), MAX_ACTIVITY_CHARS)
    if shown:
        yield Activity(shown, kind)


def get_object(tree: object, *names: str) -> Json:
    """Return the object under these names, or an empty one."""
    for name in names:
        tree = tree.get(name) if isinstance(tree, Mapping) else None
    return tree if isinstance(tree, Mapping) else {}


def get_text(tree: Json, *names: str) -> str:
    """Return the first of these texts that exists and isn't empty, else ""."""
    return next((value for name in names if isinstance(value := tree.get(name), str) and value), "")


def get_count(tree: Json, *names: str) -> int:
    """Return the first of these numbers that exists: versions of a tool have different names for one."""
    values = (tree.get(name) for name in names)
    return next((int(value) for value in values if _is_number(value, _MAX_COUNT)), 0)


def _is_number(value: object, limit: float) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < limit


def spend_since(whole: Spend, before: Spend) -> Spend:
    """Return what was spent since `before`; a count that is smaller than before started from zero."""
    since = whole - before
    return since if since.is_valid else whole


def to_microdollars(dollars: object) -> int:
    """Convert dollars to millionths of a dollar."""
    return round(dollars * 1e6) if _is_number(dollars, 1e6) else 0


_CLOSING_BRACKETS = {"{": "}", "[": "]"}


def repair_json(line: str) -> str:
    """Close the string, objects and arrays that are open where a JSON text was cut off."""
    open_: list[str] = []
    quoted = escaped = False
    for char in line:
        if escaped:
            escaped = False
        elif char == "\\":
            escaped = quoted
        elif char == '"':
            quoted = not quoted
        elif not quoted and char in _CLOSING_BRACKETS:
            open_.append(_CLOSING_BRACKETS[char])
        elif not quoted and char in "}]" and open_:
            open_.pop()
    whole = line[:-1] if escaped else re.sub(r"\\u[0-9a-fA-F]{0,3}$", "", line)
    return "".join((whole, '"' if quoted else "", *reversed(open_)))


def strip_events(tail: str) -> str:
    """Return the lines that are no events, and the last event if it is an error: the tool recovered from earlier ones."""
    lines = tail.split("\n")
    events = [index for index, line in enumerate(lines) if line.lstrip().startswith('{"')]
    if events and find_error(lines[events[-1]]):
        events.pop()
    return "\n".join(line for index, line in enumerate(lines) if index not in events)


def last_nonempty_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.split("\n")) if line.strip()), "")


_MAX_PROTOCOL_WAIT_SECONDS = 40 * 86400.0


class PlaitProtocolParser(JsonLinesParser):
    """Base of the parsers of plait's own processes, whose lines mean nothing unless they are events."""

    def handle_usage(self, event: Json) -> Iterator[AgentEvent]:
        raise NotImplementedError

    def handle_result(self, event: Json) -> None:
        pass

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
                yield from self.report_error(_parse_protocol_error(event))
            case _:
                pass


def _parse_protocol_error(event: Json) -> ToolError:
    status, after = event.get("status"), event.get("retry_after")
    return ToolError(
        get_text(event, "message"),
        status if isinstance(status, int) else None,
        _parse_category(event.get("category")),
        wait=RetryAfter(float(after)) if after and _is_number(after, _MAX_PROTOCOL_WAIT_SECONDS) else NO_RETRY_AFTER,
    )


def _parse_category(text: object) -> Category | None:
    return Category(text) if isinstance(text, str) and text in set(Category) else None


def _parse_kind(text: object) -> ActivityKind:
    return ActivityKind(text) if isinstance(text, str) and text in set(ActivityKind) else ActivityKind.SAYS
