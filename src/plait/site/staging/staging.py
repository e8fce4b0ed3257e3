"""Staging: files written into a workspace all at once, and taken back all at once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Self

from plait.agents.jobs.paths import STAGE, same_file
from plait.core.frozen import dataclass
from plait.site.staging.ground import ChangedError, Ground, StagingError, checked
from plait.site.staging.layer import Layer, Write, digest
from plait.site.staging.stage import Stage
from plait.site.staging.style import styled, text_of


class Staging:
    """`left`: files that a dead process wrote and somebody changed since; they stay as they are.

    Every `apply` is a layer; they are taken back from the last to the first. A layer is on record before its first file is
    renamed into place: whoever dies meanwhile is taken back by the next one who comes here.
    """

    def __init__(self, workspace: Path) -> None:
        self.left: tuple[str, ...] = ()
        self._ground = Ground(workspace)
        self._stage = Stage(self._ground)
        self._layers: list[Layer] = []
        self._known: dict[str, str | None] = {}  # the digests of files as they were last read or written here

    def __enter__(self) -> Self:
        try:
            if self._stage.open():
                self.left = tuple(dict.fromkeys(self._recovered(self._stage.recorded())))
                self._stage.remove()
        except OSError as error:
            self._close()
            raise StagingError(f"what was left half done can't be taken back: {error.strerror}") from error
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.keep()
            else:
                self.undo()
        finally:
            self._close()

    def read(self, path: str) -> str | None:
        """Of a file in the workspace; None if there is none."""
        found = self._ground.bytes_of(checked(path))
        self._known[path] = None if found is None else digest(found[0])
        text = "" if found is None else text_of(found[0])
        if text is None:
            raise StagingError(f"{path}: it is no text in UTF-8")
        return None if found is None else text

    def apply(self, files: Mapping[str, str]) -> None:
        """All of them, or none: what can't be done is said of all files at once."""
        plans = self._plans(files)
        self._check_unchanged(plan.write for plan in plans)
        if not plans:
            return
        layer = Layer(tuple(plan.write for plan in plans), self._to_make(plans))
        try:
            self._stage.make()
            for plan in plans:
                self._stage.put(f"{plan.write.name}.new", plan.new, plan.mode)
                if plan.old is not None:
                    self._stage.put(f"{plan.write.name}.old", plan.old, plan.mode)
            self._stage.record([*self._layers, layer])
        except OSError as error:
            self._discard(layer)
            raise StagingError(f"nothing was written: {error.strerror}") from error
        self._perform(layer)
        self._layers.append(layer)
        self._known |= {write.path: write.new for write in layer.writes}

    def undo(self) -> None:
        """Every file that was written, as it was before, whoever changed it since."""
        failed = [path for layer in reversed(self._layers) for path in self._taken_back(layer)]
        if failed:
            raise StagingError(f"could not be put back as before: {', '.join(dict.fromkeys(failed))}")
        self._known |= {write.path: write.old for layer in reversed(self._layers) for write in layer.writes}
        self.keep()

    def keep(self) -> None:
        """What was written stays; the old contents are forgotten."""
        try:
            self._stage.remove()
        except OSError as error:
            raise StagingError(f"what lies in {STAGE} can't be removed: {error.strerror}") from error
        self._layers.clear()

    def _discard(self, layer: Layer) -> None:
        """What was staged for it; all of the stage, if nothing else needs it."""
        with suppress(OSError):
            self._stage.discard(*(f"{write.name}.{age}" for write in layer.writes for age in ("new", "old")))
            if not self._layers:
                self._stage.remove()

    def _close(self) -> None:
        self._stage.close()
        self._ground.close()

    def _plans(self, files: Mapping[str, str]) -> list[_Plan]:
        wrong = list(_clashes(files))
        plans: list[_Plan] = []
        for number, (path, text) in enumerate(files.items()):
            try:
                plan = self._plan(path, text, f"{len(self._layers)}-{number}")
            except StagingError as error:
                wrong.append(error.message)
            except OSError as error:
                wrong.append(f"{path}: {error.strerror}")
            else:
                plans += [plan] if plan.new != plan.old else []
        if wrong:
            raise StagingError("; ".join(wrong))
        return plans

    def _check_unchanged(self, writes: Iterable[Write]) -> None:
        changed = [write.path for write in writes if write.old != self._known.get(write.path, write.old)]
        if changed:
            raise ChangedError(f"{', '.join(changed)}: somebody else has changed it meanwhile")

    def _plan(self, path: str, text: str, name: str) -> _Plan:
        found = self._ground.bytes_of(checked(path))
        old, mode = (None, None) if found is None else found
        try:
            new = styled(text, old)
        except UnicodeEncodeError as error:
            raise StagingError(f"{path}: this is no text that can be written") from error
        return _Plan(Write(path, name, digest(new), None if old is None else digest(old)), new, old, mode)

    def _to_make(self, plans: list[_Plan]) -> tuple[str, ...]:
        missing = (folder for plan in plans for folder in self._ground.missing_folders(plan.write.path))
        return tuple(sorted(dict.fromkeys(missing)))

    def _perform(self, layer: Layer) -> None:
        try:
            for write in layer.writes:
                self._move(f"{write.name}.new", write.path)
        except (OSError, StagingError) as error:
            stuck = self._taken_back(layer)
            why = error.message if isinstance(error, StagingError) else f"{error.strerror}"
            if stuck:
                raise StagingError(f"{why}; could not be put back as before: {', '.join(stuck)}") from error
            with suppress(OSError):
                self._stage.record(self._layers)
            self._discard(layer)
            raise StagingError(f"nothing was written: {why}") from error

    def _move(self, staged: str, path: str) -> None:
        with self._ground.folder_of(path, make=True) as (folder, name):
            os.rename(staged, name, src_dir_fd=self._stage.fd, dst_dir_fd=folder)
            os.fsync(folder)

    def _taken_back(self, layer: Layer) -> list[str]:
        """The paths for which that is not possible."""
        failed: list[str] = []
        for write in reversed(layer.writes):
            try:
                self._restore(write)
            except (OSError, StagingError):
                failed.append(write.path)
        self._remove_folders(layer)
        return failed

    def _restore(self, write: Write) -> None:
        if write.old is None:
            with suppress(FileNotFoundError), self._ground.folder_of(write.path) as (folder, name):
                os.unlink(name, dir_fd=folder)
        elif self._now(write.path) != write.old:
            self._move(f"{write.name}.old", write.path)

    def _now(self, path: str) -> str | None:
        """The digest of what is there; "" if that is no file."""
        try:
            found = self._ground.bytes_of(path)
        except StagingError:
            return ""
        return None if found is None else digest(found[0])

    def _remove_folders(self, layer: Layer) -> None:
        for folder in reversed(layer.made):
            with suppress(OSError, StagingError), self._ground.folder_of(folder) as (above, name):
                os.rmdir(name, dir_fd=above)

    def _recovered(self, layers: list[Layer]) -> Iterator[str]:
        """Take back what a dead process wrote, as far as it is still what it wrote; gives the paths of the rest."""
        first = {write.path: write.old for layer in reversed(layers) for write in layer.writes}
        for layer in reversed(layers):
            for write in reversed(layer.writes):
                now = self._now(write.path)
                if now != write.new:
                    yield from [] if now in {write.old, first[write.path]} else [write.path]
                    continue
                try:
                    self._restore(write)
                except FileNotFoundError:  # somebody took the old content away
                    yield write.path
            self._remove_folders(layer)


@dataclass(frozen=True, slots=True)
class _Plan:
    write: Write
    new: bytes
    old: bytes | None
    mode: int | None


def _clashes(files: Mapping[str, str]) -> Iterator[str]:
    """Two names of one file on systems that do not tell capitals apart, and files that would be folders as well."""
    names = sorted(files, key=lambda path: (*same_file(path).split("/"),))
    for one, other in pairwise(names):
        if same_file(one) == same_file(other):
            yield f"{one} and {other} are the same file on some systems"
        elif same_file(other).startswith(f"{same_file(one)}/"):
            yield f"{one} can't be a file and the folder of {other}"
