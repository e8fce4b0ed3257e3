"""A tiding: one thing that people want to be told of, wherever they are."""

from __future__ import annotations

from enum import StrEnum

from plait.core.fast_dataclass import dataclass
from plait.core.lazy_pattern import pattern

MAX_NOTIFICATION_LINE_CHARS = 300  # characters of what others say in one line
# What moves cursors, changes colours or turns the reading around; and halves of letters, which no text can carry.
_CONTROL = pattern(r"[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]+")


class NotificationKind(StrEnum):
    """What it is about. The words are those of `notify.on` and of webhooks: they are relied upon."""

    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"
    TASK_FAILED = "task_failed"
    NEEDS_PERSON = "needs_person"
    LIMIT = "limit"
    UNPUBLISHED = "unpublished"


DEFAULT_NOTIFICATION_KINDS = (
    NotificationKind.FINISHED,
    NotificationKind.FAILED,
    NotificationKind.NEEDS_PERSON,
    NotificationKind.LIMIT,
    NotificationKind.UNPUBLISHED,
)


@dataclass(frozen=True, slots=True)
class Notification:
    """`title` is one line and `text` a few, both without control characters. `batch` None: it concerns all; `task` None: no
    single one. `at` and `seq` are of the record that it follows from. `until`: when it passes by itself, where it does.
    """

    kind: NotificationKind
    batch: str | None
    task: str | None
    title: str
    text: str
    at: float
    seq: int
    until: float | None = None

    @property
    def id(self) -> tuple[int, str]:
        """No two tidings of one journal have the same, but for those that are told together."""
        return self.seq, self.kind.value


def to_plain_line(said: str, most: int = MAX_NOTIFICATION_LINE_CHARS) -> str:
    """What somebody said as one harmless line, cut where it gets long."""
    line = " ".join(_CONTROL.sub(" ", said).split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
