"""The key of a setup: the same for two workspaces exactly if its result is."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from plait.core.errors import WorldError
from plait.site.git import Git
from plait.site.outfitting.spec import Wishes

_GLOB = frozenset("*?[\\")
_PIECE = 1 << 20


def setup_key(workspace: Path, wishes: Wishes) -> str:
    """A hash of the command, what it makes, the kind of machine, and the content of all files it is said to read."""
    machine = (sys.platform, os.uname().machine)
    told = (
        1,
        wishes.setup,
        inside(wishes.makes),
        inside(wishes.reads),
        machine,
        _contents(workspace, wishes),
    )
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:40]


def furnishing_key(wishes: Wishes) -> str:
    return hashlib.sha256(json.dumps((wishes.copy, wishes.link)).encode()).hexdigest()[:40]


def inside(paths: Sequence[str]) -> tuple[str, ...]:
    """The same without ornaments. Raises WorldError for one that leads out of the workspace, or into git's own folder."""
    return tuple(_inside(path) for path in paths)


def _inside(path: str) -> str:
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if path.startswith("/") or not parts or {"..", ".git"} & {*parts} or "\0" in path:
        raise WorldError(
            f"setup can't read or make {path!r}",
            hint="setup_reads and setup_makes name files and folders inside of the workspace",
        )
    return "/".join(parts)


def _contents(workspace: Path, wishes: Wishes) -> list[tuple[str, str]]:
    plain, patterns = set(), []
    for each in inside(wishes.reads):
        if _GLOB & {*each} or (workspace / each).is_dir():
            patterns.append(f":(glob){each}")
        else:
            plain.add(each)
    if patterns:
        words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns)
        plain.update(Git(workspace).run(*words).words)
    return [(path, _content(workspace, path)) for path in sorted(plain)]


def _content(workspace: Path, path: str) -> str:
    """A link counts by what it leads to."""
    try:
        fd = os.open(workspace / path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        return f"error {error.errno}"
    with open(fd, "rb", buffering=0) as file:  # noqa: PTH123 - a descriptor, that waits for no pipe
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return "no file"
        digest = hashlib.sha256()
        while piece := file.read(_PIECE):
            digest.update(piece)
        return digest.hexdigest()
