"""Sends the ignored files of a checkout that workspaces on other machines are set up with, as an archive.

On the node they are put into a folder that stands for the checkout, where everything is ignored: the setup of a
workspace then copies and links them as it does on the engine's machine.
"""

from __future__ import annotations

import io
import os
import tarfile
import zlib
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from plait.core.errors import WorldError
from plait.git.command import Git
from plait.git.interfaces import WorkspaceSetup
from plait.runtime.ray.wire import MissingFilesError
from plait.runtime.setup.safe_copy import find_checkout_top, find_include_file, select_files
from plait.system.atomic_files import make_private_folder
from plait.system.disk import remove_tree

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

MAX_BYTES = 1 << 30


def pack_ignored_files(checkout: Path, setup: WorkspaceSetup) -> bytes:
    """Pack the files; empty if none are declared, or none exist. Raises WorldError or OSError."""
    top = find_checkout_top(checkout)
    if top is None:
        return b""
    include = find_include_file(top)
    if not (setup.copy or setup.link or include):
        return b""
    paths = select_files(top, setup.copy, include) + select_files(top, setup.link)
    if not paths:
        return b""
    if include is not None:
        paths.append(include.name)
    buffer = _LimitedBuffer()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
        for path in sorted({*paths}):
            _add(archive, top, path)
    return buffer.getvalue()


class _LimitedBuffer(io.BytesIO):
    def write(self, data: Buffer) -> int:
        if self.tell() + memoryview(data).nbytes > MAX_BYTES:
            raise WorldError(
                f"the ignored files that workspaces get take more than {MAX_BYTES >> 20} MB",
                hint="Name fewer files in workspace.copy and workspace.link, or make them with workspace.setup.",
            )
        return super().write(data)


def _add(archive: tarfile.TarFile, top: Path, path: str) -> None:
    """Add a file, a link within the checkout, or a folder with such. Anything else is left out."""

    def keep(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        if member.issym():
            target = os.path.normpath(os.path.join(os.path.dirname(member.name), member.linkname))  # noqa: PTH118, PTH120
            return None if target.startswith(("/", "../")) or target == ".." else member
        return member if member.isfile() or member.islnk() or member.isdir() else None

    archive.add(top / path, arcname=path.rstrip("/"), filter=keep)


def unpack_ignored_files(checkout: Path, data: bytes | None) -> None:
    """Make the folder that stands for the checkout, unless it exists: attempts may be using it.

    No member of the archive can be put outside of it, or link there. Raises WorldError; MissingFilesError if there is
    neither a folder nor an archive.
    """
    if checkout.exists():
        return
    if data is None:
        raise MissingFilesError(f"there is no {checkout}")
    incoming = checkout.with_name(f".{checkout.name}.{token_hex(4)}")  # so that a killed service leaves no half of one
    try:
        make_private_folder(incoming)
        Git(incoming).run("init", "--quiet", "--template=")
        (incoming / ".git" / "info").mkdir(exist_ok=True)
        (incoming / ".git" / "info" / "exclude").write_text("*\n")
        if data:
            with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
                archive.extractall(incoming, filter="data")
        try:
            incoming.rename(checkout)
        except OSError:  # another request has made it
            if not checkout.exists():
                raise
    except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
        raise WorldError(f"the ignored files can't be unpacked in {checkout}: {error}") from error
    finally:
        remove_tree(incoming)
