"""Where secrets are: in files, and in the memory of processes."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

import psutil

_AREA = re.compile(r"(\w+)-(\w+) rw")
_USED = re.compile(r"Rss: +[1-9]")


def search_files(folder: Path, texts: Collection[bytes]) -> dict[str, set[bytes]]:
    """The files that have some of them."""
    found = dict[str, set[bytes]]()
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            if path.is_file() and not path.is_symlink() and (hits := _find(texts, path.read_bytes())):
                found[str(path.relative_to(folder))] = hits
    return found


def search_memory(process: psutil.Process, texts: Collection[bytes]) -> set[bytes]:
    """Those that are in memory that it can write to, its own and what it shares with others."""
    found, area = set[bytes](), None
    with suppress(ProcessLookupError), Path(f"/proc/{process.pid}/mem").open("rb", buffering=0) as memory:
        for line in Path(f"/proc/{process.pid}/smaps").read_text().split("\n"):
            if "-" in line.partition(" ")[0]:
                area = _AREA.match(line)
            elif area is not None and _USED.match(line):
                start, end = (int(text, 16) for text in area.groups())
                memory.seek(start)
                with suppress(OSError):  # what is no memory of its own
                    found |= _find(texts, memory.read(end - start))
    return found


def _find(texts: Collection[bytes], data: bytes) -> set[bytes]:
    return {text for text in texts if text in data}
