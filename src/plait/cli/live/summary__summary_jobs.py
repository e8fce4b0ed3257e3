"""The part of the last screen that is about model jobs: what each one wrote, and what it took."""

from __future__ import annotations

from collections.abc import Sequence

from plait.cli.output import Page, replace_control_chars
from plait.client.model_jobs import ModelJobs, ModelJobView

_MAX_JOBS = 20  # jobs that are told one by one
_MAX_FILES = 4  # files of each
_JOB_STYLES = {"passed": "green", "failed": "red"}


def add_jobs(page: Page, jobs: ModelJobs) -> None:
    """Nothing, for batches without any."""
    if not jobs:
        return
    pieces: list[tuple[str, str]] = []
    for name, count in jobs.counts:
        pieces += [
            (" · " if pieces else "", "dim"),
            (f"{count} {name}", _JOB_STYLES.get(name, "") if count else ""),
        ]
    page.add_line()
    page.add_line(("  jobs  ", "bold"), *pieces)
    told = [job for job in jobs.jobs if job.outputs or job.retry_used or job.implicit]
    for job in told[:_MAX_JOBS]:
        page.add_line(f"    {job.id}  {replace_control_chars(_describe_job(job))}")
    if len(told) > _MAX_JOBS:
        page.add_line((f"    and {len(told) - _MAX_JOBS} more", "dim"))


def _describe_job(job: ModelJobView) -> str:
    parts = [
        _join_few([f"{path} ({lines} {_pluralize_line(lines)})" for path, lines in job.outputs])
        or "nothing written"
    ]
    if job.retry_used:
        parts.append("answered again")
    if job.fixes:
        parts.append(f"repaired {job.fixes} {'time' if job.fixes == 1 else 'times'}")
    if job.implicit:
        parts.append(f"implicit context: {_join_few(job.implicit)}")
    parts += [f"warning: {' '.join(warning.split())[:200]}" for warning in job.warnings[:2]]
    return " · ".join(parts)


def _join_few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_FILES} more" if len(names) > _MAX_FILES else ""
    return f"{', '.join(names[:_MAX_FILES])}{more}"


def _pluralize_line(count: int) -> str:
    return "line" if count == 1 else "lines"
