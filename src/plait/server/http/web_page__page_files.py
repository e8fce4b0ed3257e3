"""The files of the built page, each read and packed once for as long as it stays as it is."""

from __future__ import annotations

import gzip
import hashlib
import stat
from functools import lru_cache
from pathlib import Path

from plait.core.fast_dataclass import dataclass

MAX_CACHED_FILES = 64  # files in memory
MAX_FILE_BYTES = 8 << 20  # bytes of one
GZIP_FILE_MIN_BYTES = 1 << 10  # what is shorter is not packed
_MEDIA_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".ico": "image/x-icon",
    ".js": "text/javascript",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
_COMPRESSED_SUFFIXES = frozenset({".png", ".woff2", ".ico"})


@dataclass(frozen=True, slots=True)
class PageFile:
    """`small`: gzipped, where that is worth it. `kind` without the character set."""

    content: bytes
    gzipped: bytes | None
    etag: str
    media_type: str


class PageFiles:
    """No name leads out of the folder, and none to what is hidden in it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, name: str) -> PageFile | None:
        parts = name.split("/")
        if any(not part or part.startswith(".") or "\0" in part for part in parts):
            return None
        try:
            path = self._folder.joinpath(*parts).resolve(strict=True)
            seen = path.stat()
            if not path.is_relative_to(self._folder.resolve()) or not stat.S_ISREG(seen.st_mode):
                return None
            if seen.st_size > MAX_FILE_BYTES:
                return None
            return _read_page_file(path, (seen.st_mtime_ns, seen.st_ctime_ns, seen.st_size, seen.st_ino))
        except (OSError, ValueError):  # it is not there, or no name of a file
            return None


@lru_cache(MAX_CACHED_FILES)
def _read_page_file(path: Path, _signature: tuple[int, ...]) -> PageFile:
    whole = path.read_bytes()
    worth = len(whole) >= GZIP_FILE_MIN_BYTES and path.suffix not in _COMPRESSED_SUFFIXES
    small = gzip.compress(whole, 9, mtime=0) if worth else None
    etag = f'"{hashlib.sha256(whole).hexdigest()[:32]}"'
    return PageFile(whole, small, etag, _MEDIA_TYPES.get(path.suffix, "application/octet-stream"))
