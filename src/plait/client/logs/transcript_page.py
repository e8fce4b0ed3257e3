"""A page of a transcript: bytes from an offset on, without secrets, however long the transcript and its lines are.

Offsets are the transcript's own: redaction changes the text, never the offsets. A page can also be returned as the
`execution:log` events that were sent while the attempt ran.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from copy import copy

from plait.agents.interface import OutputParser
from plait.agents.output_parser import MAX_ACTIVITY_CHARS
from plait.agents.plain_text import ELLIPSIS, to_plain_text
from plait.agents.redaction import LineRedactor, Redactor
from plait.client.event_types import StreamEvent, make_log_event
from plait.client.logs.activity import MAX_LINE_BYTES, parse_activities
from plait.client.logs.attempt_output import strip_ansi
from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt
from plait.runtime.executor import Transcript, TranscriptChunk

CONTEXT_BEFORE_BYTES = 64 << 10  # bytes to read before a page: a secret may have begun there


CONTEXT_AFTER_BYTES = 4 << 10  # … and after one that ends within a line: no secret is longer


_LINE_END_CHARS = 1000  # of a long line at the end of a transcript


_READ_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class TranscriptPage:
    """A part of a transcript, from `offset` to `next`. If `offset` is later than requested, the part in between is
    gone.

    `last`: there was no more when it was read. `before` and `after` are the text around it that redaction needs.
    """

    offset: int
    next: int
    raw: bytes
    last: bool
    before: bytes = b""
    after: bytes = b""

    def redact_text(self, redactor: Redactor) -> str:
        """Return redacted text without invalid bytes; also hides a secret's part that continues after it."""
        redact, (*earlier, before) = LineRedactor(redactor), self.before.split(b"\n")
        for line in earlier:
            redact(_decode(line))
        *whole, last = self.raw.split(b"\n")
        redacted = []
        for line in whole:
            redacted.append(_redact_part(redact, before, line, b""))
            before = b""
        return "\n".join([*redacted, _redact_part(redact, before, last, self.after)])

    def read_before_first_line(self) -> bytes:
        """Return the text before the first line that begins on this page."""
        return self.before + self.raw[: self._continued_bytes]

    def iter_lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that begin on this page, each with its offset."""
        at = self.offset + self._continued_bytes
        for line in self.raw[self._continued_bytes :].split(b"\n"):
            yield at, line
            at += len(line) + 1

    @property
    def is_within_line(self) -> bool:
        """Whether the page has text, but no line begins on it."""
        return 0 < len(self.raw) == self._continued_bytes

    @property
    def _continued_bytes(self) -> int:
        """How many bytes belong to a line that began before the page."""
        if not self.before or self.before.endswith(b"\n"):
            return 0
        return self.raw.find(b"\n") + 1 or len(self.raw)


def read_page(transcript: Transcript, start: int, max_bytes: int, *, ended: bool) -> TranscriptPage:
    """Read at most `max_bytes` bytes from byte `start` on; `start` < 0 counts from the end. The page ends with a line
    where possible.

    As long as the attempt is not `ended`, a line that has no end yet is left for the next page, unless it is very long.
    """
    size = transcript.size()
    wanted = max(size + start, 0) if start < 0 else start
    if wanted >= size:
        return TranscriptPage(size, size, b"", last=True)
    chunk = _read_contiguous(transcript, wanted, max_bytes + CONTEXT_AFTER_BYTES)
    data = chunk.data
    before = _read_back(transcript, max(0, wanted - CONTEXT_BEFORE_BYTES), wanted) if chunk.start == wanted else b""
    cut_off = chunk.end < size and len(data) < max_bytes + CONTEXT_AFTER_BYTES  # a hole follows
    kept = _find_page_end(data, max_bytes, closed=cut_off or (ended and chunk.end >= size))
    end = chunk.start + kept
    after = data[kept : kept + CONTEXT_AFTER_BYTES] if kept and data[kept - 1 : kept] != b"\n" else b""
    return TranscriptPage(chunk.start, end, data[:kept], end >= size, before, after)


def _find_page_end(data: bytes, max_bytes: int, *, closed: bool) -> int:
    """Return how many bytes the page has. `closed`: no line continues after the data."""
    if closed and len(data) <= max_bytes:
        return len(data)
    whole = data.rfind(b"\n", 0, max_bytes) + 1
    if whole or (not closed and len(data) < min(max_bytes + CONTEXT_AFTER_BYTES, CONTEXT_BEFORE_BYTES)):
        return whole
    return _find_character_start(data, min(max_bytes, len(data) if closed else len(data) - CONTEXT_AFTER_BYTES))


def _find_character_start(data: bytes, end: int) -> int:
    """Return the last offset up to `end` that isn't inside a character."""
    candidates = range(end, max(end - 4, 0), -1)
    return next((at for at in candidates if not b"\x80" <= data[at : at + 1] < b"\xc0"), end)


def _redact_part(redact: LineRedactor, before: bytes, part: bytes, after: bytes) -> str:
    """Return the redacted text of a part of a line. A secret across the end of the part belongs to the next one."""
    if not before and not after:
        return redact(_decode(part))
    redact_again = copy(redact)
    whole = redact(_decode(before + part + after))
    first = _common_prefix_length(copy(redact_again)(_decode(before)), whole) if before else 0
    last = _common_prefix_length(redact_again(_decode(before + part)), whole) if after else len(whole)
    return whole[first:last]


def _common_prefix_length(prefix: str, text: str) -> int:
    if text.startswith(prefix):
        return len(prefix)
    return bisect_left(range(len(prefix)), 1, key=lambda at: not text.startswith(prefix[: at + 1]))


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _read_contiguous(transcript: Transcript, start: int, max_bytes: int) -> TranscriptChunk:
    """Return the bytes from here up to the first gap."""
    first = transcript.read(start, min(max_bytes, _READ_BYTES))
    data, at = bytearray(first.data), first.end
    while len(data) < max_bytes:
        chunk = transcript.read(at, min(max_bytes - len(data), _READ_BYTES))
        if not chunk.data or chunk.start != at:
            break
        data += chunk.data
        at = chunk.end
    return TranscriptChunk(first.start, bytes(data))


def _read_back(transcript: Transcript, start: int, end: int) -> bytes:
    """Return the bytes right before `end`, as far back as there is no gap."""
    data, at = b"", start
    while at < end:
        chunk = transcript.read(at, end - at)
        if not chunk.data or chunk.start >= end:
            return b""
        part = chunk.data[: end - chunk.start]
        data = data + part if chunk.start == at else part
        at = chunk.start + len(part)
    return data


def make_log_events(
    attempt: Attempt, page: TranscriptPage, parser: OutputParser | None, redactor: Redactor, at: float
) -> Iterator[StreamEvent]:
    """Yield an `execution:log` event for each meaningful line that begins on the page, with the line's offset.

    Within a long line, say how much is left out; where the transcript ends with it, also give the end of the line.
    """
    if page.is_within_line:
        yield make_log_event(attempt, at, page.offset, {"kind": "skipped", "bytes": len(page.raw)})
        if page.last:
            end = redactor(strip_ansi(page.redact_text(redactor))).rstrip()[-_LINE_END_CHARS:]
            text = f"{ELLIPSIS} {to_plain_text(end)}"
            yield make_log_event(attempt, at, page.offset, {"kind": "activity", "text": text})
        return
    redact = LineRedactor(redactor)
    for line in page.read_before_first_line().split(b"\n"):
        redact(line.decode("utf-8", "replace"))
    for offset, line in page.iter_lines():
        shown = redact(line[:MAX_LINE_BYTES].decode("utf-8", "replace"))
        for text in parse_activities(parser, shown, MAX_ACTIVITY_CHARS):
            yield make_log_event(attempt, at, offset, {"kind": "activity", "text": text})
