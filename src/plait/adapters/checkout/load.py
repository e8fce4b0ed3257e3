"""From what a person named to readings: files, folders and globs."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from plait.adapters.checkout.place import Place
from plait.core.errors import UserError
from plait.core.plan import Problem, Severity
from plait.core.task import Origin
from plait.sources.detect import detect
from plait.sources.formats import ONE_TASK_EACH, Format, load as load_format
from plait.sources.model import Document, Material, Options, Reading
from plait.sources.report import of_text
from plait.sources.text import decode, printable

LARGEST = 64 * 1024 * 1024  # bytes; a longer list of tasks is some other file by mistake

# Files by which a folder that holds a source is known: naming the folder is naming the file.
_WITHIN = ("tasks.md", "tasks/tasks.json", "tasks.json", "issues.jsonl", "prd.json")


@dataclass(frozen=True, slots=True)
class Found:
    """A source that was read: its format, its path as messages name it, and what it says."""

    format: str
    path: str
    reading: Reading


def load(
    place: Place,
    named: Sequence[str],
    *,
    where: Path,
    format_name: str | None = None,
    options: Options | None = None,
) -> tuple[list[Found], list[Problem]]:
    """Read the named sources; a missing one is a warning, all of them missing an error. Names are seen from `where`."""
    loader = _Loader(place, options or Options(), format_name)
    problems: list[Problem] = []
    materials: list[Material] = []
    for said in named:
        paths = _paths(where.resolve(), said)
        if not paths:
            problems.append(_missing(said))
        materials += map(loader.material, paths)
    found = [loader.read(material) for material in loader.grouped(materials)]
    if not found:
        what = f"{named[0]} is" if len(named) == 1 else f"{', '.join(named)} are"
        raise UserError(
            f"nothing to read: {what} not there", hint="Name a folder, a file or a glob that exists."
        )
    return found, problems


def _missing(said: str) -> Problem:
    what = "nothing fits this pattern" if glob.has_magic(said) else "there is no such file or folder"
    return Problem(Severity.WARNING, f"{what}: skipped", Origin(said))


def _paths(where: Path, said: str) -> list[Path]:
    path = where / said
    if path.exists():
        return [path]
    if not glob.has_magic(said):
        return []
    found = glob.glob(said, root_dir=where, recursive=True)  # noqa: PTH207 - it takes absolute patterns too
    return sorted(where / name for name in found)


class _Loader:
    def __init__(self, place: Place, options: Options, format_name: str | None) -> None:
        self._place = place
        self._options = options
        self._format = format_name
        self._wrong: dict[str, list[Problem]] = {}  # with the texts of files, by path
        self._detected: dict[
            str, tuple[str, Format]
        ] = {}  # of files, by path: looking twice would cost twice

    def material(self, path: Path) -> Material:
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
        """Task files that lie in one folder are one source, at the place of the first of them."""
        together: dict[str, dict[str, Document]] = {}
        order: dict[str, Material | None] = {}
        for material in materials:
            if material.folder or not self._one_task_each(material):
                order[material.path] = material
                continue
            folder = material.path.rpartition("/")[0] or "."
            order.setdefault(folder, None)
            together.setdefault(folder, {})[material.path] = material.document
        for path, whole in order.items():
            yield whole or Material(path, tuple(together[path].values()), options=self._options)

    def _one_task_each(self, material: Material) -> bool:
        return self._format_of(material)[0] in ONE_TASK_EACH

    def _format_of(self, material: Material) -> tuple[str, Format]:
        if self._format:
            return self._format, load_format(self._format)
        if material.folder or len(material.documents) != 1:
            return detect(material)
        if material.path not in self._detected:
            self._detected[material.path] = detect(material)
        return self._detected[material.path]

    def read(self, material: Material) -> Found:
        name, format_ = self._format_of(material)
        beside = [self._place.top / path for path in format_.companions(material.path)]
        companions = {file.path: file for file in map(self._document, filter(Path.is_file, beside))}
        reading = format_.read(replace(material, companions=companions))
        texts = [*(document.path for document in material.documents), *companions]
        wrong = tuple(problem for path in texts for problem in self._wrong.get(path, ()))
        return Found(name, material.path, replace(reading, problems=wrong + reading.problems))

    def _document(self, path: Path) -> Document:
        name = self._spell(path)
        try:
            size = path.stat().st_size
            if size > LARGEST:
                message = f"{name} is {size / 1e6:.0f} MB long: too long for a list of tasks"
                raise UserError(message, hint="Name another file.")
            text = decode(path.read_bytes())
        except OSError as error:
            raise UserError(f"{name} can't be read: {error.strerror or error}") from error
        self._wrong[name] = of_text(Document(name, text))
        return Document(name, printable(text))

    def _spell(self, path: Path) -> str:
        return self._place.spell(path.resolve() if ".." in path.parts else path)
