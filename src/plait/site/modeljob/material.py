"""Material: what a job is about. Its files as they are, its context within limits, the system prompts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from plait.agents.jobs.context import Context, Limits, gather
from plait.agents.jobs.implicit import implied
from plait.agents.jobs.prompts import prompt_name
from plait.agents.tools.model_spec import ModelSpec
from plait.core.errors import WorldError
from plait.core.status import Category
from plait.core.task import Job
from plait.site.git import Git
from plait.site.modeljob.failure import JobError
from plait.site.staging import Staging, StagingError

_LONGEST_PROMPT = 64 << 10  # bytes of a system prompt


def texts(staging: Staging, paths: Iterable[str]) -> dict[str, str]:
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


def context(
    spec: ModelSpec, job: Job, instructions: str, staging: Staging, own: Mapping[str, str]
) -> Context:
    """What the job names, and what would help. `own` are the job's files, which are shown anyway."""
    limits = Limits(spec.settings.context_lines, spec.settings.context_tokens)
    given = {path: _quietly(staging, path) for path in job.context}
    helpful = implied(job, instructions, own, _listing(Path(spec.workspace)) - {spec.source})
    return gather(given, {path: _quietly(staging, path) for path in helpful}, limits)


def systems(spec: ModelSpec, staging: Staging) -> dict[str, str]:
    """The system prompts of the repository, by name: those of the folder that is set, else those beside the jobs."""
    asked = spec.settings.prompts
    folder = asked if asked is not None else str(PurePosixPath(spec.source).parent)
    found: dict[str, str] = {}
    for file in sorted(_files(Path(spec.workspace, folder))):
        name = prompt_name(file.name)
        text = _prompt(spec, staging, file) if name is not None else None
        if name is not None and text is not None:
            found[name] = text
    return found


def _prompt(spec: ModelSpec, staging: Staging, file: Path) -> str | None:
    """Below the workspace no link is followed: what a link leads to would be told to a server."""
    try:
        return _quietly(staging, file.relative_to(spec.workspace).as_posix())
    except ValueError:
        pass
    try:
        return file.read_bytes()[:_LONGEST_PROMPT].decode("utf-8", "replace")
    except OSError:
        return None


def _files(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.name.startswith("_")]
    except OSError:
        return []


def _listing(workspace: Path) -> frozenset[str]:
    """All that git tracks; where there is no git, nothing is known."""
    try:
        return frozenset(Git(workspace).run("ls-files", "-z").words)
    except WorldError:
        return frozenset()


def _quietly(staging: Staging, path: str) -> str | None:
    try:
        return staging.read(path)
    except StagingError:
        return None
