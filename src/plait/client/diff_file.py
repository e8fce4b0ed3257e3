"""One file of a diff as a whole, before or after the change: for the lines around the change, or as an image."""

from __future__ import annotations

import re
from enum import StrEnum

from plait.agents.redaction import MIN_SECRET_CHARS
from plait.client.diff import DIFF_CHUNK_BYTES, ComparedTrees
from plait.core.errors import UserError, WorldError
from plait.core.fast_dataclass import dataclass
from plait.git.objects import GITLINK_MODE
from plait.store.batch_secrets import ContentRedactor

MAX_BYTES = 8 << 20
_BINARY_CHECK_BYTES = 8000  # as git tells binary files from text
SVG_MEDIA_TYPE = "image/svg+xml"
# How a file of each type begins. Nothing is tried twice: the files are those of an agent.
_IMAGE_STARTS = {
    "image/png": rb"\x89PNG\r\n\x1a\n",
    "image/jpeg": rb"\xff\xd8\xff",
    "image/gif": rb"GIF8[79]a",
    "image/webp": rb"RIFF.{4}WEBP",
    "image/avif": rb".{4}ftypavi[fs]",
    "image/bmp": rb"BM.{4}\0{4}",
    "image/x-icon": rb"\0\0\x01\0",
    SVG_MEDIA_TYPE: rb"(?:\xef\xbb\xbf)?\s*+(?:(?><\?xml[^>]*>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[[^\]]*\])?>)\s*+)*+<svg[\s>]",
}
IMAGE_MEDIA_TYPES = tuple(_IMAGE_STARTS)
_MAX_START_BYTES = 4 << 10
# In compressed data there is little of it, which is searched for secrets in a moment.
_READABLE = re.compile(rf"[^\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]{{{MIN_SECRET_CHARS},}}")


class DiffSide(StrEnum):
    OLD = "old"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class FileVersion:
    """A side of a changed file. `blob`: if it isn't empty, the beginning of the id that its content must have."""

    path: str
    side: DiffSide
    blob: str = ""


def read_text(trees: ComparedTrees, version: FileVersion, redactor: ContentRedactor) -> bytes:
    """Read a file, redacted as in the diff, line by line; of a symbolic link, its target.

    Raises UserError if the diff doesn't have it, and WorldError if it can't be shown or isn't the expected version.
    """
    content = _read_blob(trees, version)
    if b"\0" in content[:_BINARY_CHECK_BYTES]:
        raise WorldError(f"{version.path} is a binary file")
    return _redact(content, redactor)


def read_image(trees: ComparedTrees, version: FileVersion, redactor: ContentRedactor) -> tuple[str, bytes]:
    """Return the media type, by the content, and the file; an SVG is redacted. Raises the same as `read_text`."""
    content = _read_blob(trees, version)
    media_type = find_image_type(content)
    if media_type is None:
        raise WorldError(f"{version.path} is not an image that plait can show")
    if media_type == SVG_MEDIA_TYPE:
        return media_type, _redact(content, redactor)
    readable = "\0".join(_READABLE.findall(content.decode("utf-8", "surrogateescape")))
    if redactor(readable) != readable:
        raise WorldError(f"{version.path} contains a secret and is not shown")
    return media_type, content


def find_image_type(content: bytes) -> str | None:
    """Return the media type by the first bytes, whatever the name is; None if browsers show no such images."""
    start = content[:_MAX_START_BYTES]
    found = (kind for kind, pattern in _IMAGE_STARTS.items() if re.match(pattern, start, re.DOTALL))
    return next(found, None)


def _redact(content: bytes, redactor: ContentRedactor) -> bytes:
    pieces = (content[at : at + DIFF_CHUNK_BYTES] for at in range(0, len(content), DIFF_CHUNK_BYTES))
    return b"".join(redactor.redact_lines(pieces, line_start=0))


def _read_blob(trees: ComparedTrees, version: FileVersion) -> bytes:
    blob = _find_blob(trees, version)
    if not blob.startswith(version.blob):
        raise WorldError(f"{version.path} has changed since this diff was read", hint="Reload the diff.")
    size = int(trees.git.text("cat-file", "-s", blob))
    if size > MAX_BYTES:
        raise WorldError(
            f"{version.path} is too large to be shown: it has {size / 2**20:.1f} MiB, and the limit is {MAX_BYTES >> 20} MiB"
        )
    return trees.git.run("cat-file", "blob", blob).out


def _find_blob(trees: ComparedTrees, version: FileVersion) -> str:
    """Return the id of a file in the diff. Others could be read with the same token, but are no part of the change."""
    fields = trees.git.run("diff-tree", "-r", "-z", "--no-renames", trees.base, trees.tree).fields
    for entry, path in zip(fields[::2], fields[1::2], strict=True):
        if path == version.path:
            old_mode, new_mode, old, new, _ = entry.removeprefix(":").split(" ")
            mode, blob = (old_mode, old) if version.side is DiffSide.OLD else (new_mode, new)
            if mode == GITLINK_MODE:
                raise WorldError(f"{path} is a submodule")
            if blob.strip("0"):
                return blob
    raise UserError(f"the diff has no {version.side} version of {version.path}")
