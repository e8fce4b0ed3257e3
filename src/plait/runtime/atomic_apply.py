"""Writes several files into a workspace atomically, and undoes it atomically.

Each `apply` is recorded before it happens, so that this process, or the next one after a crash, can undo it.

New and old contents are in a staging folder in the workspace: on the same file system, and hidden from git.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from plait.agents.model_jobs.safe_paths import STAGING_DIR, make_path_key
from plait.core.fast_dataclass import dataclass
from plait.runtime.workspace_files import (
    FOLDER_FLAGS,
    FileChangedError,
    StagingError,
    WorkspaceFolder,
    check_path,
    decode_file,
    encode_like,
)
from plait.system.decoders import decode_json


class StagedWrites:
    """The writes to a workspace, each of which can be undone. `changed_since`: files that a dead process wrote and that
    were changed afterwards; they stay as they are.

    Every `apply` is a layer; layers are undone from the last to the first. A layer is recorded before its first file is
    renamed into place, so the next process in this workspace undoes what a killed one wrote.
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
            raise StagingError(f"can't undo what an earlier process wrote: {error.strerror}") from error
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
        """Read the text of a file in the workspace; None if there is no such file."""
        found = self._folder.read_bytes(check_path(path))
        self._known[path] = None if found is None else hash_content(found[0])
        return None if found is None else decode_file(path, found[0])

    def read_or_none(self, path: str) -> str | None:
        """Read a file; None also for a path that may not be read: writing to it reports why."""
        try:
            return self.read(path)
        except StagingError:
            return None

    def apply(self, files: Mapping[str, str]) -> None:
        """Write all files or none; the error lists every file that can't be written."""
        plans = self._plan_all(files)
        writes = tuple(plan.write for plan in plans)
        changed = [write.path for write in writes if write.old != self._known.get(write.path, write.old)]
        if changed:
            raise FileChangedError(f"{', '.join(changed)}: changed by another process meanwhile")
        if not plans:
            return
        missing = {folder for write in writes for folder in self._folder.missing_folders(write.path)}
        layer = WriteLayer(writes, tuple(sorted(missing)))
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
        """Restore every file that was written, even if it was changed since."""
        failed = [path for layer in reversed(self._layers) for path in self._undo_layer(layer)]
        if failed:
            raise StagingError(f"could not be restored: {', '.join(dict.fromkeys(failed))}")
        self._known |= {write.path: write.old for layer in reversed(self._layers) for write in layer.writes}
        self.keep()

    def keep(self) -> None:
        """Keep what was written and delete the old contents."""
        try:
            self._stage.remove()
        except OSError as error:
            raise StagingError(f"can't remove {STAGING_DIR}: {error.strerror}") from error
        self._layers.clear()

    def _discard(self, layer: WriteLayer) -> None:
        """Delete what was staged for a layer, and the staging folder if it is no longer needed."""
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

    def _plan(self, path: str, text: str, name: str) -> _PlannedWrite:
        found = self._folder.read_bytes(check_path(path))
        old, mode = (None, None) if found is None else found
        try:
            new = encode_like(text, old)
        except UnicodeEncodeError as error:
            raise StagingError(f"{path}: this text can't be written as UTF-8") from error
        return _PlannedWrite(
            StagedWrite(path, name, hash_content(new), None if old is None else hash_content(old)),
            new,
            old,
            mode,
        )

    def _write_layer(self, layer: WriteLayer) -> None:
        try:
            for write in layer.writes:
                self._move(f"{write.name}.new", write.path)
        except (OSError, StagingError) as error:
            stuck = self._undo_layer(layer)
            why = error.message if isinstance(error, StagingError) else f"{error.strerror}"
            if stuck:
                raise StagingError(f"{why}; could not be restored: {', '.join(stuck)}") from error
            with suppress(OSError):
                self._stage.save_record(self._layers)
            self._discard(layer)
            raise StagingError(f"nothing was written: {why}") from error

    def _move(self, staged: str, path: str) -> None:
        with self._folder.open_parent(path, make=True) as (folder, name):
            os.rename(staged, name, src_dir_fd=self._stage.fd, dst_dir_fd=folder)
            os.fsync(folder)

    def _undo_layer(self, layer: WriteLayer) -> list[str]:
        """Undo one layer; returns the paths for which that is not possible."""
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
        """Return the digest of the current content; None if there is no file, "" if it is something else."""
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
        """Undo what a dead process wrote, except for files changed since; yield the paths of those."""
        first = {write.path: write.old for layer in reversed(layers) for write in layer.writes}
        for layer in reversed(layers):
            for write in reversed(layer.writes):
                now = self._read_digest(write.path)
                if now != write.new:
                    yield from [] if now in {write.old, first[write.path]} else [write.path]
                    continue
                try:
                    self._restore(write)
                except FileNotFoundError:  # the old content was deleted
                    yield write.path
            self._remove_folders(layer)


@dataclass(frozen=True, slots=True)
class _PlannedWrite:
    write: StagedWrite
    new: bytes
    old: bytes | None
    mode: int | None


def _find_clashes(files: Mapping[str, str]) -> Iterator[str]:
    """Yield names that differ only in case, and files that would also have to be folders."""
    names = sorted(files, key=lambda path: (*make_path_key(path).split("/"),))
    for one, other in pairwise(names):
        if make_path_key(one) == make_path_key(other):
            yield f"{one} and {other} are the same file on some systems"
        elif make_path_key(other).startswith(f"{make_path_key(one)}/"):
            yield f"{one} can't be a file and the folder of {other}"


_STAGED_NAME = re.compile(r"[0-9]{1,6}-[0-9]{1,6}\Z")


class StagedWrite(msgspec.Struct, frozen=True, array_like=True):
    """One file of a layer. `name` is its name in the staging folder; `old` (None: no file) and `new` are digests."""

    path: str
    name: str
    new: str
    old: str | None


class WriteLayer(msgspec.Struct, frozen=True):
    """The writes of one `apply`. `made` are the folders that it creates, the outermost first."""

    writes: tuple[StagedWrite, ...]
    made: tuple[str, ...]


class _Record(msgspec.Struct):
    """The layers as stored in the staging folder."""

    layers: list[WriteLayer]
    version: int = 1


def hash_content(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def decode_layers(data: bytes) -> list[WriteLayer]:
    """Decode the layers. The agent in the workspace may have written this record, so every path is checked."""
    try:
        layers = decode_json(data, _Record).layers
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise StagingError("the record of what was being written is damaged") from error
    for layer in layers:
        for path in (*layer.made, *(write.path for write in layer.writes)):
            check_path(path)
        if not all(_STAGED_NAME.match(write.name) for write in layer.writes):
            raise StagingError("the record of what was being written is damaged")
    return layers


RECORD_FILE = "record"
_IGNORE_FILE = ".gitignore"
_IGNORE_ALL = b"*\n"
_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_DEFAULT_MODE = 0o666
_MAX_RECORD_BYTES = 16 << 20  # bytes of a record


class StagingFolder:
    """The staging folder: created at the first write, without subfolders."""

    def __init__(self, folder: WorkspaceFolder) -> None:
        self._folder = folder
        self._fd: int | None = None

    @property
    def fd(self) -> int:
        assert self._fd is not None, "nothing was staged"
        return self._fd

    def open(self) -> bool:
        """Open the existing folder; False if there is none."""
        try:
            status = os.stat(STAGING_DIR, dir_fd=self._folder.fd, follow_symlinks=False)
        except FileNotFoundError:
            return False
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            raise StagingError(f"{STAGING_DIR} is in the way: plait needs this name for a folder of its own")
        self._fd = os.open(STAGING_DIR, FOLDER_FLAGS, dir_fd=self._folder.fd)
        if not self._is_ours():
            self.close()
            raise StagingError(f"{STAGING_DIR} is in the way: plait needs this name for a folder of its own")
        return True

    def make(self) -> None:
        if self._fd is None and not self.open():
            os.mkdir(STAGING_DIR, 0o700, dir_fd=self._folder.fd)
            self._fd = os.open(STAGING_DIR, FOLDER_FLAGS, dir_fd=self._folder.fd)
        if self._read(_IGNORE_FILE) != _IGNORE_ALL:
            self.put(_IGNORE_FILE, _IGNORE_ALL, 0o600)

    def put(self, name: str, data: bytes, mode: int | None = None) -> None:
        """Write a file completely and sync it, or leave none."""
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.fd)
        fd = os.open(name, _CREATE_FLAGS, _DEFAULT_MODE, dir_fd=self.fd)
        try:
            if mode is not None:
                os.fchmod(fd, mode)
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(fd, rest) :]
            os.fsync(fd)
        except BaseException:
            self.discard(name)  # on a full disk, an incomplete file only wastes space
            raise
        finally:
            os.close(fd)

    def discard(self, *names: str) -> None:
        for name in names if self._fd is not None else ():
            with suppress(OSError):
                os.unlink(name, dir_fd=self._fd)

    def save_record(self, layers: list[WriteLayer]) -> None:
        """Record the layers: from now on, a later process would undo them."""
        if not layers:
            self.remove_record()
            return
        self.put(f"{RECORD_FILE}.new", msgspec.json.encode(_Record(layers)), 0o600)
        os.rename(f"{RECORD_FILE}.new", RECORD_FILE, src_dir_fd=self.fd, dst_dir_fd=self.fd)
        os.fsync(self.fd)

    def load_record(self) -> list[WriteLayer]:
        data = self._read(RECORD_FILE)
        return [] if data is None else decode_layers(data)

    def remove_record(self) -> None:
        with suppress(FileNotFoundError):
            os.unlink(RECORD_FILE, dir_fd=self.fd)
        os.fsync(self.fd)

    def remove(self) -> None:
        """Remove the record first and the file that hides the folder from git last: a crash leaves nothing visible."""
        if self._fd is None:
            return
        self.remove_record()
        names = [name for name in os.listdir(self._fd) if name != _IGNORE_FILE]  # noqa: PTH208 - of a descriptor
        self.discard(*names, _IGNORE_FILE)
        self.close()
        with suppress(OSError):
            os.rmdir(STAGING_DIR, dir_fd=self._folder.fd)

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _is_ours(self) -> bool:
        """Whether plait made the folder: it hides itself from git, or a process died before that file was written."""
        names, hides = set(os.listdir(self.fd)), self._read(_IGNORE_FILE)  # noqa: PTH208 - of a descriptor
        return hides == _IGNORE_ALL or (names <= {_IGNORE_FILE} and _IGNORE_ALL.startswith(hides or b""))

    def _read(self, name: str) -> bytes | None:
        try:
            fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self.fd)
        except FileNotFoundError:
            return None
        with os.fdopen(fd, "rb") as file:
            return file.read(_MAX_RECORD_BYTES)
