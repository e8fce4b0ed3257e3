"""Needs as a file spells them: ids are told apart by their source only where they clash, and a file says its own."""

from __future__ import annotations

from collections.abc import Sequence

from plait.core.frozen import dataclass
from plait.front.taskfiles.told import Told, all_told
from plait.sources.pile import Pile


@dataclass(frozen=True, slots=True)
class Spelt:
    """`unknown` are those of them that no task answers to."""

    needs: tuple[str, ...]
    unknown: frozenset[str]


def spelt(pile: Pile | None, source: str, ids: Sequence[str]) -> Spelt:
    """How a file of the source at this path names these tasks."""
    by_id = {told.entry.task.id: told for told in all_told(pile)} if pile is not None else {}
    names = {name: _name(by_id[name], source) if name in by_id else name for name in ids}
    unknown = frozenset(name for name in ids if name not in by_id)
    return Spelt(tuple(dict.fromkeys(names.values())), unknown)


def _name(told: Told, source: str) -> str:
    own = told.own.task.id
    return own if told.source.path == source else f"{told.source.name}:{own}"
