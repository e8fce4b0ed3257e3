"""Find and read the sources a user named, with a cache of what was read."""

from __future__ import annotations

import glob
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

from plait.client import config_files
from plait.core.errors import Bug, PlaitError, UserError
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.task import Origin
from plait.git.location import RepoLocation
from plait.sources.formats import FORMATS, Format, UnknownFormatError, detect_format, get_entry, load_format
from plait.sources.source_model import Document, Reading, ReadOptions, SourceFiles, check_nesting, check_text
from plait.sources.task_files import is_ignored
from plait.sources.text import decode, to_printable
from plait.store.file_access import FileAccess


def _drop_known(paths: Sequence[Path], seen: set[Path]) -> list[Path]:
    """Return the paths that are new, and add them to `seen`."""
    new_paths = []
    for path in paths:
        resolved = path.resolve()
        if resolved not in seen:
            seen.add(resolved)
            new_paths.append(path)
    return new_paths


def _expand_name(where: Path, value: str) -> list[Path]:
    if not value:  # an unset variable, not the current folder
        return []
    path = where / value
    if path.exists():
        return [path]
    if not glob.has_magic(value):
        return []
    names = glob.glob(value, root_dir=where, recursive=True)  # noqa: PTH207 - it takes absolute patterns too
    return sorted(where / name for name in names)


def discover_sources(top: Path) -> list[Path]:
    """Find sources at the usual paths. A folder counts if it has files of its format."""
    paths = [path for row in FORMATS.values() if row.pointer for path in _follow_pointer(top, row.pointer)]
    for entry, pattern in ((row, pattern) for row in FORMATS.values() for pattern in row.found_at):
        for path in sorted(top.glob(pattern.rstrip("/"))):
            if path.is_dir() if pattern.endswith("/") else path.is_file():
                paths += [path] if path.is_file() or any(path.glob(entry.found_files)) else []
    database = top / _BEADS_FOLDER
    if database.is_dir() and database / "issues.jsonl" not in paths:
        from plait.system.beads_database import is_dolt_database  # few projects have one

        paths += [database] if is_dolt_database(database) else []
    return list(dict.fromkeys(paths))


def _follow_pointer(top: Path, pointer: str) -> list[Path]:
    """Return the source that another tool is working on, if its pointer names a file here."""
    if not (top / pointer).resolve().is_relative_to(top.resolve()):
        return []
    path = top / config_files.read_text_or_empty(top / pointer).strip()
    return [path] if config_files.file_exists(path) and path.resolve().is_relative_to(top.resolve()) else []


# Without the path that it leads to: the message may be read by others.
_REFUSED_MESSAGE = "this leads out of the repository, and is not read"
_REFUSED_HINT = "To allow it on this machine: plait trust."
MAX_SOURCE_BYTES = 64 * 1024 * 1024  # a larger file is not a list of tasks
_BEADS_FOLDER = ".beads"
_CHECKLIST = "checklist"  # detects any file with boxes


class LoadedSource(NamedTuple):
    """A source that was read: its format, its path as messages name it, and its content."""

    format: str
    path: str
    reading: Reading


def read_named_sources(  # noqa: PLR0913 - what was named, and how it is to be read
    location: RepoLocation,
    source_names: Sequence[str],
    *,
    where: Path,
    format_name: str | None = None,
    options: ReadOptions | None = None,
    overrides: Mapping[str, str] | None = None,
    cache: SourceCache | None = None,
    access: FileAccess | None = None,
) -> tuple[list[LoadedSource], list[Problem]]:
    """Read the named sources; a missing one is a warning, all of them missing an error. Names are relative to `where`.

    `overrides` has texts of files, by path, to use instead of their content. What `access` refuses is left out, with a
    warning; by default, that is what is outside of the checkout.
    """
    access = access or FileAccess(location)
    loader = _SourceLoader(
        location, options or ReadOptions(), format_name, overrides or {}, cache or SourceCache(), access
    )
    problems: list[Problem] = []
    seen: set[Path] = set()  # a source named twice, even through a link, is read once
    sources: list[SourceFiles] = []
    refused: dict[str, None] = {}
    for name in source_names:
        with _explain_read_errors(name):
            paths = _expand_name(where.resolve(), name)
            found = _drop_known(paths, seen)
            allowed = [path for path in found if access.allows(path)]
            sources += loader.collect(allowed, pattern=glob.has_magic(Path(name).name))
        if len(allowed) < len(found):  # only the name that was given is shown, not what it leads to
            refused[name] = None
        if not paths:
            what = "no file matches this pattern" if glob.has_magic(name) else "no such file or folder"
            problems.append(Problem(Severity.WARNING, f"{what}: skipped", Origin(name or '""')))
    loaded = [loader.read(source) for source in loader.group(sources)]
    inside = (location.relative_name(Path(path)) for path in access.refused)
    refused |= dict.fromkeys(name for name in inside if not Path(name).is_absolute())
    outside = [Problem(Severity.WARNING, _REFUSED_MESSAGE, Origin(name), _REFUSED_HINT) for name in refused]
    problems += outside
    if outside and not loaded:
        raise UserError("\n".join(f"{problem.at}: {problem.message}" for problem in outside), hint=outside[0].hint)
    if not loaded:
        names = ", ".join(name or '""' for name in source_names)
        raise UserError(f"no such source: {names}", hint="Name a folder, a file or a glob that exists.")
    return loaded, problems


@contextmanager
def _explain_read_errors(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UserError(f"{name} can't be read: {error.strerror or error}") from error


@contextmanager
def _report_format_bug(source: SourceFiles, name: str = "") -> Iterator[None]:
    """Report an exception as a bug of this format, or of detecting it, with the file: formats never raise."""
    try:
        yield
    except PlaitError:
        raise
    except Exception as error:
        built_in = not name or name in FORMATS
        hint = "" if built_in else f"Report it to the author of {name}; PLAIT_DEBUG=1 shows a traceback."
        what = f"the format {name}" if name else "detecting its format"
        raise Bug(f"{source.path}: {what} failed: {type(error).__name__}: {error}", hint=hint) from error


def _parent_folder(path: str) -> str:
    return path.rpartition("/")[0] or "."


class _SourceLoader:
    def __init__(  # noqa: PLR0913, PLR0917 - what was named, and how it is to be read
        self,
        location: RepoLocation,
        options: ReadOptions,
        format_name: str | None,
        overrides: Mapping[str, str],
        cache: SourceCache,
        access: FileAccess,
    ) -> None:
        self._cache = cache
        self._access = access
        self._location = location
        self._overrides = overrides
        self._options = options
        self._format = format_name
        self._text_problems: dict[str, Sequence[Problem]] = {}  # by path
        self._detected: dict[str, tuple[str, Format]] = {}  # by path
        self._patterned: set[str] = set()

    def collect(self, paths: Sequence[Path], *, pattern: bool) -> list[SourceFiles]:
        """Read the files of these sources. `pattern`: they were named by a pattern such as `*.md`."""
        sources = [self._collect_path(path) for path in paths]
        if pattern and len(sources) > 1:
            self._patterned.update(source.path for source in sources)
        return sources

    def _collect_path(self, path: Path) -> SourceFiles:
        folder = path if path.is_dir() else path.parent
        if folder.name == _BEADS_FOLDER and path.suffix in {"", ".jsonl"}:
            from plait.system.beads_database import is_dolt_database  # few projects have one

            if is_dolt_database(folder):
                return self._collect_database(folder)
            if path.is_dir() and not any((path / name).is_file() for name in FORMATS["beads"].folder_files):
                name = self._relative_name(path)
                raise UserError(f"{name} has no issues.jsonl", hint="Beads writes it with `bd export -o issues.jsonl`.")
        if not path.is_dir():
            return self._make_source_files(path, [path])
        names = (name for row in FORMATS.values() for name in row.folder_files)
        inner = next(
            (path / name for name in names if (path / name).is_file() and self._access.allows(path / name)), None
        )
        if inner is not None:
            return self._make_source_files(inner, [inner])
        files = sorted(file for file in path.glob("*.md") if file.is_file() and self._access.allows(file))
        return replace(self._make_source_files(path, files), folder=True)

    def _collect_database(self, folder: Path) -> SourceFiles:
        """Read what bd exports from a Dolt database now; else an existing export or backup, with a warning."""
        from plait.system import beads_database  # few projects have one

        name = self._relative_name(folder)
        why = "bd, which reads it, is not installed"
        if beads_database.find_bd() is not None:
            try:
                document = Document(f"{name}/issues.jsonl", to_printable(beads_database.read_issues(folder)))
                return SourceFiles(name, (document,), options=self._options)
            except beads_database.BeadsError as error:
                why = error.message
        message = f"{name} is a Dolt database, and {why}"
        hint = beads_database.NOT_INSTALLED_HINT
        exports = (folder / "issues.jsonl", folder / "backup" / "issues.jsonl")
        export = next((path for path in exports if path.is_file() and self._access.allows(path)), None)
        if export is None:
            raise UserError(message, hint=hint)
        source = self._make_source_files(folder, [export])
        message += "; its export is read instead, which may be old, and no status is written to it"
        problem = Problem(Severity.WARNING, message, Origin(source.document.path), hint)
        self._text_problems[source.document.path] = (*self._text_problems[source.document.path], problem)
        return source

    def _make_source_files(self, path: Path, files: Sequence[Path]) -> SourceFiles:
        return SourceFiles(self._relative_name(path), tuple(map(self._read_document, files)), options=self._options)

    def group(self, sources: Sequence[SourceFiles]) -> Iterator[SourceFiles]:
        """Combine task files in one folder into one source, at the position of the first of them.

        A shell expands a pattern, so a README may be among the names: it is not a source beside others.
        """
        task_files = self._find_task_files(
            [source for source in sources if not source.folder and not _is_folder_file(source)]
        )
        folders = {_parent_folder(path) for path in task_files}
        groups: dict[str, dict[str, SourceFiles]] = {}
        for source in sources:
            if _is_folder_file(source) and (_parent_folder(source.path) in folders or not self._format_name(source)):
                continue
            path = _parent_folder(source.path) if source.path in task_files else source.path
            groups.setdefault(path, {})[source.path] = source
        for path, group in groups.items():
            yield group.get(path) or self._combine(path, [*group.values()])
        if not groups:
            yield from sources

    def _find_task_files(self, files: Sequence[SourceFiles]) -> set[str]:
        """Return the paths of task files. Beside them, unknown texts and checklists are tasks' too."""
        formats = {file.path: self._format_name(file) for file in files}
        known = {path for path, name in formats.items() if get_entry(name).one_task_per_file}
        folders = {_parent_folder(path) for path in known}
        others = {_parent_folder(path) for path, name in formats.items() if name and path not in known} - folders
        unknown = {
            path
            for path, name in formats.items()
            if not name and path.endswith(".md") and _parent_folder(path) not in others
        }
        return (
            known
            | unknown
            | {path for path, name in formats.items() if name == _CHECKLIST and _parent_folder(path) in folders}
        )

    def _combine(self, path: str, group: Sequence[SourceFiles]) -> SourceFiles:
        patterned = any(source.path in self._patterned for source in group)
        if len(group) == 1 and not patterned and not self._format_name(group[0]):
            return group[0]
        documents = tuple(source.document for source in group)
        return SourceFiles(path, documents, options=self._options, folder=patterned)

    def _format_name(self, source: SourceFiles) -> str:
        """Return the name of the source's format; empty if no format knows it."""
        try:
            return self._find_format(source)[0]
        except UnknownFormatError:
            return ""

    def _find_format(self, source: SourceFiles) -> tuple[str, Format]:
        if self._format:
            with _report_format_bug(source, self._format):
                return self._format, load_format(self._format)
        if source.path not in self._detected:
            with _report_format_bug(source):
                self._detected[source.path] = detect_format(source)
        return self._detected[source.path]

    def read(self, source: SourceFiles) -> LoadedSource:
        name, format_ = self._find_format(source)
        with _report_format_bug(source, name):
            companion_paths = [self._location.top / path for path in format_.companions(source.path)]
            readable = [path for path in companion_paths if path.is_file() and self._access.allows(path)]
            companions = {file.path: file for file in map(self._read_document, readable)}
            reading = self._read_cached(name, format_, replace(source, companions=companions))
        problems = list[Problem]()
        for document in (*source.documents, *companions.values()):
            problems += self._text_problems.get(document.path, ())
            if name in FORMATS and not FORMATS[name].is_json and not document.is_json:
                problems += check_nesting(document)
        return LoadedSource(name, source.path, replace(reading, problems=(*problems, *reading.problems)))

    def _read_cached(self, name: str, format_: Format, source: SourceFiles) -> Reading:
        """Read a source; cached only for built-in formats: others may depend on more than the texts."""
        if name not in FORMATS:
            return format_.read(source)
        if FORMATS[name].one_task_per_file or FORMATS[name].is_json:
            return self._cache.read_source(name, source, lambda: format_.read(source))
        from plait.sources.unread_parts import add_unread_notes  # for files of text alone

        return self._cache.read_source(name, source, lambda: add_unread_notes(format_.read(source), source.documents))

    def _read_document(self, path: Path) -> Document:
        name = self._relative_name(path)
        with _explain_read_errors(name):
            file_stat = path.stat()
            if not stat.S_ISREG(file_stat.st_mode):  # a pipe would block, a device never end
                raise UserError(f"{name} is not a regular file", hint="Name a file or a folder.")
            if file_stat.st_size > MAX_SOURCE_BYTES:
                message = f"{name} is {file_stat.st_size / 1e6:.0f} MB long: too long for a list of tasks"
                raise UserError(message, hint="Name another file.")
            if name in self._overrides:
                result = _make_document(name, self._overrides[name])
            else:
                result = self._cache.read_text(
                    path, name, file_stat, lambda: _make_document(name, decode(self._read_bytes(path)))
                )
        document, self._text_problems[name] = result
        return document

    def _read_bytes(self, path: Path) -> bytes:
        """Read the file that `access` has allowed, even if a link was changed since then."""
        with os.fdopen(self._access.open(path), "rb", buffering=0) as file:
            return file.read()

    def _relative_name(self, path: Path) -> str:
        """Return the path in the repository, also of one with `..` or through a link above it."""
        is_indirect = ".." in path.parts or not path.is_relative_to(self._location.top)
        return self._location.relative_name(path.resolve() if is_indirect else path)


def _make_document(name: str, text: str) -> tuple[Document, Sequence[Problem]]:
    """Make the document and its problems."""
    return Document(name, to_printable(text)), check_text(Document(name, text))


def _is_folder_file(source: SourceFiles) -> bool:
    return not source.folder and source.path.endswith(".md") and is_ignored(source.document)


SETTLED_SECONDS = 3.0  # seconds after a change; the coarsest clocks of file systems tick every two
MAX_FILES = 20_000  # files of which something is kept
MAX_CHARACTERS = 8 << 20  # of all texts; parsed, they take many times that
K = TypeVar("K")
V = TypeVar("V")
Signature = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CachedText:
    """A file as it was read, and its problems. Without a signature it must be read again."""

    signature: Signature | None
    document: Document
    problems: Sequence[Problem]


class SizedCache(Generic[K, V]):
    """A cache of the most recent values, up to a total size. A larger value is not kept."""

    def __init__(self, capacity: int) -> None:
        self._lock = Lock()
        self._capacity = self._free = capacity
        self._values: dict[K, tuple[V, int]] = {}

    def get(self, key: K) -> V | None:
        entry = self._values.get(key)
        return None if entry is None else entry[0]

    def put(self, key: K, value: V, size: int) -> None:
        with self._lock:
            self._free += self._values.pop(key, (None, 0))[1]
            if size > self._capacity:
                return
            self._values[key] = (value, size)
            self._free -= size
            while self._free < 0 or len(self._values) > MAX_FILES:
                self._free += self._values.pop(next(iter(self._values)))[1]


class SourceCache:
    """A cache of what was read. Safe for several threads; the last one's result is kept.

    A file counts as unchanged by its signature only if its last change was over before it was read: two writes within
    one tick of the clock have the same times. A format is a function of texts, so equal texts have equal readings.
    """

    def __init__(self, now: Callable[[], float] = time.time, capacity: int = MAX_CHARACTERS) -> None:
        self._now = now
        self._texts = SizedCache[tuple[Path, str], CachedText](capacity)
        self._readings = SizedCache[tuple[str, str], tuple[SourceFiles, Reading]](capacity)

    def read_text(
        self, path: Path, name: str, file_stat: os.stat_result, read: Callable[[], tuple[Document, Sequence[Problem]]]
    ) -> tuple[Document, Sequence[Problem]]:
        """Read a file. `name` is used in messages; several may lead to one path. `file_stat` was taken before the call."""
        signature, cached = _make_signature(file_stat), self._texts.get((path, name))
        if cached is not None and cached.signature == signature:
            return cached.document, cached.problems
        read_at = self._now()
        document, problems = read()
        if cached is not None and cached.document == document:
            document = cached.document  # with all that was made of it
        changed = max(file_stat.st_mtime, file_stat.st_ctime)
        settled = signature if read_at - changed >= SETTLED_SECONDS else None
        self._texts.put((path, name), CachedText(settled, document, problems), len(document.text))
        return document, problems

    def read_source(self, format_name: str, source: SourceFiles, read: Callable[[], Reading]) -> Reading:
        key = (format_name, source.path)
        cached = self._readings.get(key)
        if cached is not None and cached[0] == source:
            return cached[1]
        reading = read()
        self._readings.put(
            key,
            (source, reading),
            sum(len(document.text) for document in (*source.documents, *source.companions.values())),
        )
        return reading


def _make_signature(file_stat: os.stat_result) -> Signature:
    return (file_stat.st_dev, file_stat.st_ino, file_stat.st_size, file_stat.st_mtime_ns, file_stat.st_ctime_ns)
