"""Model jobs: `jobs/<id>.md`, with front matter about the files it reads and writes, and instructions."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from functools import partial

from plait.core.fast_dataclass import dataclass
from plait.core.file_locks import normalize_touch
from plait.core.plan import Problem
from plait.core.task import ModelJob, ModelJobMode, Need, Origin, Task
from plait.sources.formats import Confidence, Format
from plait.sources.formats.folder_task import IGNORED_KEYS
from plait.sources.formats.jobs_status import (
    STATUS_FILE,
    JobStatuses,
    read_job_statuses,
    write_job_statuses,
)
from plait.sources.front_matter import FrontMatter
from plait.sources.source_model import (
    Document,
    Reading,
    SourceEntry,
    SourceFiles,
    SourceStatus,
    make_error,
    make_info,
    make_warning,
)
from plait.sources.status_changes import StatusChange, StatusFileWriter, list_changed_files
from plait.sources.task_files import (
    get_folder,
    get_sibling_path,
    list_task_documents,
    read_task_body,
    read_task_title,
    report_no_tasks,
    sample_keys,
)
from plait.sources.task_paths import find_task_paths


@dataclass(frozen=True, slots=True)
class FileUse:
    """A job's files: `makes` are written from scratch, `changes` exist before."""

    job: str
    reads: tuple[str, ...]
    makes: tuple[str, ...]
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileDependency:
    """`job` waits for `on` because of a file. `dropped`: it does not, because `on` waits for it."""

    job: str
    on: str
    file: str
    dropped: bool = False


def infer_dependencies(jobs: Sequence[FileUse], declared: Mapping[str, Container[str]]) -> Iterator[FileDependency]:
    """A job waits for those that make what it reads or changes, and for those that change what it only reads.

    Jobs that change the same file run one after another in any order. If two wait for each other, the first one goes
    first, unless one of them declares the dependency (`declared`).
    """
    found = {(edge.job, edge.on): edge for edge in _find_dependencies(jobs)}
    place = {use.job: number for number, use in enumerate(jobs)}
    for (job, on), edge in found.items():
        if job in declared.get(on, ()):
            continue
        if (on, job) in found and on not in declared.get(job, ()) and place[job] < place[on]:
            yield FileDependency(job, on, edge.file, dropped=True)
        else:
            yield edge


def _find_dependencies(jobs: Sequence[FileUse]) -> Iterator[FileDependency]:
    makers: dict[str, list[str]] = {}
    changers: dict[str, list[str]] = {}
    for use in jobs:
        for path in dict.fromkeys(use.makes):
            makers.setdefault(path, []).append(use.job)
        for path in dict.fromkeys(use.changes):
            changers.setdefault(path, []).append(use.job)
    for use in jobs:
        for path in dict.fromkeys((*use.reads, *use.changes)):
            before = [] if path in use.makes else makers.get(path, [])
            if path not in use.makes and path not in use.changes:
                before = [*before, *changers.get(path, [])]
            yield from (FileDependency(use.job, other, path) for other in before if other != use.job)


SEQUENTIAL_GROUP = "sequential"  # the exclusive group of all sequential jobs
JOB_AGENT = "model"
_REQUIRED = ("output_dir", "output_file")
_MODES = {"replace": ModelJobMode.REPLACE, "create": ModelJobMode.REPLACE} | {mode.value: mode for mode in ModelJobMode}
_CREATING_MODES = frozenset({ModelJobMode.REPLACE, ModelJobMode.SPLIT})
_KEYS = (
    "context_files", "output_dir", "output_file", "depends_on", "test_file", "output_files", "sequential", "mode",
    "target_files", "target_file", "verify", "struct_name", "new_field",
)  # fmt: skip


def detect(source: SourceFiles) -> Confidence:
    in_jobs_folder = get_folder(source.path).rpartition("/")[2] == "jobs" or any(
        document.path.rpartition("/")[0].rpartition("/")[2] == "jobs" for document in source.documents[:1]
    )
    if in_jobs_folder and any(document.name == STATUS_FILE for document in source.companions.values()):
        return Confidence.NAME
    for keys in sample_keys(source, "output_"):
        if keys.has(*_REQUIRED) or (in_jobs_folder and any(keys.has(name) for name in _REQUIRED)):
            return Confidence.NAME if in_jobs_folder else Confidence.CONTENT
    return Confidence.NO


def companions(path: str) -> tuple[str, ...]:
    return (get_sibling_path(path, STATUS_FILE),)


def read(source: SourceFiles) -> Reading:
    documents = list_task_documents(source)
    if not documents:
        return Reading(problems=(report_no_tasks(source, "jobs"),))
    near = [document for document in source.companions.values() if document.name == STATUS_FILE]
    statuses = read_job_statuses(near[0] if near else None)
    drafts = [_parse_job(document) for document in documents]
    needs = _collect_needs(drafts, statuses)
    entries = [_build_entry(job, needs[job.id], statuses) for job in drafts]
    problems = [problem for job in drafts for problem in job.keys.problems]
    return Reading(tuple(entries), problems=(*problems, *statuses.problems))


def writers(path: str, changes: Sequence[StatusChange]) -> list[StatusFileWriter]:
    """One for each folder: the statuses of its jobs are in one file."""
    files = dict.fromkeys(get_sibling_path(file, STATUS_FILE) for file in list_changed_files(get_folder(path), changes))
    return [StatusFileWriter(file, partial(write_job_statuses, file), creates=True) for file in files]


@dataclass(frozen=True, slots=True)
class _ParsedJob:
    document: Document
    keys: FrontMatter
    use: FileUse
    job: ModelJob | None

    @property
    def id(self) -> str:
        return self.document.stem

    @property
    def problems(self) -> list[Problem]:
        return self.keys.problems


def _parse_job(document: Document) -> _ParsedJob:
    keys = FrontMatter(document)
    keys.warn_unknown(_KEYS, IGNORED_KEYS | {"id", "title"})
    missing = [key for key in _REQUIRED if keys.text(key) is None and not keys.is_broken]
    for key in missing:
        hint = f"Put {key}: into the front matter at the top of the file."
        keys.problems.append(make_warning(document, 0, f"{key} is missing: this job can't be run", hint))
    word = (keys.text("mode") or "replace").lower()
    mode = _MODES.get(word)
    if mode is None:
        keys.warn("mode", f"is not known: {word[:60]}; this job can't be run", f"It is one of {', '.join(_MODES)}.")
    files = _read_files(keys)
    readable = not missing and mode is not None and not keys.is_broken
    use = _collect_file_use(document, files, mode or ModelJobMode.REPLACE)
    return _ParsedJob(document, keys, use, _build_job(keys, files, mode) if readable and mode is not None else None)


@dataclass(frozen=True, slots=True)
class _JobFiles:
    """The files that its keys name. `output_file` is relative to `output_dir`."""

    output: str | None
    outputs: tuple[str, ...]
    targets: tuple[str, ...]
    tests: tuple[str, ...]
    context: tuple[str, ...]


def _read_files(keys: FrontMatter) -> _JobFiles:
    name = keys.text("output_file")
    folder = (keys.text("output_dir") or ".").rstrip("/")
    return _JobFiles(
        None if name is None else _normalize_path(f"{folder}/{name}"),
        _read_paths(keys, "output_files"),
        _read_paths(keys, "target_files", "target_file"),
        _read_paths(keys, "test_file"),
        _read_paths(keys, "context_files"),
    )


def _collect_file_use(document: Document, files: _JobFiles, mode: ModelJobMode) -> FileUse:
    """What a job reads, makes and changes."""
    outputs = files.outputs if files.output is None else (files.output, *files.outputs)
    makes = mode in _CREATING_MODES
    return FileUse(
        document.stem,
        reads=files.context,
        makes=(*outputs, *files.tests) if makes else files.tests,
        changes=files.targets if makes else (*outputs, *files.targets),
    )


def _build_job(keys: FrontMatter, files: _JobFiles, mode: ModelJobMode) -> ModelJob:
    return ModelJob(
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


def _read_paths(keys: FrontMatter, *names: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_normalize_path(path) for path in keys.paths(*names)))


def _normalize_path(value: str) -> str:
    """One spelling for each file; one outside the repository is kept as written: the plan reports it."""
    return normalize_touch(value) or value


def _collect_needs(jobs: Sequence[_ParsedJob], statuses: JobStatuses) -> dict[str, dict[str, Need]]:
    """What each job depends on: declared, or because it reads or edits another one's output."""
    known = {job.id for job in jobs}
    needs = {job.id: {need.on: need for need in _read_declared_needs(job, known, statuses)} for job in jobs}
    of_id = {job.id: job for job in jobs}
    for edge in list(infer_dependencies([job.use for job in jobs], needs)):
        job = of_id[edge.job]
        key = _find_key(job, edge.file)
        if edge.dropped:
            note = f"{edge.job} and {edge.on} use each other's files ({edge.file}): {edge.job} goes first"
            hint = "Set depends_on in one of them to change that."
            job.problems.append(make_info(job.document, job.keys.line(key), note, hint))
        else:
            at = Origin(job.document.path, job.keys.line(key) + 1)
            needs[edge.job].setdefault(edge.on, Need(edge.on, reason=f"{key}: {edge.file}", at=at))
    return needs


def _find_key(job: _ParsedJob, file: str) -> str:
    """The key that names a file."""
    for key in ("context_files", "target_files", "target_file", "output_files", "test_file"):
        if file in map(_normalize_path, job.keys.paths(key)):
            return key
    return "output_file"


def _read_declared_needs(job: _ParsedJob, known: set[str], statuses: JobStatuses) -> Iterator[Need]:
    """A dependency that has passed needs no file; an unknown one is an error."""
    for reference in job.keys.names("depends_on"):
        name = reference.text.removesuffix(".md")
        status = statuses.by_id.get(name)
        if name in known:
            yield Need(name, reason=reference.reason, at=Origin(job.document.path, reference.line + 1))
        elif status is None or status.status is not SourceStatus.DONE:
            state = f"has no file and has not passed ({status.status_text})" if status else "is not the id of any job"
            message = f"{job.id} depends on {name[:60]}, which {state}"
            job.problems.append(make_error(job.document, reference.line, message, "Correct the id, or take it out."))


def _build_entry(job: _ParsedJob, needs: dict[str, Need], statuses: JobStatuses) -> SourceEntry:
    document = job.document
    status = statuses.by_id.get(job.id)
    task = Task(
        job.id,
        read_task_title(document),
        read_task_body(document),
        needs=tuple(needs.values()),
        touches=tuple(dict.fromkeys((*job.use.makes, *job.use.changes))),
        exclusive=SEQUENTIAL_GROUP if job.keys.flag("sequential") else None,
        agent=JOB_AGENT,
        job=job.job,
        origin=Origin(document.path, 1),
    )
    mark = status.status if status else SourceStatus.TODO
    return SourceEntry(
        task,
        mark if job.job is not None or mark.is_closed else SourceStatus.UNREADABLE,
        status.status_text if status else "",
        find_task_paths(document).undeclared(task.touches),
        since=status.since if status else None,
    )


FORMAT = Format(detect, read, writers, companions, keys={"needs": ("depends_on",)}, title_in_heading=True)
