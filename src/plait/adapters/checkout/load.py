"""From what a person named to readings: files, folders and globs."""

from __future__ import annotations

import glob
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path

from plait.adapters.checkout.kept import Kept
from plait.adapters.checkout.named import missing, new, paths_of
from plait.adapters.checkout.place import Place
from plait.core.errors import Bug, PlaitError, UserError
from plait.core.frozen import dataclass
from plait.core.plan import Problem
from plait.sources.detect import UnrecognisedError, detect
from plait.sources.formats import FORMATS, ONE_TASK_EACH, Format, load as load_format
from plait.sources.model import Document, Material, Options, Reading
from plait.sources.report import of_text
from plait.sources.taskfiles.files import aside
from plait.sources.text import decode, printable

LARGEST = 64 * 1024 * 1024  # bytes; a longer list of tasks is some other file by mistake

# Files by which a folder that holds a source is known: naming the folder is naming the file.
_WITHIN = ("tasks.md", "tasks/tasks.json", "tasks.json", "issues.jsonl", "prd.json")
_BOXES = "checklist"  # the format that is content with any box


@dataclass(frozen=True, slots=True)
class Found:
    """A source that was read: its format, its path as messages name it, and what it says."""

    format: str
    path: str
    reading: Reading


def load(  # noqa: PLR0913 - what was named, and how it is to be read
    place: Place,
    named: Sequence[str],
    *,
    where: Path,
    format_name: str | None = None,
    options: Options | None = None,
    instead: Mapping[str, str] | None = None,
    kept: Kept | None = None,
) -> tuple[list[Found], list[Problem]]:
    """Read the named sources; a missing one is a warning, all of them missing an error. Names are seen from `where`.

    `instead` has texts of files, by path, that count and not what the files say. `kept` is what was read before.
    """
    loader = _Loader(place, options or Options(), format_name, instead or {}, kept)
    problems: list[Problem] = []
    met: set[Path] = set()  # what is named twice, be it through a link, is read once
    materials: list[Material] = []
    for said in named:
        with _telling(said):
            paths = paths_of(where.resolve(), said)
            materials += loader.materials(new(paths, met), pattern=glob.has_magic(Path(said).name))
        if not paths:
            problems.append(missing(said or '""'))
    found = [loader.read(material) for material in loader.grouped(materials)]
    if not found:
        names = ", ".join(said or '""' for said in named)
        what = f"{names} {'is' if len(named) == 1 else 'are'}"
        raise UserError(
            f"nothing to read: {what} not there", hint="Name a folder, a file or a glob that exists."
        )
    return found, problems


@contextmanager
def _telling(name: str) -> Iterator[None]:
    """A name that can't be read is told with the reason."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{name} can't be read: {error.strerror or error}") from error


@contextmanager
def _blaming(what: str, path: str, hint: str = "") -> Iterator[None]:
    """Formats don't raise, whatever a text says: one that does has a bug, and the file that shows it is worth telling."""
    try:
        yield
    except PlaitError:
        raise
    except Exception as error:
        raise Bug(f"{path}: {what} failed: {type(error).__name__}: {error}", hint=hint) from error


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "."


class _Loader:
    def __init__(
        self,
        place: Place,
        options: Options,
        format_name: str | None,
        instead: Mapping[str, str],
        kept: Kept | None,
    ) -> None:
        self._kept = kept
        self._place = place
        self._instead = instead
        self._options = options
        self._format = format_name
        self._wrong: dict[str, Sequence[Problem]] = {}  # with the texts of files, by path
        self._detected: dict[str, tuple[str, Format]] = {}  # by path: looking twice would cost twice
        self._patterned: set[str] = set()

    def materials(self, paths: Sequence[Path], *, pattern: bool) -> list[Material]:
        """`pattern`: they were not named one by one, but by something like `*.md`."""
        found = [self._material(path) for path in paths]
        if pattern and len(found) > 1:
            self._patterned.update(material.path for material in found)
        return found

    def _material(self, path: Path) -> Material:
        if not path.is_dir():
            return self._of(path, [path])
        within = next((path / name for name in _WITHIN if (path / name).is_file()), None)
        if within is not None:
            return self._of(within, [within])
        files = sorted(file for file in path.glob("*.md") if file.is_file())
        return replace(self._of(path, files), folder=True)

    def _of(self, path: Path, files: Sequence[Path]) -> Material:
        return Material(self._spell(path), tuple(map(self._document, files)), options=self._options)

    def grouped(self, materials: Sequence[Material]) -> Iterator[Material]:
        """Task files that lie in one folder are one source, at the place of the first of them.

        Shells turn a pattern into names, so a file about a folder may be among them: it is no source beside others.
        """
        single = self._task_files([each for each in materials if not each.folder and not _about(each)])
        homes = {_folder(path) for path in single}
        order: dict[str, dict[str, Material]] = {}
        for material in materials:
            if _about(material) and (_folder(material.path) in homes or not self._kind(material)):
                continue
            path = _folder(material.path) if material.path in single else material.path
            order.setdefault(path, {})[material.path] = material
        for path, group in order.items():
            yield group.get(path) or self._together(path, [*group.values()])
        if not order:
            yield from materials

    def _task_files(self, files: Sequence[Material]) -> set[str]:
        """Beside task files, texts that no format knows are some too, and boxes are a task's own criteria."""
        kinds = {file.path: self._kind(file) for file in files}
        sure = {path for path, kind in kinds.items() if kind in ONE_TASK_EACH}
        homes = {_folder(path) for path in sure}
        others = {_folder(path) for path, kind in kinds.items() if kind and path not in sure} - homes
        unknown = {
            path
            for path, kind in kinds.items()
            if not kind and path.endswith(".md") and _folder(path) not in others
        }
        return (
            sure
            | unknown
            | {path for path, kind in kinds.items() if kind == _BOXES and _folder(path) in homes}
        )

    def _together(self, path: str, group: Sequence[Material]) -> Material:
        patterned = any(material.path in self._patterned for material in group)
        if len(group) == 1 and not patterned and not self._kind(group[0]):
            return group[0]
        documents = tuple(material.document for material in group)
        return Material(path, documents, options=self._options, folder=patterned)

    def _kind(self, material: Material) -> str:
        """The name of its format; empty if none knows it."""
        try:
            return self._format_of(material)[0]
        except UnrecognisedError:
            return ""

    def _format_of(self, material: Material) -> tuple[str, Format]:
        if self._format:
            with self._blaming(self._format, material):
                return self._format, load_format(self._format)
        if material.path not in self._detected:
            with _blaming("finding out its format", material.path):
                self._detected[material.path] = detect(material)
        return self._detected[material.path]

    def read(self, material: Material) -> Found:
        name, format_ = self._format_of(material)
        with self._blaming(name, material):
            beside = [self._place.top / path for path in format_.companions(material.path)]
            companions = {file.path: file for file in map(self._document, filter(Path.is_file, beside))}
            reading = self._reading(name, format_, replace(material, companions=companions))
        texts = [*(document.path for document in material.documents), *companions]
        wrong = tuple(problem for path in texts for problem in self._wrong.get(path, ()))
        return Found(name, material.path, replace(reading, problems=wrong + reading.problems))

    def _reading(self, name: str, format_: Format, material: Material) -> Reading:
        """A format of somebody else's may look at more than texts."""
        if self._kept is None or name not in FORMATS:
            return format_.read(material)
        return self._kept.reading(name, material, lambda: format_.read(material))

    def _blaming(self, name: str, material: Material) -> AbstractContextManager[None]:
        hint = "" if name in FORMATS else f"Tell whoever wrote {name}; PLAIT_DEBUG=1 shows the place."
        return _blaming(f"the format {name}", material.path, hint)

    def _document(self, path: Path) -> Document:
        name = self._spell(path)
        with _telling(name):
            about = path.stat()
            if not stat.S_ISREG(about.st_mode):  # a pipe would be waited for, a device read for ever
                raise UserError(f"{name} is no regular file", hint="Name a file or a folder.")
            if about.st_size > LARGEST:
                message = f"{name} is {about.st_size / 1e6:.0f} MB long: too long for a list of tasks"
                raise UserError(message, hint="Name another file.")
            if name in self._instead:
                found = _text(name, self._instead[name])
            elif self._kept is None:
                found = _text(name, decode(path.read_bytes()))
            else:
                found = self._kept.text(path, name, about, lambda: _text(name, decode(path.read_bytes())))
        document, self._wrong[name] = found
        return document

    def _spell(self, path: Path) -> str:
        """A way around, by `..` or by a link above the repository, may lead into it."""
        around = ".." in path.parts or not path.is_relative_to(self._place.top)
        return self._place.spell(path.resolve() if around else path)


def _text(name: str, text: str) -> tuple[Document, Sequence[Problem]]:
    """And what is wrong with it."""
    return Document(name, printable(text)), of_text(Document(name, text))


def _about(material: Material) -> bool:
    return not material.folder and material.path.endswith(".md") and aside(material.document)
