"""Model jobs: `jobs/<id>.md`, each with front matter about what it reads and writes, and instructions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from plait.core.frozen import dataclass
from plait.core.overlap import normal
from plait.core.plan import Problem
from plait.core.task import Job, JobMode, Need, Origin, Task
from plait.sources.formats import Likeness
from plait.sources.formats.folder.owned import paths
from plait.sources.formats.folder.task import QUIET
from plait.sources.formats.jobs.files import Use, inferred
from plait.sources.formats.jobs.status import NAME, Statuses, read as read_statuses, write as write_statuses
from plait.sources.found import files
from plait.sources.model import Change, Document, Entry, Mark, Material, Reading, Writer
from plait.sources.report import error, info, warning
from plait.sources.taskfiles.files import beside, folder_of, included, nothing, samples
from plait.sources.taskfiles.keys import Keys
from plait.sources.taskfiles.text import body, title

SEQUENTIAL = "sequential"  # the exclusive group of all that say so
AGENT = "model"
_REQUIRED = ("output_dir", "output_file")
_MODES = {"replace": JobMode.REPLACE, "create": JobMode.REPLACE} | {mode.value: mode for mode in JobMode}
_MAKES = frozenset({JobMode.REPLACE, JobMode.SPLIT})
_KEYS = tuple(
    """context_files output_dir output_file depends_on test_file output_files sequential mode target_files target_file
    verify struct_name new_field""".split()  # noqa: SIM905 - words read better in lines
)


def likeness(material: Material) -> Likeness:
    lies = folder_of(material.path).rpartition("/")[2] == "jobs" or any(
        document.path.rpartition("/")[0].rpartition("/")[2] == "jobs" for document in material.documents[:1]
    )
    if lies and any(document.name == NAME for document in material.companions.values()):
        return Likeness.NAME
    for keys in samples(material, "output_"):
        if keys.has(*_REQUIRED) or (lies and any(keys.has(name) for name in _REQUIRED)):
            return Likeness.NAME if lies else Likeness.CONTENT
    return Likeness.NO


def companions(path: str) -> tuple[str, ...]:
    return (beside(path, NAME),)


def read(material: Material) -> Reading:
    documents = included(material)
    if not documents:
        return Reading(problems=(nothing(material, "jobs"),))
    near = [document for document in material.companions.values() if document.name == NAME]
    statuses = read_statuses(near[0] if near else None)
    drafts = [_job(document) for document in documents]
    needs = _needs(drafts, statuses)
    entries = [_entry(job, needs[job.id], statuses) for job in drafts]
    problems = [problem for job in drafts for problem in job.keys.problems]
    return Reading(tuple(entries), problems=(*problems, *statuses.problems))


def writers(path: str, changes: Sequence[Change]) -> list[Writer]:
    """One for each folder: the statuses of its jobs are in one file."""
    told = dict.fromkeys(beside(file, NAME) for file in files(folder_of(path), changes))
    return [Writer(file, partial(write_statuses, file), creates=True) for file in told]


@dataclass(frozen=True, slots=True)
class _Job:
    document: Document
    keys: Keys
    use: Use
    job: Job | None

    @property
    def readable(self) -> bool:
        return self.job is not None

    @property
    def id(self) -> str:
        return self.document.stem

    @property
    def problems(self) -> list[Problem]:
        return self.keys.problems


def _job(document: Document) -> _Job:
    keys = Keys(document)
    keys.unknown(_KEYS, QUIET | {"id", "title"})
    missing = [key for key in _REQUIRED if keys.text(key) is None and not keys.front.broken]
    for key in missing:
        hint = f"Put {key}: into the front matter at the top of the file."
        keys.problems.append(warning(document, 0, f"{key} is missing: this job can't be run", hint))
    said = (keys.text("mode") or "replace").lower()
    mode = _MODES.get(said)
    if mode is None:
        keys.warn(
            "mode", f"is not known: {said[:60]}; this job can't be run", f"It is one of {', '.join(_MODES)}."
        )
    files = _files(keys)
    readable = not missing and mode is not None and not keys.front.broken
    use = _use(document, files, mode or JobMode.REPLACE)
    return _Job(document, keys, use, _model(keys, files, mode) if readable and mode is not None else None)


@dataclass(frozen=True, slots=True)
class _Files:
    """As its keys name them. `output_file` lies in `output_dir`, all others are as they are written."""

    output: str | None
    outputs: tuple[str, ...]
    targets: tuple[str, ...]
    tests: tuple[str, ...]
    context: tuple[str, ...]


def _files(keys: Keys) -> _Files:
    name = keys.text("output_file")
    folder = (keys.text("output_dir") or ".").rstrip("/")
    return _Files(
        None if name is None else _path(f"{folder}/{name}"),
        _paths(keys, "output_files"),
        _paths(keys, "target_files", "target_file"),
        _paths(keys, "test_file"),
        _paths(keys, "context_files"),
    )


def _use(document: Document, files: _Files, mode: JobMode) -> Use:
    """What a job reads, makes and changes."""
    outputs = files.outputs if files.output is None else (files.output, *files.outputs)
    makes = mode in _MAKES
    return Use(
        document.stem,
        reads=files.context,
        makes=(*outputs, *files.tests) if makes else files.tests,
        changes=files.targets if makes else (*outputs, *files.targets),
    )


def _model(keys: Keys, files: _Files, mode: JobMode) -> Job:
    return Job(
        files.output or "",
        mode,
        files.outputs,
        files.targets,
        files.context,
        tests=files.tests[0] if files.tests else None,
        sequential=keys.flag("sequential") or False,
        verify=keys.flag("verify") is not False,
        struct_name=keys.text("struct_name") or "",
        new_field=keys.text("new_field") or "",
    )


def _paths(keys: Keys, *names: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_path(path) for path in keys.paths(*names)))


def _path(said: str) -> str:
    """One spelling for each file; those outside the repository keep theirs, for the plan to complain about."""
    return normal(said) or said


def _needs(jobs: Sequence[_Job], statuses: Statuses) -> dict[str, dict[str, Need]]:
    """What each job depends on: because it says so, or because it reads or edits what another one writes."""
    known = {job.id for job in jobs}
    needs = {job.id: {need.on: need for need in _said(job, known, statuses)} for job in jobs}
    of_id = {job.id: job for job in jobs}
    for edge in list(inferred([job.use for job in jobs], needs)):
        job = of_id[edge.job]
        key = _key(job, edge.file)
        if edge.dropped:
            note = f"{edge.job} and {edge.on} use each other's files ({edge.file}): {edge.job} goes first"
            hint = "Say depends_on in one of them to have it otherwise."
            job.problems.append(info(job.document, job.keys.line(key), note, hint))
        else:
            at = Origin(job.document.path, job.keys.line(key) + 1)
            needs[edge.job].setdefault(edge.on, Need(edge.on, reason=f"{key}: {edge.file}", at=at))
    return needs


def _key(job: _Job, file: str) -> str:
    """The key that names a file."""
    for key in ("context_files", "target_files", "target_file", "output_files", "test_file"):
        if file in map(_path, job.keys.paths(key)):
            return key
    return "output_file"


def _said(job: _Job, known: set[str], statuses: Statuses) -> Iterator[Need]:
    """What has passed and whose file is gone is satisfied; what nobody knows is an error."""
    for said in job.keys.names("depends_on"):
        name = said.text.removesuffix(".md")
        status = statuses.by_id.get(name)
        if name in known:
            yield Need(name, reason=said.reason, at=Origin(job.document.path, said.line + 1))
        elif status is None or status.mark is not Mark.DONE:
            state = (
                f"has no file and has not passed ({status.said})" if status else "is not the id of any job"
            )
            message = f"{job.id} depends on {name[:60]}, which {state}"
            job.problems.append(error(job.document, said.line, message, "Correct the id, or take it out."))


def _entry(job: _Job, needs: dict[str, Need], statuses: Statuses) -> Entry:
    document = job.document
    status = statuses.by_id.get(job.id)
    task = Task(
        job.id,
        title(document),
        body(document),
        needs=tuple(needs.values()),
        touches=tuple(dict.fromkeys((*job.use.makes, *job.use.changes))),
        exclusive=SEQUENTIAL if job.keys.flag("sequential") else None,
        agent=AGENT,
        job=job.job,
        origin=Origin(document.path, 1),
    )
    mark = status.mark if status else Mark.TODO
    return Entry(
        task,
        mark if job.readable or mark.closed else Mark.UNREADABLE,
        status.said if status else "",
        paths(document).besides(task.touches),
        since=status.since if status else None,
    )
