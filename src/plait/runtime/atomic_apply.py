"""Staging: files written into a workspace all at once, and taken back all at once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Self

from plait.agents.model_jobs.safe_paths import STAGING_DIR, make_path_key
from plait.core.fast_dataclass import dataclass
from plait.runtime.atomic_apply__layer import StagedWrite, WriteLayer, hash_content
from plait.runtime.atomic_apply__stage import StagingFolder
from plait.runtime.workspace_files import FileChangedError, StagingError, WorkspaceFolder, check_path
from plait.runtime.workspace_files__style import decode_text, encode_like


class StagedWrites:
    """`left`: files that a dead process wrote and somebody changed since; they stay as they are.

    Every `apply` is a layer; they are taken back from the last to the first. A layer is on record before its first file is
    renamed into place: whoever dies meanwhile is taken back by the next one who comes here.
    """

    def __init__(self, workspace: Path) -> None:
        self.changed_since: tuple[str, ...] = ()
        self._folder = WorkspaceFolder(workspace)
        self._stage = StagingFolder(self._folder)
        self._layers: list[WriteLayer] = []
        self._known: dict[str, str | None] = {}  # the digests of files as they were last read or written here

    def __enter__(self) -> Self:
        try:
            if self._stage.open():
                self.changed_since = tuple(dict.fromkeys(self._recover(self._stage.load_record())))
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
        found = self._folder.read_bytes(check_path(path))
        self._known[path] = None if found is None else hash_content(found[0])
        text = "" if found is None else decode_text(found[0])
        if text is None:
            raise StagingError(f"{path}: it is no text in UTF-8")
        return None if found is None else text

    def apply(self, files: Mapping[str, str]) -> None:
        """All of them, or none: what can't be done is said of all files at once."""
        plans = self._plan_all(files)
        self._check_unchanged(plan.write for plan in plans)
        if not plans:
            return
        layer = WriteLayer(tuple(plan.write for plan in plans), self._list_missing_folders(plans))
        try:
            self._stage.make()
            for plan in plans:
                self._stage.put(f"{plan.write.name}.new", plan.new, plan.mode)
                if plan.old is not None:
                    self._stage.put(f"{plan.write.name}.old", plan.old, plan.mode)
            self._stage.save_record([*self._layers, layer])
        except OSError as error:
            self._discard(layer)
            raise StagingError(f"nothing was written: {error.strerror}") from error
        self._write_layer(layer)
        self._layers.append(layer)
        self._known |= {write.path: write.new for write in layer.writes}

    def undo(self) -> None:
        """Every file that was written, as it was before, whoever changed it since."""
        failed = [path for layer in reversed(self._layers) for path in self._undo_layer(layer)]
        if failed:
            raise StagingError(f"could not be put back as before: {', '.join(dict.fromkeys(failed))}")
        self._known |= {write.path: write.old for layer in reversed(self._layers) for write in layer.writes}
        self.keep()

    def keep(self) -> None:
        """What was written stays; the old contents are forgotten."""
        try:
            self._stage.remove()
        except OSError as error:
            raise StagingError(f"what lies in {STAGING_DIR} can't be removed: {error.strerror}") from error
        self._layers.clear()

    def _discard(self, layer: WriteLayer) -> None:
        """What was staged for it; all of the stage, if nothing else needs it."""
        with suppress(OSError):
            self._stage.discard(*(f"{write.name}.{age}" for write in layer.writes for age in ("new", "old")))
            if not self._layers:
                self._stage.remove()

    def _close(self) -> None:
        self._stage.close()
        self._folder.close()

    def _plan_all(self, files: Mapping[str, str]) -> list[_PlannedWrite]:
        wrong = list(_find_clashes(files))
        plans: list[_PlannedWrite] = []
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

    def _check_unchanged(self, writes: Iterable[StagedWrite]) -> None:
        changed = [write.path for write in writes if write.old != self._known.get(write.path, write.old)]
        if changed:
            raise FileChangedError(f"{', '.join(changed)}: somebody else has changed it meanwhile")

    def _plan(self, path: str, text: str, name: str) -> _PlannedWrite:
        found = self._folder.read_bytes(check_path(path))
        old, mode = (None, None) if found is None else found
        try:
            new = encode_like(text, old)
        except UnicodeEncodeError as error:
            raise StagingError(f"{path}: this is no text that can be written") from error
        return _PlannedWrite(
            StagedWrite(path, name, hash_content(new), None if old is None else hash_content(old)),
            new,
            old,
            mode,
        )

    def _list_missing_folders(self, plans: list[_PlannedWrite]) -> tuple[str, ...]:
        missing = (folder for plan in plans for folder in self._folder.missing_folders(plan.write.path))
        return tuple(sorted(dict.fromkeys(missing)))

    def _write_layer(self, layer: WriteLayer) -> None:
        try:
            for write in layer.writes:
                self._move(f"{write.name}.new", write.path)
        except (OSError, StagingError) as error:
            stuck = self._undo_layer(layer)
            why = error.message if isinstance(error, StagingError) else f"{error.strerror}"
            if stuck:
                raise StagingError(f"{why}; could not be put back as before: {', '.join(stuck)}") from error
            with suppress(OSError):
                self._stage.save_record(self._layers)
            self._discard(layer)
            raise StagingError(f"nothing was written: {why}") from error

    def _move(self, staged: str, path: str) -> None:
        with self._folder.open_parent(path, make=True) as (folder, name):
            os.rename(staged, name, src_dir_fd=self._stage.fd, dst_dir_fd=folder)
            os.fsync(folder)

    def _undo_layer(self, layer: WriteLayer) -> list[str]:
        """The paths for which that is not possible."""
        failed: list[str] = []
        for write in reversed(layer.writes):
            try:
                self._restore(write)
            except (OSError, StagingError):
                failed.append(write.path)
        self._remove_folders(layer)
        return failed

    def _restore(self, write: StagedWrite) -> None:
        if write.old is None:
            with suppress(FileNotFoundError), self._folder.open_parent(write.path) as (folder, name):
                os.unlink(name, dir_fd=folder)
        elif self._read_digest(write.path) != write.old:
            self._move(f"{write.name}.old", write.path)

    def _read_digest(self, path: str) -> str | None:
        """The digest of what is there; "" if that is no file."""
        try:
            found = self._folder.read_bytes(path)
        except StagingError:
            return ""
        return None if found is None else hash_content(found[0])

    def _remove_folders(self, layer: WriteLayer) -> None:
        for folder in reversed(layer.made):
            with suppress(OSError, StagingError), self._folder.open_parent(folder) as (above, name):
                os.rmdir(name, dir_fd=above)

    def _recover(self, layers: list[WriteLayer]) -> Iterator[str]:
        """Take back what a dead process wrote, as far as it is still what it wrote; gives the paths of the rest."""
        first = {write.path: write.old for layer in reversed(layers) for write in layer.writes}
        for layer in reversed(layers):
            for write in reversed(layer.writes):
                now = self._read_digest(write.path)
                if now != write.new:
                    yield from [] if now in {write.old, first[write.path]} else [write.path]
                    continue
                try:
                    self._restore(write)
                except FileNotFoundError:  # somebody took the old content away
                    yield write.path
            self._remove_folders(layer)


@dataclass(frozen=True, slots=True)
class _PlannedWrite:
    write: StagedWrite
    new: bytes
    old: bytes | None
    mode: int | None


def _find_clashes(files: Mapping[str, str]) -> Iterator[str]:
    """Two names of one file on systems that do not tell capitals apart, and files that would be folders as well."""
    names = sorted(files, key=lambda path: (*make_path_key(path).split("/"),))
    for one, other in pairwise(names):
        if make_path_key(one) == make_path_key(other):
            yield f"{one} and {other} are the same file on some systems"
        elif make_path_key(other).startswith(f"{make_path_key(one)}/"):
            yield f"{one} can't be a file and the folder of {other}"
