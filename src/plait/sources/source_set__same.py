"""Same files: `api.ts` and `src/api.ts` name one file when only one such file exists."""

from __future__ import annotations

from collections.abc import Iterable

from plait.sources.source_model import SourceEntry


class PathAliases:
    """Turns a short name of a file into its whole path, where there is exactly one that ends like it."""

    def __init__(self, files: Iterable[str]) -> None:
        self._files: set[str] = set(files)
        self._by_name: dict[str, list[str]] = {}
        for path in self._files:
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)

    @classmethod
    def from_entries(cls, entries: Iterable[SourceEntry], existing: Iterable[str] = ()) -> PathAliases:
        """Among the files that exist, and those that the entries name with their folder."""
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
        found = [path for path in self._by_name.get(plain.rpartition("/")[2], ()) if path.endswith(ending)]
        return found[0] if len(found) == 1 else plain
