"""Statuses, times, sizes and changes as people read them."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from plait.core.settings import Spend
from plait.core.status import BatchStatus, TaskStatus

if TYPE_CHECKING:
    from plait.core.views import BatchView, TaskView

MINUS_SIGN = "\u2212"
MAX_NAMES = 4  # in a list of names; the rest is counted


# Colours, shown beside the status, never instead of it. Task and batch statuses of the same name are equal as keys.
STATUS_STYLES: dict[TaskStatus | BatchStatus, str] = {
    TaskStatus.QUEUED: "dim",
    TaskStatus.WAITING: "yellow",
    TaskStatus.RUNNING: "cyan",
    TaskStatus.VERIFYING: "cyan",
    TaskStatus.MERGING: "blue",
    TaskStatus.DONE: "green",
    TaskStatus.FAILED: "red",
    TaskStatus.TIMED_OUT: "red",
    TaskStatus.BLOCKED: "magenta",
    TaskStatus.SKIPPED: "dim",
    TaskStatus.CONFLICTED: "red",
    TaskStatus.CANCELLED: "dim",
    TaskStatus.INTERRUPTED: "yellow",
    BatchStatus.PENDING: "dim",
    BatchStatus.PAUSED: "yellow",
    BatchStatus.COMPLETED: "green",
    BatchStatus.PARTIAL: "yellow",
}


_ACTIVE_STATUSES = (TaskStatus.RUNNING, TaskStatus.VERIFYING, TaskStatus.MERGING)


def is_terminal_output() -> bool:
    return sys.stdout.isatty() or bool(os.environ.get("FORCE_COLOR"))


def get_line_width() -> int | None:
    """Return the terminal's width; None without a terminal: lines are not cut."""
    from shutil import get_terminal_size  # only for terminals

    return get_terminal_size().columns if sys.stdout.isatty() else None


def truncate_line(text: str, width: int | None) -> str:
    """Put the text on one line of at most `width` characters."""
    flat = " ".join(text.split())
    return flat if width is None or len(flat) <= width else f"{flat[: max(0, width - 1)]}…"


def format_date(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def format_diffstat(diffstat: tuple[int, int, int] | None, minus: str = MINUS_SIGN) -> str:
    """Format `+182 -12`, or the number of files if no lines changed; empty if unknown."""
    if diffstat is None:
        return ""
    files, added, removed = diffstat
    if added or removed:
        return f"+{added} {minus}{removed}"
    return pluralize(files, "file") if files else "no change"


def get_minus_sign() -> str:
    """Return the minus sign if standard output can encode it, else a hyphen."""
    try:
        MINUS_SIGN.encode(sys.stdout.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return "-"
    return MINUS_SIGN


def pluralize(count: int, noun: str, plural: str = "") -> str:
    """Format a number of things: `1 task`, `3 tasks`."""
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"


def shorten_commit(name: str) -> str:
    return name[:10]


def measure_elapsed(started_at: float, ended_at: float | None) -> float:
    """Return the seconds until the end, or until now."""
    return (time.time() if ended_at is None else ended_at) - started_at


_CLOCK_ONLY_SECONDS = 18 * 3600  # further away, the time of day alone is ambiguous


def format_elapsed(seconds: float) -> str:
    """Format an elapsed time: `45s`, `3m 02s`, `1h 06m`, `2d 04h`: two units, the second with two digits."""
    whole = int(max(0.0, seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m {whole % 60:02}s"
    if whole < 86_400:
        return f"{whole // 3600}h {whole // 60 % 60:02}m"
    return f"{whole // 86_400}d {whole // 3600 % 24:02}h"


def format_batch_time(view: BatchView, now: float) -> str:
    """Format `41s (43s of agent time)`: how long something of it ran, and all attempts together if that is more."""
    agents = format_agent_time(view, now)
    return format_elapsed(view.wall_time.measure(now)) + (f" ({agents})" if agents else "")


def format_task_time(task: TaskView, now: float) -> str:
    """Format how long the task was worked on; empty while it waits."""
    at_work = task.ended_at is not None or task.status in _ACTIVE_STATUSES
    return format_elapsed(task.work.measure(now)) if task.started_at is not None and at_work else ""


def format_agent_time(view: BatchView, now: float) -> str:
    """Format `43s of agent time`; empty if it isn't more than the wall time."""
    wall, agents = view.wall_time.measure(now), view.agent_time.measure(now)
    text = format_elapsed(agents)
    return f"{text} of agent time" if agents > wall and text != format_elapsed(wall) else ""


def format_provider_limit(provider: str, until: float, now: float) -> str:
    """Format `anthropic is unavailable until 15:00, 1h 12m left`."""
    day = "" if until - now < _CLOCK_ONLY_SECONDS else "%a "
    return f"{provider} is unavailable until {time.strftime(f'{day}%H:%M', time.localtime(until))}, {format_elapsed(until - now)} left"


def format_rough_duration(seconds: float) -> str:
    """Format a duration: `45s`, `20m`, `3h 20m`, `2d 4h`: two units at most."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    minutes = round(whole / 60)
    if minutes < 60:
        return f"{minutes}m"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours}h {minutes}m" if minutes else f"{hours}h"
    days, hours = divmod(hours, 24)
    return f"{days}d {hours}h" if hours else f"{days}d"


def format_size(size: int) -> str:
    """Format a size: `812 bytes`, `1.2 MB`."""
    if size < 1000:
        return f"{size} bytes"
    power = min(3, (len(str(size)) - 1) // 3)
    return f"{size / 1000**power:.1f} {' kMG'[power]}B"


def format_cost(spend: Spend) -> str:
    """Format the cost in dollars; if there is none, the tokens."""
    if spend.microusd:
        return f"${spend.microusd / 1e6:.2f}"
    if spend.tokens >= 10_000:
        return f"{spend.tokens / 1000:.0f}k tokens"
    return f"{spend.tokens} tokens" if spend.tokens else ""
