"""Which files a job writes. Whatever else an answer names is refused."""

from __future__ import annotations

from plait.core.task import ModelJob, ModelJobMode


def writes_whole_files(job: ModelJob) -> bool:
    """Its answers are files as a whole; else they are changes of files."""
    return job.mode in {ModelJobMode.REPLACE, ModelJobMode.SPLIT}


def output_paths(job: ModelJob) -> tuple[str, ...]:
    """The files that it makes, in the order in which they are written; the answer must have all of them."""
    if not writes_whole_files(job):
        return ()
    return job.outputs if job.output in job.outputs else (job.output, *job.outputs)


def target_paths(job: ModelJob) -> tuple[str, ...]:
    """The files that are there before and are shown as a whole; those that an edit may change."""
    if writes_whole_files(job):
        return job.targets
    return tuple(dict.fromkeys((*job.targets, *job.outputs))) or (job.output,)


def writable_paths(job: ModelJob) -> tuple[str, ...]:
    """All that the job may write, but for its tests."""
    return tuple(dict.fromkeys((*output_paths(job), *target_paths(job), job.output)))
