"""Material: what a job is about. Its files as they are, its context within limits, the system prompts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from plait.agents.model_jobs.context import guess_context_files
from plait.agents.model_jobs.context__context import ContextLimits, JobContext, gather_context
from plait.agents.model_jobs.job_prompts import parse_prompt_name
from plait.agents.model_jobs.job_spec import ModelJobSpec
from plait.core.errors import WorldError
from plait.core.status import Category
from plait.core.task import ModelJob
from plait.git.command import Git
from plait.runtime.atomic_apply import StagedWrites
from plait.runtime.model_job.job_output__failure import JobError
from plait.runtime.workspace_files import StagingError

_MAX_PROMPT_BYTES = 64 << 10  # bytes of a system prompt


def read_texts(staging: StagedWrites, paths: Iterable[str]) -> dict[str, str]:
    """Those that are there. Raises JobError for what a job may not name."""
    found: dict[str, str] = {}
    for path in paths:
        try:
            text = staging.read(path)
        except StagingError as error:
            raise JobError(f"{error.message}; so no job can be about it", Category.USAGE) from error
        if text is not None:
            found[path] = text
    return found


def build_context(
    spec: ModelJobSpec, job: ModelJob, instructions: str, staging: StagedWrites, own: Mapping[str, str]
) -> JobContext:
    """What the job names, and what would help. `own` are the job's files, which are shown anyway."""
    limits = ContextLimits(spec.settings.context_lines, spec.settings.context_tokens)
    given = {path: _read_or_none(staging, path) for path in job.context}
    helpful = guess_context_files(
        job, instructions, own, _list_tracked_files(Path(spec.workspace)) - {spec.source}
    )
    return gather_context(given, {path: _read_or_none(staging, path) for path in helpful}, limits)


def read_system_prompts(spec: ModelJobSpec, staging: StagedWrites) -> dict[str, str]:
    """The system prompts of the repository, by name: those of the folder that is set, else those beside the jobs."""
    asked = spec.settings.prompts
    folder = asked if asked is not None else str(PurePosixPath(spec.source).parent)
    found: dict[str, str] = {}
    for file in sorted(_prompt_files(Path(spec.workspace, folder))):
        name = parse_prompt_name(file.name)
        text = _read_prompt(spec, staging, file) if name is not None else None
        if name is not None and text is not None:
            found[name] = text
    return found


def _read_prompt(spec: ModelJobSpec, staging: StagedWrites, file: Path) -> str | None:
    """Below the workspace no link is followed: what a link leads to would be told to a server."""
    try:
        return _read_or_none(staging, file.relative_to(spec.workspace).as_posix())
    except ValueError:
        pass
    try:
        return file.read_bytes()[:_MAX_PROMPT_BYTES].decode("utf-8", "replace")
    except OSError:
        return None


def _prompt_files(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.name.startswith("_")]
    except OSError:
        return []


def _list_tracked_files(workspace: Path) -> frozenset[str]:
    """All that git tracks; where there is no git, nothing is known."""
    try:
        return frozenset(Git(workspace).run("ls-files", "-z").fields)
    except WorldError:
        return frozenset()


def _read_or_none(staging: StagedWrites, path: str) -> str | None:
    try:
        return staging.read(path)
    except StagingError:
        return None
