"""The context of a model job: files shown besides the targets, within limits, and a guess at further useful files."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from posixpath import normpath

from plait.agents.model_jobs import job_spec
from plait.config.agent_keys import ModelConfig
from plait.core.fast_dataclass import dataclass
from plait.core.task import ModelJob

_CHARS_PER_TOKEN = 4  # estimated


@dataclass(frozen=True, slots=True)
class ContextLimits:
    """Limits for all context together. A token counts as four characters."""

    lines: int = ModelConfig.context_lines.default
    tokens: int = ModelConfig.context_tokens.default


@dataclass(frozen=True, slots=True)
class ContextFile:
    """A file as shown, without `left_out` lines at its end; `implicit`: it was guessed."""

    path: str
    text: str
    implicit: bool = False
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class JobContext:
    """The files to show; `left_out` are sentences about files that are not shown completely."""

    files: tuple[ContextFile, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def implicit(self) -> tuple[str, ...]:
        return tuple(piece.path for piece in self.files if piece.implicit)


def estimate_tokens(text: str) -> int:
    return -(-len(text) // _CHARS_PER_TOKEN)


def count_lines(text: str) -> int:
    return text.count("\n") + bool(text and not text.endswith("\n"))


def gather_context(
    given: Mapping[str, str | None], implicit: Mapping[str, str | None], limits: ContextLimits | None = None
) -> JobContext:
    """Collect the context: the `given` files in order, the last one cut to fit; then the `implicit` files that fit
    completely.

    None is a file that does not exist or can't be read.
    """
    builder = _ContextBuilder(limits or ContextLimits())
    for path, text in given.items():
        builder.add(path, text)
    for path, text in implicit.items():
        if text is not None and path not in given:
            builder.add_if_fits(path, text)
    return JobContext(tuple(builder.files), tuple(builder.left_out))


class _ContextBuilder:
    def __init__(self, limits: ContextLimits) -> None:
        self.files: list[ContextFile] = []
        self.left_out: list[str] = []
        self._limits = limits
        self._lines_left = limits.lines
        self._tokens_left = limits.tokens

    def add(self, path: str, text: str | None) -> None:
        """Add as much of a file as fits."""
        if text is None:
            self.left_out.append(f"{path} is not shown: it does not exist, or is not text")
            return
        kept = self._fitting_prefix(text)
        if kept == text:
            self._take(ContextFile(path, text))
        elif not kept:
            self.left_out.append(f"{path} is not shown: there is no room left ({self._limit_text})")
        else:
            cut = count_lines(text) - count_lines(kept)
            self._take(ContextFile(path, kept, left_out=cut))
            self.left_out.append(f"{path} is shown without its last {cut} lines ({self._limit_text})")

    def add_if_fits(self, path: str, text: str) -> None:
        if text.strip() and count_lines(text) <= self._lines_left and estimate_tokens(text) <= self._tokens_left:
            self._take(ContextFile(path, text, implicit=True))

    def _take(self, piece: ContextFile) -> None:
        self.files.append(piece)
        self._lines_left -= count_lines(piece.text)
        self._tokens_left -= estimate_tokens(piece.text)

    def _fitting_prefix(self, text: str) -> str:
        """Return as many whole lines from the start as fit."""
        if count_lines(text) <= self._lines_left and estimate_tokens(text) <= self._tokens_left:
            return text
        kept = "".join(text.splitlines(keepends=True)[: max(self._lines_left, 0)])
        max_chars = max(self._tokens_left, 0) * _CHARS_PER_TOKEN
        return kept if len(kept) <= max_chars else kept[: kept.rfind("\n", 0, max_chars) + 1]

    @property
    def _limit_text(self) -> str:
        return f"at most {self._limits.lines} lines and {self._limits.tokens} tokens of context"


_MAX_SCANNED_CHARS = 200_000  # of a file
_WORD = re.compile(r"[\w@+.-]*(?:/[\w@+.-]+)+|[\w@+-]+\.[A-Za-z]\w{0,9}")

_IMPORTS = (
    re.compile(r"^[ \t]*from[ \t]+(\.*[\w.]*)[ \t]+import\b", re.MULTILINE),  # Python
    re.compile(r"^[ \t]*import[ \t]+([\w.]+)", re.MULTILINE),  # Python, Java, Kotlin
    re.compile(r"\b(?:from|require\(|import\(?)[ \t]*[\"']([^\"'\n]{1,200})[\"']"),  # JavaScript, TypeScript, Dart
    re.compile(r"^[ \t]*#[ \t]*include[ \t]+\"([^\"\n]{1,200})\"", re.MULTILINE),  # C
    re.compile(r"^[ \t]*(?:pub(?:\([^)]*\))?[ \t]+)?(?:use|mod)[ \t]+([\w:]+)", re.MULTILINE),  # Rust
    re.compile(r"^[ \t]*require(?:_relative)?[ \t]+[\"']([^\"'\n]{1,200})[\"']", re.MULTILINE),  # Ruby
)

_OWN_PACKAGE_PREFIXES = ("crate::", "self::", "super::", "@/", "~/")
_PACKAGE_FILES = ("__init__", "mod", "index", "lib")
_NOT_TEXT = (".lock", ".min.js", ".map", ".svg", ".png", ".jpg", ".gif", ".ico", ".pdf", ".woff2", ".snap")
_LOCK_FILES = frozenset({"package-lock.json", "pnpm-lock.yaml", "go.sum"})
_MAX_NEIGHBOURS = 3


def guess_context_files(
    job: ModelJob, instructions: str, texts: Mapping[str, str], listing: Collection[str], max_files: int = 12
) -> tuple[str, ...]:
    """Guess files of the repository (`listing`) that may help, likeliest first: those that the instructions name, those
    that the targets (`texts`) import or name, then neighbours. Never the job's own files or its context.
    """
    index = _FileIndex(path for path in listing if _is_useful(path))
    own = {*job_spec.writable_paths(job), *job.context, *((job.tests,) if job.tests else ())}
    found: dict[str, None] = dict.fromkeys(index.find_named(instructions, ""))
    for path, text in texts.items():
        found.update(dict.fromkeys(index.find_imported(text[:_MAX_SCANNED_CHARS], path)))
    for path, text in texts.items():
        found.update(dict.fromkeys(index.find_named(text[:_MAX_SCANNED_CHARS], path)))
    for path in job_spec.writable_paths(job):
        found.update(dict.fromkeys(index.find_neighbours(path)))
    return tuple(path for path in found if path not in own)[:max_files]


def _is_useful(path: str) -> bool:
    name = path.rpartition("/")[2]
    return not name.endswith(_NOT_TEXT) and name not in _LOCK_FILES


class _FileIndex:
    """Finds files by the last parts of their paths, with and without suffix."""

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

    def find_named(self, text: str, home: str) -> Iterator[str]:
        """Yield the files whose paths a text names, relative to the top or to the text's file."""
        for word in dict.fromkeys(_WORD.findall(text)):
            name = word.strip("./-").rstrip(".")
            near = _join_path(home, word) if home else name
            yield from self._find_only(near if near in self._all else name, whole=True)

    def find_imported(self, text: str, home: str) -> Iterator[str]:
        for pattern in _IMPORTS:
            for name in dict.fromkeys(pattern.findall(text)):
                yield from self._find_module(name, home)

    def find_neighbours(self, path: str) -> Iterator[str]:
        """Yield a file's tests, or what it tests; then files of its folder and suffix with the longest common prefix."""
        folder, _, name = path.rpartition("/")
        stem = _stem(name).removeprefix("test_").removesuffix("_test").removesuffix(".test")
        for twin in (stem, f"test_{stem}", f"{stem}_test", f"{stem}.test"):
            yield from (each for each in self._find_only(twin, whole=False) if each != path)
        ending = name.rpartition(".")[2]
        near = [each for each in self._by_folder.get(folder, ()) if each.endswith(f".{ending}") and each != path]
        near.sort(key=lambda each: -_common_prefix_length(each, path))
        yield from near[:_MAX_NEIGHBOURS]

    def _find_module(self, name: str, home: str) -> Iterator[str]:
        if name.startswith("."):
            dots = len(name) - len(name.lstrip("."))
            relative = name if "/" in name else "../" * (dots - 1) + name[dots:].replace(".", "/")
            yield from self._find_exact(_join_path(home, relative))
            return
        for start in _OWN_PACKAGE_PREFIXES:
            name = name.removeprefix(start)
        parts = name.replace("::", "/").strip("/")
        parts = parts if "/" in parts else parts.replace(".", "/")
        folder = home.rpartition("/")[0]
        beside = f"{folder}/{parts}" if folder else parts
        yield from (
            self._find_exact(beside)
            or self._find_only(parts, whole=False)
            or self._find_only(parts.rpartition("/")[0], whole=False)
        )

    def _find_exact(self, path: str) -> list[str]:
        """Return the file at this path, with any suffix."""
        if path in self._all:
            return [path]
        return [each for each in self._by_end.get(path, ()) if _stem(each) == path][:1]

    def _find_only(self, end: str, *, whole: bool) -> list[str]:
        """Return the file whose path ends like this, if there is only one."""
        found = dict.fromkeys(self._by_end.get(end, ())) if end else {}
        if whole:
            found = {path: None for path in found if path == end or path.endswith(f"/{end}")}
        return list(found) if len(found) == 1 else []


def _stem(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    return folder if folder and stem in _PACKAGE_FILES else f"{folder}{slash}{stem}"


def _join_path(home: str, relative: str) -> str:
    return normpath(f"{home.rpartition('/')[0] or '.'}/{relative}").removeprefix("./")


def _common_prefix_length(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((count for count, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
