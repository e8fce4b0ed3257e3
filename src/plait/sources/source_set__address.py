"""Sources as batches keep them: by format, tag and path; and a short name for each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from plait.core.fast_dataclass import dataclass

_ADDRESS = re.compile(r"([\w.]+)(?:\[([^\]]*)\])?:(.*)\Z", re.DOTALL)
# Files whose own name says nothing; the folder they lie in does.
_GENERIC_STEMS = frozenset({"tasks", "todo", "issues", "index", "prd", "plan"})


@dataclass(frozen=True, slots=True)
class SourceAddress:
    """A source as a batch keeps it."""

    format: str
    path: str
    tag: str = ""

    @classmethod
    def parse(cls, kept: str) -> SourceAddress:
        found = _ADDRESS.match(kept)
        return cls(found[1], found[3], found[2] or "") if found else cls("", kept)


def make_source_names(paths: Sequence[str]) -> list[str]:
    """A short name for each source, all different: its stem, or its folder where the stem says nothing."""
    short = [_make_short_name(path) for path in paths]
    counts = Counter(short)
    longer = [
        name if counts[name] == 1 else re.sub(r"[^\w.-]+", "-", path.strip("/."))
        for name, path in zip(short, paths, strict=True)
    ]
    seen: Counter[str] = Counter()
    unique = []
    for name in longer:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return unique


def _make_short_name(path: str) -> str:
    *folders, last = [part for part in path.split("/") if part not in {"", "."}] or ["source"]
    stem = last.rpartition(".")[0] or last
    if (
        stem.lower() in _GENERIC_STEMS
        and stem != last
        and folders
        and folders[-1].lower() not in {"docs", ".."}
    ):
        outer = folders[-1] if folders[-1] != "tasks" or len(folders) == 1 else folders[-2]
        return outer.lstrip(".") or stem
    return stem.lstrip(".").lower() if stem.isupper() else stem.lstrip(".") or "source"
