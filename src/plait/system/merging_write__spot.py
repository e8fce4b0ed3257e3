"""A file and the names around it."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from plait.core.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class TargetFile:
    """Beside the file stand its new versions, in `locks` its lock and its intent. Both paths are real ones."""

    path: Path
    locks: Path

    @property
    def lock(self) -> Path:
        return self.locks / f"{_hash_paths(self.path)}.lock"

    @property
    def intent(self) -> Path:
        return self.lock.with_suffix(".intent")

    def make_temp_path(self) -> Path:
        return self.path.with_name(self._prefix + token_hex(4))

    def list_leftovers(self) -> list[Path]:
        """New or displaced versions that stand there now; those of writers with other locks are none of ours."""
        return [path for path in self.path.parent.iterdir() if path.name.startswith(self._prefix)]

    @property
    def _prefix(self) -> str:
        # Cut, because a name has an end: 255 bytes, of which a letter may take four.
        return f".{self.path.name[:40]}.plait-{_hash_paths(self.path, self.locks)[:8]}-"


def _hash_paths(*paths: Path) -> str:
    return sha256(b"\0".join(map(os.fsencode, paths))).hexdigest()[:32]
