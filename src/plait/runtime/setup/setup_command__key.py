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
from plait.git.command import Git
from plait.runtime.setup.spec import SetupOptions

_GLOB = frozenset("*?[\\")
_CHUNK_BYTES = 1 << 20


def hash_setup(workspace: Path, options: SetupOptions) -> str:
    """A hash of the command, what it makes, the kind of machine, and the content of all files it is said to read."""
    machine = (sys.platform, os.uname().machine)
    told = (
        1,
        options.setup,
        normalize_paths(options.makes),
        normalize_paths(options.reads),
        machine,
        _hash_inputs(workspace, options),
    )
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:40]


def hash_files(options: SetupOptions) -> str:
    return hashlib.sha256(json.dumps((options.copy, options.link)).encode()).hexdigest()[:40]


def normalize_paths(paths: Sequence[str]) -> tuple[str, ...]:
    """The same without ornaments. Raises WorldError for one that leads out of the workspace, or into git's own folder."""
    return tuple(_normalize_path(path) for path in paths)


def _normalize_path(path: str) -> str:
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if path.startswith("/") or not parts or {"..", ".git"} & {*parts} or "\0" in path:
        raise WorldError(
            f"setup can't read or make {path!r}",
            hint="setup_reads and setup_makes name files and folders inside of the workspace",
        )
    return "/".join(parts)


def _hash_inputs(workspace: Path, options: SetupOptions) -> list[tuple[str, str]]:
    plain, patterns = set(), []
    for each in normalize_paths(options.reads):
        if _GLOB & {*each} or (workspace / each).is_dir():
            patterns.append(f":(glob){each}")
        else:
            plain.add(each)
    if patterns:
        words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns)
        plain.update(Git(workspace).run(*words).fields)
    return [(path, _hash_file(workspace, path)) for path in sorted(plain)]


def _hash_file(workspace: Path, path: str) -> str:
    """A link counts by what it leads to."""
    try:
        fd = os.open(workspace / path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        return f"error {error.errno}"
    with open(fd, "rb", buffering=0) as file:  # noqa: PTH123 - a descriptor, that waits for no pipe
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return "no file"
        digest = hashlib.sha256()
        while piece := file.read(_CHUNK_BYTES):
            digest.update(piece)
        return digest.hexdigest()
