"""The part of the last screen that is about model jobs: what each one wrote, and what it took."""

from __future__ import annotations

from collections.abc import Sequence

from plait.cli.say import Page, harmless
from plait.front.jobs import Jobs, JobView

_MOST = 20  # jobs that are told one by one
_NAMED = 4  # files of each
_STYLES = {"passed": "green", "failed": "red"}


def show_jobs(page: Page, jobs: Jobs) -> None:
    """Nothing, for batches without any."""
    if not jobs:
        return
    pieces: list[tuple[str, str]] = []
    for name, count in jobs.counts:
        pieces += [
            (" · " if pieces else "", "dim"),
            (f"{count} {name}", _STYLES.get(name, "") if count else ""),
        ]
    page.line()
    page.line(("  jobs  ", "bold"), *pieces)
    told = [job for job in jobs.jobs if job.outputs or job.retry_used or job.implicit]
    for job in told[:_MOST]:
        page.line(f"    {job.id}  {harmless(_job(job))}")
    if len(told) > _MOST:
        page.line((f"    and {len(told) - _MOST} more", "dim"))


def _job(job: JobView) -> str:
    parts = [_few([f"{path} ({lines} {_lines(lines)})" for path, lines in job.outputs]) or "nothing written"]
    if job.retry_used:
        parts.append("answered again")
    if job.fixes:
        parts.append(f"repaired {job.fixes} {'time' if job.fixes == 1 else 'times'}")
    if job.implicit:
        parts.append(f"implicit context: {_few(job.implicit)}")
    parts += [f"warning: {' '.join(warning.split())[:200]}" for warning in job.warnings[:2]]
    return " · ".join(parts)


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


def _lines(count: int) -> str:
    return "line" if count == 1 else "lines"
