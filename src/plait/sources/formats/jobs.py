"""Model jobs: `jobs/<id>.md`, with front matter about the files it reads and writes, and instructions.

Their statuses are in `_jobstatus.json`, a list of objects.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from functools import partial

from plait.core.fast_dataclass import dataclass
from plait.core.file_locks import normalize_touch
from plait.core.plan import Problem, Severity
from plait.core.task import ModelJob, ModelJobMode, Need, Origin, Task
from plait.sources import json_tasks, task_files, vocabulary
from plait.sources.formats import Confidence, Format
from plait.sources.formats.folder_task import IGNORED_KEYS
from plait.sources.front_matter import FrontMatter
from plait.sources.json_text import JsonNode, JsonSyntaxError, parse_json, remove_key, set_key
from plait.sources.source_model import Document, Reading, RecordedStatus, SourceEntry, SourceFiles, SourceStatus
from plait.sources.status_changes import Rewrite, StatusChange, StatusFileWriter, changes_status, list_changed_files
from plait.sources.task_paths import find_task_paths
from plait.sources.text import BOM, TextEdit, TextLines, apply_edits, to_printable

STATUS_FILE = "_jobstatus.json"
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
    in_jobs_folder = task_files.get_folder(source.path).rpartition("/")[2] == "jobs" or any(
        document.path.rpartition("/")[0].rpartition("/")[2] == "jobs" for document in source.documents[:1]
    )
    if in_jobs_folder and any(document.name == STATUS_FILE for document in source.companions.values()):
        return Confidence.NAME
    for keys in task_files.sample_keys(source, "output_"):
        if keys.has(*_REQUIRED) or (in_jobs_folder and any(keys.has(name) for name in _REQUIRED)):
            return Confidence.NAME if in_jobs_folder else Confidence.CONTENT
    return Confidence.NO


def companions(path: str) -> tuple[str, ...]:
    return (task_files.get_sibling_path(path, STATUS_FILE),)


def read(source: SourceFiles) -> Reading:
    documents = task_files.list_task_documents(source)
    if not documents:
        return Reading(problems=(task_files.report_no_tasks(source, "jobs"),))
    status_files = [document for document in source.companions.values() if document.name == STATUS_FILE]
    statuses, status_problems = _read_statuses(status_files[0]) if status_files else ({}, [])
    jobs = [_parse_job(document) for document in documents]
    needs = _collect_needs(jobs, statuses)
    entries = [_build_entry(job, needs[job.id], statuses.get(job.id)) for job in jobs]
    problems = [problem for job in jobs for problem in job.keys.problems]
    return Reading(tuple(entries), problems=(*problems, *status_problems))


@dataclass(frozen=True, slots=True)
class _Job:
    """A job and its files: `makes` are created by it, `changes` exist before. `spec` is None if it can't be run."""

    document: Document
    keys: FrontMatter
    spec: ModelJob | None
    reads: tuple[str, ...]
    makes: tuple[str, ...]
    changes: tuple[str, ...]

    @property
    def id(self) -> str:
        return self.document.stem


def _parse_job(document: Document) -> _Job:
    keys = FrontMatter(document)
    keys.warn_unknown(_KEYS, IGNORED_KEYS | {"id", "title"})
    missing = [key for key in _REQUIRED if keys.text(key) is None and not keys.is_broken]
    for key in missing:
        hint = f"Put {key}: into the front matter at the top of the file."
        keys.problems.append(document.make_warning(0, f"{key} is missing: this job can't be run", hint))
    word = (keys.text("mode") or "replace").lower()
    mode = _MODES.get(word)
    if mode is None:
        keys.warn("mode", f"is not known: {word[:60]}; this job can't be run", f"It is one of {', '.join(_MODES)}.")
    name, folder = keys.text("output_file"), (keys.text("output_dir") or ".").rstrip("/")
    output = () if name is None else (_normalize_path(f"{folder}/{name}"),)
    outputs = _read_paths(keys, "output_files")
    targets = _read_paths(keys, "target_files", "target_file")
    tests = _read_paths(keys, "test_file")
    context = _read_paths(keys, "context_files")
    spec = None
    if mode is not None and output and not missing and not keys.is_broken:
        spec = ModelJob(
            output[0],
            mode,
            outputs,
            targets,
            context,
            tests=tests[0] if tests else None,
            sequential=keys.flag("sequential") or False,
            verify=keys.flag("verify") is not False,
            struct_name=keys.text("struct_name") or "",
            new_field=keys.text("new_field") or "",
        )
    if mode is None or mode in _CREATING_MODES:
        return _Job(document, keys, spec, reads=context, makes=(*output, *outputs, *tests), changes=targets)
    return _Job(document, keys, spec, reads=context, makes=tests, changes=(*output, *outputs, *targets))


def _read_paths(keys: FrontMatter, *names: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_normalize_path(path) for path in keys.paths(*names)))


def _normalize_path(value: str) -> str:
    """Return one spelling for each file; a file outside the repository is kept as written, for the plan to report."""
    return normalize_touch(value) or value


def _collect_needs(jobs: Sequence[_Job], statuses: dict[str, RecordedStatus]) -> dict[str, dict[str, Need]]:
    """Return each job's dependencies: declared, or because it reads or edits another one's output.

    If two wait for each other because of files, the first one goes first, unless one of them declares the dependency.
    """
    by_id = {job.id: job for job in jobs}
    needs = {job.id: {need.on: need for need in _read_declared_needs(job, by_id, statuses)} for job in jobs}
    declared = {(job, on) for job, own in needs.items() for on in own}
    index_by_id = {job.id: index for index, job in enumerate(jobs)}
    file_needs = _find_file_dependencies(jobs)
    for (name, on), file in file_needs.items():
        if (on, name) in declared:
            continue
        job = by_id[name]
        key = _find_key(job, file)
        line = job.keys.line(key)
        if (on, name) in file_needs and (name, on) not in declared and index_by_id[name] < index_by_id[on]:
            note = f"{name} and {on} use each other's files ({file}): {name} goes first"
            hint = "Set depends_on in one of them to change that."
            job.keys.problems.append(job.document.make_info(line, note, hint))
        else:
            needs[name].setdefault(on, Need(on, reason=f"{key}: {file}", at=job.document.origin(line)))
    return needs


def _find_file_dependencies(jobs: Sequence[_Job]) -> dict[tuple[str, str], str]:
    """For each pair of jobs, return the file because of which the first waits for the second.

    A job waits for those that make what it reads or changes, and for those that change what it only reads. Jobs that
    change the same file run one after another in any order.
    """
    makers: dict[str, list[str]] = {}
    changers: dict[str, list[str]] = {}
    for job in jobs:
        for path in dict.fromkeys(job.makes):
            makers.setdefault(path, []).append(job.id)
        for path in dict.fromkeys(job.changes):
            changers.setdefault(path, []).append(job.id)
    dependencies: dict[tuple[str, str], str] = {}
    for job in jobs:
        for path in dict.fromkeys((*job.reads, *job.changes)):
            before = [] if path in job.makes else makers.get(path, [])
            if path not in job.makes and path not in job.changes:
                before = [*before, *changers.get(path, [])]
            dependencies |= {(job.id, other): path for other in before if other != job.id}
    return dependencies


def _find_key(job: _Job, file: str) -> str:
    """Return the front-matter key that names a file."""
    for key in ("context_files", "target_files", "target_file", "output_files", "test_file"):
        if file in map(_normalize_path, job.keys.paths(key)):
            return key
    return "output_file"


def _read_declared_needs(job: _Job, known: Collection[str], statuses: dict[str, RecordedStatus]) -> Iterator[Need]:
    """Yield the declared needs. A dependency that has passed needs no file; an unknown one is an error."""
    for reference in job.keys.names("depends_on"):
        name = reference.text.removesuffix(".md")
        status = statuses.get(name)
        if name in known:
            yield Need(name, reason=reference.reason, at=job.document.origin(reference.line))
        elif status is None or status.status is not SourceStatus.DONE:
            state = f"has no file and has not passed ({status.status_text})" if status else "is not the id of any job"
            message = f"{job.id} depends on {name[:60]}, which {state}"
            hint = "Correct the id, or take it out."
            job.keys.problems.append(job.document.make_error(reference.line, message, hint))


def _build_entry(job: _Job, needs: dict[str, Need], recorded: RecordedStatus | None) -> SourceEntry:
    task = Task(
        job.id,
        task_files.read_task_title(job.document),
        task_files.read_task_body(job.document),
        needs=tuple(needs.values()),
        touches=tuple(dict.fromkeys((*job.makes, *job.changes))),
        exclusive=SEQUENTIAL_GROUP if job.keys.flag("sequential") else None,
        agent=JOB_AGENT,
        job=job.spec,
        origin=job.document.origin(0),
    )
    recorded = recorded or RecordedStatus(SourceStatus.TODO)
    return SourceEntry(
        task,
        recorded.status if job.spec is not None or recorded.status.is_closed else SourceStatus.UNREADABLE,
        recorded.status_text,
        find_task_paths(job.document).list_undeclared(task.touches),
        since=recorded.since,
    )


_STATUS_BY_WORD = {
    "created": SourceStatus.TODO,
    "pass": SourceStatus.DONE,
    "fail": SourceStatus.FAILED,
    "partial": SourceStatus.PARTIAL,
}
_WORD_BY_STATUS = {
    SourceStatus.TODO: "created",
    SourceStatus.DOING: "pending_work",
    SourceStatus.DONE: "pass",
    SourceStatus.FAILED: "fail",
    SourceStatus.PARTIAL: "partial",
}
_RAN_STATUSES = frozenset({SourceStatus.DOING, SourceStatus.DONE, SourceStatus.FAILED, SourceStatus.PARTIAL})


def _read_statuses(document: Document) -> tuple[dict[str, RecordedStatus], list[Problem]]:
    """Return the statuses by id. An unreadable file is an error, so that finished jobs are not run again."""
    if not document.text.strip(f"{BOM} \t\r\n"):
        return {}, []
    try:
        root = parse_json(document.text)
    except JsonSyntaxError as error:
        message = f"the statuses of the jobs can't be read: {error.message} (column {error.column})"
        hint = "Correct this place; without the file all jobs would be new."
        return {}, [document.make_error(error.line - 1, message, hint)]
    if not isinstance(root.value, list):
        hint = "Without the file all jobs would be new."
        return {}, [document.make_error(0, "this is not a list of jobs and their statuses", hint)]
    statuses: dict[str, RecordedStatus] = {}
    problems: list[Problem] = []
    lines = TextLines(document.text)
    for node in root.items:
        name = json_tasks.read_id(node)
        status = _parse_status(node)
        if name and status is not None:
            statuses[name] = status
        else:
            message = f"not a job with a known status: {node.source[:60]!r}"
            problems.append(document.make_warning(lines.line_at(node.start), message))
    return statuses, problems


def _parse_status(node: JsonNode) -> RecordedStatus | None:
    value = node.get("status")
    if not isinstance(value, str):
        return None
    status = SourceStatus.STUCK if value.startswith("pending") else _STATUS_BY_WORD.get(value)
    return None if status is None else RecordedStatus(status, value, vocabulary.parse_time(node.get("updated_at")))


def writers(path: str, changes: Sequence[StatusChange]) -> list[StatusFileWriter]:
    """Return one writer for each folder: the statuses of its jobs are in one file."""
    files = dict.fromkeys(
        task_files.get_sibling_path(file, STATUS_FILE)
        for file in list_changed_files(task_files.get_folder(path), changes)
    )
    return [StatusFileWriter(file, partial(_write_statuses, file), creates=True) for file in files]


def _write_statuses(path: str, text: str, changes: Sequence[StatusChange]) -> Rewrite:
    """Put these statuses into the list; other jobs and other keys stay, and missing jobs are added."""
    change_by_id = {
        change.id: change for change in changes if task_files.get_sibling_path(change.file, STATUS_FILE) == path
    }
    if not change_by_id:
        return Rewrite(text)
    shown = to_printable(text)
    bare = not shown.strip(f"{BOM} \t\r\n")
    try:
        root = parse_json("[]" if bare else shown)
    except JsonSyntaxError as error:
        return Rewrite(text, (json_tasks.report_unwritable(path, error),))
    if not isinstance(root.value, list):
        message = "not a list of jobs; no status written"
        return Rewrite(text, (Problem(Severity.WARNING, message, Origin(path, 1)),))
    node_by_id = {json_tasks.read_id(node): node for node in root.items}
    edits: list[TextEdit] = []
    new: list[StatusChange] = []
    for change in change_by_id.values():
        if change.id in node_by_id:
            edits += _make_edits(node_by_id[change.id], change)
        elif _choose_status(None, change.status) is not None:
            new.append(change)
    if new:
        edits.append(_make_append_edit(root, new, TextLines(shown).eol))
    written = apply_edits("[]" if bare and edits else text, edits)
    return Rewrite(f"{written}\n" if bare and edits else written)


def _choose_status(now: SourceStatus | None, wanted: SourceStatus) -> SourceStatus | None:
    """Return the status to write, or None to keep the old one. Blocked and skipped are written as not started."""
    current = SourceStatus.DOING if now is SourceStatus.STUCK else now or SourceStatus.TODO
    if wanted in {SourceStatus.BLOCKED, SourceStatus.SKIPPED}:
        return SourceStatus.TODO if current is SourceStatus.DOING else None
    return wanted if wanted in _WORD_BY_STATUS and changes_status(current, wanted) else None


def _choose_word(change: StatusChange, status: SourceStatus) -> str:
    return "pending_verification" if change.verifying and status is SourceStatus.DOING else _WORD_BY_STATUS[status]


def _is_outdated(now: RecordedStatus, change: StatusChange) -> bool:
    """Whether a pending job's recorded state is older than this change, because another run left it, say."""
    if now.status is not SourceStatus.STUCK or change.status is not SourceStatus.DOING:
        return False
    is_older = now.since is None or now.since < vocabulary.ensure_utc(change.at).replace(microsecond=0)
    return is_older or now.status_text != _choose_word(change, change.status)


def _make_edits(node: JsonNode, change: StatusChange) -> list[TextEdit]:
    now = _parse_status(node)
    status = _choose_status(now.status if now else None, change.status)
    if status is None and now is not None and _is_outdated(now, change):
        status = change.status
    if status is None:
        return []
    edits = [
        set_key(node, "status", _choose_word(change, status), after=("id",)),
        set_key(node, "updated_at", vocabulary.format_time(change.at), after=("created_at",)),
    ]
    if status in {SourceStatus.FAILED, SourceStatus.PARTIAL} and change.reason:
        edits.append(set_key(node, "error", change.reason, after=("updated_at",)))
    elif "error" in node.members and node.get("error") is not None:
        edits.append(remove_key(node, "error"))
    if status in _RAN_STATUSES and node.get("ran") is not True:
        edits.append(set_key(node, "ran", value=True, after=("error",)))
    return edits


def _make_append_edit(root: JsonNode, changes: Sequence[StatusChange], eol: str) -> TextEdit:
    """Append new objects to the list, laid out like the first one."""
    items = root.items
    if not items:
        between, inside = f"{eol}  ", f"{eol}    "
        rows = ",".join(between + _format_object(change, inside, between) for change in changes)
        return TextEdit(root.start, root.stop, f"[{rows}{eol}]")
    first = items[0]
    between = root.text[root.start + 1 : first.start]
    inside = root.text[first.start + 1 : first.ordered_members[0].start] if first.ordered_members else ""
    rows = "".join(f",{between or ' '}{_format_object(change, inside, between)}" for change in changes)
    return TextEdit(items[-1].stop, items[-1].stop, rows)


def _format_object(change: StatusChange, inside: str, between: str) -> str:
    at = vocabulary.format_time(change.at)
    values: dict[str, str | bool] = {
        "id": change.id,
        "status": _choose_word(change, change.status),
        "created_at": at,
        "updated_at": at,
    }
    if change.status in {SourceStatus.FAILED, SourceStatus.PARTIAL} and change.reason:
        values["error"] = change.reason
    values["ran"] = change.status in _RAN_STATUSES
    rows = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in values.items()]
    if "\n" in inside or "\r" in inside:
        return "{" + ",".join(inside + row for row in rows) + between + "}"
    return "{" + ", ".join(rows) + "}"


FORMAT = Format(detect, read, writers, companions, keys={"needs": ("depends_on",)}, title_in_heading=True)
