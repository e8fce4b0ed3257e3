"""Files that would help though nobody named them as context: a guess from names alone, and said to be one."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from posixpath import normpath

from plait.agents.jobs import files as of
from plait.core.task import Job

_MOST_TEXT = 200_000  # characters of a file in which names are looked for
_WORD = re.compile(r"[\w@+.-]*(?:/[\w@+.-]+)+|[\w@+-]+\.[A-Za-z]\w{0,9}")
_IMPORTS = (
    re.compile(r"^[ \t]*from[ \t]+(\.*[\w.]*)[ \t]+import\b", re.MULTILINE),  # Python
    re.compile(r"^[ \t]*import[ \t]+([\w.]+)", re.MULTILINE),  # Python, Java, Kotlin
    re.compile(
        r"\b(?:from|require\(|import\(?)[ \t]*[\"']([^\"'\n]{1,200})[\"']"
    ),  # JavaScript, TypeScript, Dart
    re.compile(r"^[ \t]*#[ \t]*include[ \t]+\"([^\"\n]{1,200})\"", re.MULTILINE),  # C
    re.compile(r"^[ \t]*(?:pub(?:\([^)]*\))?[ \t]+)?(?:use|mod)[ \t]+([\w:]+)", re.MULTILINE),  # Rust
    re.compile(r"^[ \t]*require(?:_relative)?[ \t]+[\"']([^\"'\n]{1,200})[\"']", re.MULTILINE),  # Ruby
)
_SELF = ("crate::", "self::", "super::", "@/", "~/")
_FOLDER_FILES = ("__init__", "mod", "index", "lib")
_NOT_TEXT = (".lock", ".min.js", ".map", ".svg", ".png", ".jpg", ".gif", ".ico", ".pdf", ".woff2", ".snap")
_NEVER = frozenset({"package-lock.json", "pnpm-lock.yaml", "go.sum"})
_NEIGHBOURS = 3


def implied(
    job: Job, instructions: str, texts: Mapping[str, str], listing: Collection[str], most: int = 12
) -> tuple[str, ...]:
    """Files of the repository (`listing`) that would help, the likeliest first: those that the instructions name, those
    that the targets (`texts`) import or name, then neighbours. Never the job's own files, nor those of its context.
    """
    index = _Index(path for path in listing if _useful(path))
    own = {*of.writable(job), *job.context, *((job.tests,) if job.tests else ())}
    found: dict[str, None] = dict.fromkeys(index.named(instructions, ""))
    for path, text in texts.items():
        found.update(dict.fromkeys(index.imported(text[:_MOST_TEXT], path)))
    for path, text in texts.items():
        found.update(dict.fromkeys(index.named(text[:_MOST_TEXT], path)))
    for path in of.writable(job):
        found.update(dict.fromkeys(index.neighbours(path)))
    return tuple(path for path in found if path not in own)[:most]


def _useful(path: str) -> bool:
    name = path.rpartition("/")[2]
    return not name.endswith(_NOT_TEXT) and name not in _NEVER


class _Index:
    """The files by their last names, with and without their endings."""

    def __init__(self, listing: Iterator[str]) -> None:
        self._all = frozenset(listing)
        self._by_end: dict[str, list[str]] = {}
        self._by_folder: dict[str, list[str]] = {}
        for path in sorted(self._all):
            self._by_folder.setdefault(path.rpartition("/")[0], []).append(path)
            for end in (path, _stem(path)):
                parts = end.split("/")
                for count in range(1, min(len(parts), 6) + 1):
                    self._by_end.setdefault("/".join(parts[-count:]), []).append(path)

    def named(self, text: str, home: str) -> Iterator[str]:
        """Paths that are written out, from the top or from where the text lies."""
        for word in dict.fromkeys(_WORD.findall(text)):
            said = word.strip("./-").rstrip(".")
            near = _joined(home, word) if home else said
            yield from self._one(near if near in self._all else said, whole=True)

    def imported(self, text: str, home: str) -> Iterator[str]:
        for pattern in _IMPORTS:
            for name in dict.fromkeys(pattern.findall(text)):
                yield from self._module(name, home)

    def neighbours(self, path: str) -> Iterator[str]:
        """Its tests, or what it tests; then those of its folder and ending whose names begin most alike."""
        folder, _, name = path.rpartition("/")
        stem = _stem(name).removeprefix("test_").removesuffix("_test").removesuffix(".test")
        for twin in (stem, f"test_{stem}", f"{stem}_test", f"{stem}.test"):
            yield from (each for each in self._one(twin, whole=False) if each != path)
        ending = name.rpartition(".")[2]
        near = [
            each for each in self._by_folder.get(folder, ()) if each.endswith(f".{ending}") and each != path
        ]
        near.sort(key=lambda each: -_alike(each, path))
        yield from near[:_NEIGHBOURS]

    def _module(self, name: str, home: str) -> Iterator[str]:
        if name.startswith("."):
            dots = len(name) - len(name.lstrip("."))
            relative = name if "/" in name else "../" * (dots - 1) + name[dots:].replace(".", "/")
            yield from self._near(_joined(home, relative))
            return
        for start in _SELF:
            name = name.removeprefix(start)
        parts = name.replace("::", "/").strip("/")
        parts = parts if "/" in parts else parts.replace(".", "/")
        folder = home.rpartition("/")[0]
        beside = f"{folder}/{parts}" if folder else parts
        yield from (
            self._near(beside)
            or self._one(parts, whole=False)
            or self._one(parts.rpartition("/")[0], whole=False)
        )

    def _near(self, path: str) -> list[str]:
        """Exactly here, whatever its ending."""
        if path in self._all:
            return [path]
        return [each for each in self._by_end.get(path, ()) if _stem(each) == path][:1]

    def _one(self, end: str, *, whole: bool) -> list[str]:
        """The only file that ends so."""
        found = dict.fromkeys(self._by_end.get(end, ())) if end else {}
        if whole:
            found = {path: None for path in found if path == end or path.endswith(f"/{end}")}
        return list(found) if len(found) == 1 else []


def _stem(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    return folder if folder and stem in _FOLDER_FILES else f"{folder}{slash}{stem}"


def _joined(home: str, relative: str) -> str:
    return normpath(f"{home.rpartition('/')[0] or '.'}/{relative}").removeprefix("./")


def _alike(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((count for count, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
