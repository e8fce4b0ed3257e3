"""Which files a job writes. Whatever else an answer names is refused."""

from __future__ import annotations

from plait.core.task import Job, JobMode


def whole(job: Job) -> bool:
    """Its answers are files as a whole; else they are changes of files."""
    return job.mode in {JobMode.REPLACE, JobMode.SPLIT}


def outputs(job: Job) -> tuple[str, ...]:
    """The files that it makes, in the order in which they are written; the answer must have all of them."""
    if not whole(job):
        return ()
    return job.outputs if job.output in job.outputs else (job.output, *job.outputs)


def targets(job: Job) -> tuple[str, ...]:
    """The files that are there before and are shown as a whole; those that an edit may change."""
    if whole(job):
        return job.targets
    return tuple(dict.fromkeys((*job.targets, *job.outputs))) or (job.output,)


def writable(job: Job) -> tuple[str, ...]:
    """All that the job may write, but for its tests."""
    return tuple(dict.fromkeys((*outputs(job), *targets(job), job.output)))
