"""Needs as a file spells them: ids are told apart by their source only where they clash, and a file says its own."""

from __future__ import annotations

from collections.abc import Sequence

from plait.client.task_lookup import LocatedTask, iter_located_tasks
from plait.core.fast_dataclass import dataclass
from plait.sources.source_set import SourceSet


@dataclass(frozen=True, slots=True)
class SpelledNeeds:
    """`unknown` are those of them that no task answers to."""

    needs: tuple[str, ...]
    unknown: frozenset[str]


def spell_needs(source_set: SourceSet | None, source: str, ids: Sequence[str]) -> SpelledNeeds:
    """How a file of the source at this path names these tasks."""
    by_id = (
        {told.entry.task.id: told for told in iter_located_tasks(source_set)}
        if source_set is not None
        else {}
    )
    names = {name: _spell_need(by_id[name], source) if name in by_id else name for name in ids}
    unknown = frozenset(name for name in ids if name not in by_id)
    return SpelledNeeds(tuple(dict.fromkeys(names.values())), unknown)


def _spell_need(located: LocatedTask, source: str) -> str:
    own = located.source_entry.task.id
    return own if located.source.path == source else f"{located.source.name}:{own}"
