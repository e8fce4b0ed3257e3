"""One task file of a folder: its names, its front matter, its bold header lines, and the task made from them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem
from plait.core.settings import SandboxMode
from plait.core.task import Need, Task
from plait.core.text import strip_task_prefix
from plait.sources import vocabulary
from plait.sources.front_matter import FrontMatter, NamedReference
from plait.sources.markdown import BlockKind, BoldField, find_bold_fields
from plait.sources.source_model import Document, SourceEntry, SourceStatus
from plait.sources.task_files import read_task_body, read_task_title
from plait.sources.task_paths import TaskPaths, find_declared_paths, find_task_paths

_LINK = re.compile(r"\[([^\]\[\n]{1,200})\]\([^()\n]{0,500}\)")
# A remark behind a name: `01-x (first)`, `01-x: why`, `01-x - why`.
_REMARK = re.compile(r"\(|:\s|\s[-\u2013\u2014]+\s|[.:]\Z")
_TASK_WORD = re.compile(r"(?:tasks?\s+)?#?", re.IGNORECASE)
_BOUNDARY = re.compile(r"[\W_]+")
_MAX_PREFIX_LENGTH = 120


@dataclass(frozen=True, slots=True)
class TaskNames:
    """All names of a task: its id, and the stem of its file."""

    id: str
    stem: str

    @property
    def aliases(self) -> tuple[str, ...]:
        """The task's other names: the stem with and without its prefix word, unless that is the id."""
        names = (self.stem, strip_task_prefix(self.stem))
        return tuple(dict.fromkeys(name for name in names if name != self.id))


def assign_ids(documents: Sequence[Document]) -> list[TaskNames]:
    """Make ids from file stems without their prefix words; files that would get the same id keep their whole stems."""
    counts = Counter(strip_task_prefix(document.stem) for document in documents)
    stems = [document.stem for document in documents]
    return [
        TaskNames(strip_task_prefix(stem) if counts[strip_task_prefix(stem)] == 1 else stem, stem) for stem in stems
    ]


def clean_reference(value: str) -> str:
    """Remove the link, back-ticks, folders, `.md`, `Task` and remarks around a name."""
    match = _LINK.search(value)
    name = _REMARK.split((match[1] if match else value).strip(), maxsplit=1)[0].strip().strip("`*\"'").strip()
    name = name.rpartition("/")[2]
    return _TASK_WORD.sub("", name.removesuffix(".md"), count=1).strip()


class TaskNameIndex:
    """Finds tasks by name, whatever its case: whole names first, then the first words of one."""

    def __init__(self, tasks: Iterable[TaskNames]) -> None:
        self._whole: dict[str, dict[str, None]] = {}
        self._first: dict[str, dict[str, None]] = {}
        for task in tasks:
            for name in (task.id, *task.aliases):
                self._whole.setdefault(name.casefold(), {})[task.id] = None
                for words in _iter_prefixes(name.casefold()):
                    self._first.setdefault(words, {})[task.id] = None

    def find(self, value: str, asking: str = "") -> tuple[str, ...]:
        """Return the ids that a name may mean; more than one if it is ambiguous. `asking` is the task that the name
        occurs in, which a part of its own name doesn't mean.
        """
        names = dict.fromkeys(
            name.casefold()
            for name in (value.strip(), clean_reference(value), strip_task_prefix(clean_reference(value)))
        )
        for name in names:
            if name in self._whole:
                return tuple(self._whole[name])
        for name in names:
            matches = self._first.get(vocabulary.strip_zeros(name), {})
            others = tuple(task for task in matches if task != asking)
            if others:
                return others
        return ()


def _iter_prefixes(name: str) -> Iterator[str]:
    """Yield the names that a name begins with: `01-add-tests` begins with `1`, `01-add` and `01-add-tests`."""
    for boundary in _BOUNDARY.finditer(name[:_MAX_PREFIX_LENGTH]):
        yield vocabulary.strip_zeros(name[: boundary.start()])
    yield vocabulary.strip_zeros(name)


T = TypeVar("T")
_LIST_SEPARATOR = re.compile(r"[,;]|\n")


@dataclass(frozen=True, slots=True)
class BoldHeader:
    """The bold fields of a file above its first section."""

    fields: tuple[BoldField, ...]

    def parse(self, parse: Callable[[str], T | None], *keys: str) -> T | None:
        """Parse the value of the last of these fields; None if there is none, or if it can't be parsed."""
        values = [field_.value for field_ in self.fields if field_.key in keys]
        return parse(values[-1]) if values else None

    @property
    def weight(self) -> float | None:
        return self.parse(vocabulary.parse_weight, "complexity", "weight")

    @property
    def files(self) -> list[str]:
        texts = (
            piece for field_ in self.fields if field_.key == "files" for piece in _LIST_SEPARATOR.split(field_.value)
        )
        return [path for piece in texts for path in find_declared_paths(piece)]

    @property
    def needs(self) -> list[NamedReference]:
        return self._split_references("depends on", "dependencies", "needs", "blocked by")

    @property
    def enables(self) -> list[NamedReference]:
        return self._split_references("enables", "blocks")

    def _split_references(self, *keys: str) -> list[NamedReference]:
        return [
            NamedReference(piece, f"{field_.key.capitalize()}: {piece[:60]}", field_.line)
            for field_ in self.fields
            if field_.key in keys
            for line in field_.value.split("\n")
            for piece in vocabulary.split_list(line)
        ]


def read_bold_header(document: Document) -> BoldHeader:
    return BoldHeader(tuple(_find_header_fields(document)))


def _find_header_fields(document: Document) -> Iterator[BoldField]:
    """Yield the fields before the first heading of the second level; a field without a value takes the list beneath it."""
    waiting: BoldField | None = None
    for block in document.markdown.blocks:
        if block.kind is BlockKind.HEADING and block.level > 1:
            break
        if block.quoted:
            continue
        fields = list(find_bold_fields(block))
        if waiting is not None and block.kind is BlockKind.ITEM and not fields:
            waiting = BoldField(waiting.key, f"{waiting.value}\n{block.text}", waiting.line)
            continue
        if waiting is not None:
            yield waiting
        last = fields.pop() if fields else None
        yield from fields
        if last is not None and last.value:
            yield last
        waiting = last if last is not None and not last.value else None
    if waiting is not None:
        yield waiting


NEEDS_KEYS = ("needs", "depends_on", "dependencies")
TOUCHES_KEYS = ("touches", "files", "target_files", "output_file", "output_files")
_ESTIMATE_FIELDS = ("time estimate", "estimated time", "estimate")
SERIAL_GROUP = "serial"  # the exclusive group of `parallel: false`
TASK_KEYS = (
    "id", "title", *NEEDS_KEYS, *TOUCHES_KEYS, "conflicts_with", "exclusive", "parallel", "phase", "priority", "weight",
    "complexity", "estimate", "slots", "allow_empty", "agent", "model", "recipe", "verify", "timeout", "retries", "env", "run",
    "sandbox",
)  # fmt: skip
# Keys of other tools.
IGNORED_KEYS = frozenset({
    "status", "created", "updated", "labels", "tags", "label", "tag", "assignee", "assignees", "author",
    "authors", "owner", "date", "description", "name", "type", "created_at", "updated_at", "created_date",
    "updated_date", "due", "version"
})  # fmt: skip
_MAX_ID_LENGTH = 200
_PHASE = re.compile(r"phase[\s:_-]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ParsedTaskFile:
    """One parsed file. `problems` grow while its keys and references are resolved."""

    names: TaskNames
    document: Document
    keys: FrontMatter
    header: BoldHeader
    paths: TaskPaths
    title: str
    phase: str | None

    @property
    def id(self) -> str:
        return self.names.id

    @property
    def problems(self) -> list[Problem]:
        return self.keys.problems


def parse_task_file(document: Document, named: TaskNames) -> ParsedTaskFile:
    keys = FrontMatter(document)
    keys.warn_unknown(TASK_KEYS, IGNORED_KEYS)
    if keys.has("recipe"):
        note = "recipes are not supported yet; ignored"
        keys.problems.append(document.make_info(keys.line("recipe"), note))
    own_id = _read_id(keys)
    return ParsedTaskFile(
        TaskNames(own_id, named.stem) if own_id is not None else named,
        document,
        keys,
        read_bold_header(document),
        find_task_paths(document),
        " ".join((keys.text("title") or read_task_title(document)).split()),
        _normalize_phase(keys.text("phase")),
    )


def _read_id(keys: FrontMatter) -> str | None:
    value = keys.text("id")
    if value is not None and (len(value) > _MAX_ID_LENGTH or not value.isprintable()):
        keys.warn("id", "is more than one line, or too long; the file's name is the id", "Give it a short one.")
        return None
    return value


def _normalize_phase(value: str | None) -> str | None:
    """Return one spelling for `Phase 2` and `2`."""
    if value is None:
        return None
    line = " ".join(value.split())
    return (_PHASE.sub("", line, count=1) if _PHASE.match(line) else line) or line


def build_entry(
    draft: ParsedTaskFile, names: TaskNameIndex, needs: Sequence[Need], recorded: tuple[SourceStatus, str] | None
) -> SourceEntry:
    """Build the task. `needs` and `recorded` come from other files; the file's own status takes precedence."""
    task = _build_task(draft, names, needs)
    status, status_text = _resolve_status(draft, recorded)
    if status is SourceStatus.TODO and not task.body.strip() and task.run is None:
        hint = "Describe the task in it."
        draft.problems.append(draft.document.make_warning(0, "empty task file: it can't be run", hint))
        status = SourceStatus.UNREADABLE
    return SourceEntry(
        task, status, status_text, draft.paths.list_undeclared(task.touches), aliases=draft.names.aliases
    )


def _resolve_status(draft: ParsedTaskFile, recorded: tuple[SourceStatus, str] | None) -> tuple[SourceStatus, str]:
    if draft.keys.is_broken:
        return SourceStatus.UNREADABLE, ""
    status_text = draft.keys.text("status") or ""
    status = vocabulary.parse_status(status_text)
    if status is not None:
        return status, status_text
    if recorded is not None:
        return recorded
    status_text = draft.header.parse(str, "status") or ""
    status = vocabulary.parse_status(status_text)
    return (status, status_text) if status else (SourceStatus.TODO, "")


def _build_task(draft: ParsedTaskFile, names: TaskNameIndex, needs: Sequence[Need]) -> Task:
    keys, header = draft.keys, draft.header
    run = keys.text("run")
    return Task(
        draft.id,
        draft.title,
        read_task_body(draft.document),
        needs=_deduplicate_needs((*_collect_needs(draft, names), *needs)),
        touches=tuple(dict.fromkeys((*keys.paths(*TOUCHES_KEYS), *header.files, *draft.paths.owned))),
        conflicts_with=_resolve_conflicts(draft, names),
        exclusive=read_exclusive_group(keys),
        phase=draft.phase,
        priority=_pick_first(1, keys.priority("priority"), header.parse(vocabulary.parse_priority, "priority")),
        weight=_pick_first(1.0, keys.weight("weight"), keys.weight("complexity"), header.weight),
        estimate=_pick_first(header.parse(vocabulary.parse_duration, *_ESTIMATE_FIELDS), keys.seconds("estimate")),
        slots=_pick_first(1, keys.integer("slots", 1)),
        allow_empty=bool(keys.flag("allow_empty")),
        agent=_pick_first("shell" if run else None, keys.text("agent")),
        model=keys.text("model"),
        verify=_read_command(keys, "verify"),
        timeout=keys.seconds("timeout"),
        retries=keys.integer("retries", 0),
        run=run,
        env=keys.pairs("env"),
        sandbox=_read_sandbox(keys),
        origin=draft.document.origin(0),
    )


def _pick_first(otherwise: T, *values: T | None) -> T:
    return next((value for value in values if value is not None), otherwise)


def _deduplicate_needs(needs: Iterable[Need]) -> tuple[Need, ...]:
    """Keep the first need on each task."""
    first: dict[str, Need] = {}
    for need in needs:
        first.setdefault(need.on, need)
    return tuple(first.values())


def _read_command(keys: FrontMatter, name: str) -> str | None:
    value = keys.text(name)
    if value is not None and value.lower() in {"true", "false", "yes", "no"}:
        keys.warn(name, f"is not a command: {value}", f"Write it as {name}: make test.")
        return None
    return value


def _read_sandbox(keys: FrontMatter) -> str | None:
    """Return the sandbox that a task asks for. It can't turn its batch's sandbox off, so `off` counts as unset."""
    value = keys.text("sandbox")
    if value is None or value == SandboxMode.OFF:
        return None
    if value not in {*SandboxMode}:
        keys.warn("sandbox", f"is none of {', '.join(SandboxMode)}: {value}", "The batch's sandbox is used.")
        return None
    return value


def read_exclusive_group(keys: FrontMatter) -> str | None:
    """Return the group whose tasks run one at a time: the named one, or that of `parallel: false`."""
    value = keys.text("exclusive")
    alone = keys.flag("parallel") is False
    if value is None or value.lower() in {"true", "false", "yes", "no"}:
        return SERIAL_GROUP if alone or (value or "").lower() in {"true", "yes"} else None
    if alone:
        keys.warn("parallel", f"is ignored: the task is in the group {value}", "A task has one group.")
    return value


def _collect_needs(draft: ParsedTaskFile, names: TaskNameIndex) -> Iterator[Need]:
    for reference in draft.keys.names(*NEEDS_KEYS):
        yield from _resolve_need(draft, names, reference)
    for reference in draft.header.needs:
        if " " in clean_reference(reference.text) and not names.find(reference.text, draft.id):
            note = f"{reference.reason}: not a task; ignored"
            draft.problems.append(draft.document.make_info(reference.line, note))
        else:
            yield from _resolve_need(draft, names, reference)


def _resolve_need(draft: ParsedTaskFile, names: TaskNameIndex, reference: NamedReference) -> Iterator[Need]:
    """Yield the need that a reference means, and report an ambiguous one. A name that no task has is kept as written:
    the plan checks it.
    """
    matches = names.find(reference.text, draft.id)
    if len(matches) > 1:
        draft.problems.append(report_ambiguous(draft.document, reference.line, reference.text, matches))
    else:
        on = matches[0] if matches else reference.text
        yield Need(on, reason=reference.reason, at=draft.document.origin(reference.line))


def report_ambiguous(document: Document, line: int, value: str, matches: Sequence[str]) -> Problem:
    message = f"{value[:60]} could be {' or '.join(matches[:10])}; ignored"
    return document.make_warning(line, message, "Write the whole name.")


def find_enabled(draft: ParsedTaskFile, names: TaskNameIndex) -> Iterator[tuple[str, Need]]:
    """Yield the ids of tasks that this task's header names as waiting for it, each with that need."""
    for reference in draft.header.enables:
        matches = names.find(reference.text, draft.id)
        if len(matches) > 1:
            draft.problems.append(report_ambiguous(draft.document, reference.line, reference.text, matches))
        elif matches:
            yield matches[0], Need(draft.id, reason=reference.reason, at=draft.document.origin(reference.line))
        else:
            note = f"{reference.reason}: not a task here; ignored"
            draft.problems.append(draft.document.make_info(reference.line, note))


def _resolve_conflicts(draft: ParsedTaskFile, names: TaskNameIndex) -> tuple[str, ...]:
    """Return the tasks that this one conflicts with. An ambiguous name counts for all tasks that it could mean: that is
    never wrong, only slower.
    """
    conflicts = (
        (names.find(reference.text, draft.id), reference.text) for reference in draft.keys.names("conflicts_with")
    )
    return tuple(dict.fromkeys(name for ids, reference in conflicts for name in ids or (reference,)))
