"""All sources of a batch as one list of tasks with unique ids."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem
from plait.core.settings import FileConflicts
from plait.core.task import Need, NeedKind, Phase, Task
from plait.sources.formats import load_format
from plait.sources.source_model import Reading, SourceEntry

_ADDRESS = re.compile(r"([\w.]+)(?:\[([^\]]*)\])?:(.*)\Z", re.DOTALL)
# Generic file names: the folder's name is better.
_GENERIC_STEMS = frozenset({"tasks", "todo", "issues", "index", "prd", "plan"})


@dataclass(frozen=True, slots=True)
class SourceAddress:
    """A source as it is recorded with a batch."""

    format: str
    path: str
    tag: str = ""

    @classmethod
    def parse(cls, text: str) -> SourceAddress:
        match = _ADDRESS.match(text)
        return cls(match[1], match[3], match[2] or "") if match else cls("", text)


def make_source_names(paths: Sequence[str]) -> list[str]:
    """Make a short, unique name for each source: its stem, or its folder if the stem is generic."""
    short = [_make_short_name(path) for path in paths]
    counts = Counter(short)
    longer = [
        name if counts[name] == 1 else re.sub(r"[^\w.-]+", "-", path.strip("/."))
        for name, path in zip(short, paths, strict=True)
    ]
    used: Counter[str] = Counter()
    unique = []
    for name in longer:
        used[name] += 1
        unique.append(name if used[name] == 1 else f"{name}-{used[name]}")
    return unique


def _make_short_name(path: str) -> str:
    *folders, last = [part for part in path.split("/") if part not in {"", "."}] or ["source"]
    stem = last.rpartition(".")[0] or last
    if stem.lower() in _GENERIC_STEMS and stem != last and folders and folders[-1].lower() not in {"docs", ".."}:
        outer = folders[-1] if folders[-1] != "tasks" or len(folders) == 1 else folders[-2]
        return outer.lstrip(".") or stem
    return stem.lstrip(".").lower() if stem.isupper() else stem.lstrip(".") or "source"


class PathAliases:
    """Expands a short file name to the only path that ends with it."""

    def __init__(self, files: Iterable[str]) -> None:
        self._files: set[str] = set(files)
        self._by_name: dict[str, list[str]] = {}
        for path in self._files:
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)

    @classmethod
    def from_entries(cls, entries: Iterable[SourceEntry], existing: Iterable[str] = ()) -> PathAliases:
        """Make aliases for the existing files, and for those that the entries name with their folder."""
        named = {
            path
            for entry in entries
            for path in (*entry.task.touches, *entry.mentions)
            if "/" in path and not path.endswith("/") and "*" not in path
        }
        return cls(named.union(existing))

    def resolve(self, value: str) -> str:
        plain = value.removeprefix("./")
        if plain in self._files or plain.endswith("/") or "*" in plain:
            return plain
        ending = f"/{plain}"
        matches = [path for path in self._by_name.get(plain.rpartition("/")[2], ()) if path.endswith(ending)]
        return matches[0] if len(matches) == 1 else plain


@dataclass(frozen=True, slots=True)
class Source:
    """A source that was read; `name` qualifies ids that clash with those of other sources."""

    name: str
    format: str
    path: str
    reading: Reading
    tag: str = ""

    def __str__(self) -> str:
        """Return the source's address: `plan:docs/plan.md`, `taskmaster[master]:.taskmaster/tasks/tasks.json`."""
        return f"{self.format}[{self.tag}]:{self.path}" if self.tag else f"{self.format}:{self.path}"


@dataclass(frozen=True)
class SourceSet:
    """The tasks of all sources. Ids are unique across sources (not necessarily within one: the graph checks that)."""

    sources: tuple[Source, ...]
    entries: tuple[SourceEntry, ...]
    phases: tuple[Phase, ...]
    problems: tuple[Problem, ...]
    conflicts: FileConflicts
    aliases: PathAliases

    def build_task(self, entry: SourceEntry) -> Task:
        """Return the entry's task with all the files that keep it apart from others."""
        touches = self.touches(entry)
        return entry.task if touches == entry.task.touches else replace(entry.task, touches=touches)

    def touches(self, entry: SourceEntry) -> tuple[str, ...]:
        """Return the files that keep the entry's task apart from others, each by its whole path."""
        touches: Sequence[str] = () if self.conflicts is FileConflicts.OFF else entry.task.touches
        if self.conflicts is FileConflicts.INFERRED:
            touches = (*touches, *entry.mentions)
        return tuple(dict.fromkeys(map(self.aliases.resolve, touches)))

    @cached_property
    def by_id(self) -> dict[str, SourceEntry]:
        return {entry.task.id: entry for entry in self.entries}

    @property
    def unread_count(self) -> int:
        """How many open checkboxes were not read as tasks."""
        return sum(len(source.reading.unread) for source in self.sources)

    @cached_property
    def finished_ids(self) -> frozenset[str]:
        return frozenset(entry.task.id for entry in self.entries if self._is_closed(entry))

    def _is_closed(self, entry: SourceEntry) -> bool:
        """Whether the entry is finished: a group is when its parts are, whatever its own status."""
        parts = (self.by_id.get(part) for part in entry.parts)
        return all(part is None or self._is_closed(part) for part in parts) if entry.parts else entry.status.is_closed


def combine_sources(
    readings: Sequence[tuple[str, str, Reading]],
    *,
    conflicts: FileConflicts = FileConflicts.INFERRED,
    aliases: PathAliases | None = None,
    tag: str = "",
) -> SourceSet:
    """Combine sources, each given as (format, path, reading)."""
    short = make_source_names([path for _, path, _ in readings])
    sources = tuple(
        Source(name, *reading, tag if load_format(reading[0]).list_tags else "")
        for name, reading in zip(short, readings, strict=True)
    )
    ids = [{entry.task.id for entry in source.reading.entries} for source in sources]
    id_counts = Counter(name for own_ids in ids for name in own_ids)
    keys = Counter(phase.key for source in sources for phase in source.reading.phases)
    elsewhere = {
        f"{source.name}:{name}": name if id_counts[name] == 1 else f"{source.name}:{name}"
        for source, own_ids in zip(sources, ids, strict=True)
        for name in (own_ids if len(sources) > 1 else ())
    }
    entries: list[SourceEntry] = []
    phases: list[Phase] = []
    for source, own_ids in zip(sources, ids, strict=True):
        renamed = elsewhere | {name: f"{source.name}:{name}" for name in own_ids if id_counts[name] > 1}
        rekeyed = {phase.key: f"{source.name}:{phase.key}" for phase in source.reading.phases if keys[phase.key] > 1}
        prefix = f"{source.name}:" if len(sources) > 1 else None
        entries += (_rename_entry(entry, renamed, rekeyed, prefix) for entry in source.reading.entries)
        phases += (_rename_phase(phase, renamed, rekeyed) for phase in source.reading.phases)
    problems = tuple(problem for source in sources for problem in source.reading.problems)
    aliases = PathAliases.from_entries(entries) if aliases is None else aliases
    return SourceSet(
        sources, tuple(_bridge_finished(_expand_groups(entries))), tuple(phases), problems, conflicts, aliases
    )


def _rename_entry(
    entry: SourceEntry, ids: Mapping[str, str], keys: Mapping[str, str], prefix: str | None
) -> SourceEntry:
    """Return the entry with its unique id. `prefix` is set if there are several sources: every entry then has its full
    name as an alias.
    """
    if prefix is None:
        return entry
    task = entry.task
    aliases = (*entry.aliases, prefix + task.id)
    task = replace(
        task,
        id=ids.get(task.id, task.id),
        needs=tuple(replace(need, on=ids.get(need.on, need.on)) for need in task.needs),
        conflicts_with=tuple(ids.get(other, other) for other in task.conflicts_with),
        phase=keys.get(task.phase, task.phase) if task.phase is not None else None,
    )
    parts = tuple(ids.get(part, part) for part in entry.parts)
    return replace(entry, task=task, parts=parts, aliases=aliases)


def _rename_phase(phase: Phase, ids: Mapping[str, str], keys: Mapping[str, str]) -> Phase:
    return replace(
        phase,
        key=keys.get(phase.key, phase.key),
        after=tuple(keys.get(key, key) for key in phase.after),
        opens_with=ids.get(phase.opens_with, phase.opens_with) if phase.opens_with is not None else None,
    )


def _expand_groups(entries: list[SourceEntry]) -> list[SourceEntry]:
    """Replace a dependency on a group by dependencies on its parts."""
    groups = {entry.task.id: entry.parts for entry in entries if entry.parts}
    return [
        replace(entry, task=replace(entry.task, needs=tuple(_expand_needs(entry.task, groups))))
        if any(need.on in groups for need in entry.task.needs)
        else entry
        for entry in entries
    ]


def _expand_needs(task: Task, groups: Mapping[str, Sequence[str]]) -> Iterator[Need]:
    for need in task.needs:
        if need.on in groups:
            yield from (replace(need, on=leaf) for leaf in list_leaves(need.on, groups) if leaf != task.id)
        else:
            yield need


def _bridge_finished(entries: Sequence[SourceEntry]) -> Iterator[SourceEntry]:
    """Let tasks after a finished task follow its predecessors, so that a chain holds when its middle is done early."""
    ids = {entry.task.id for entry in entries}
    past: dict[str, dict[str, None]] = {}
    for entry in entries:
        task = entry.task
        chain = [need for need in task.needs if need.kind is NeedKind.CHAIN and need.on in ids]
        if entry.status.is_closed and not entry.parts:
            past[task.id] = dict.fromkeys(on for need in chain for on in past.get(need.on, (need.on,)))
            yield entry
        elif any(past.get(need.on) for need in chain):
            named = {task.id, *(need.on for need in task.needs)}
            inherited = {on: need for need in chain for on in past.get(need.on, ()) if on not in named}
            needs = (*task.needs, *(replace(need, on=on) for on, need in inherited.items()))
            yield replace(entry, task=replace(task, needs=needs))
        else:
            yield entry


def list_leaves(name: str, groups: Mapping[str, Sequence[str]]) -> list[str]:
    """List all tasks of a group, at any depth."""
    leaves: dict[str, None] = {}
    visited = {name}
    waiting = [name]
    while waiting:
        for part in groups.get(waiting.pop(), ()):
            if part in groups and part not in visited:
                visited.add(part)
                waiting.append(part)
            elif part not in groups:
                leaves[part] = None
    return list(leaves)
