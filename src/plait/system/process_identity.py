"""A process and the environment tag by which plait finds the processes of an attempt.

The tag follows from the state folder and the attempt alone, so that a later engine finds the processes again.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt


@dataclass(frozen=True, slots=True)
class Process:
    """A process. `start` (about 1/100 s) distinguishes it from a later process with the same pid. `tag` is empty if
    there is none or it is not readable.
    """

    pid: int
    parent: int
    group: int
    session: int
    start: int
    is_stopped: bool = False
    is_zombie: bool = False
    tag: str = ""

    @property
    def identity(self) -> tuple[int, int]:
        return self.pid, self.start


TAG_VARIABLE = "PLAIT_MARK"


def tag_prefix(root: Path) -> str:
    """Return the prefix of the tags of all attempts under one state folder."""
    return f"{_digest(os.fsencode(root.resolve()))}-"


def attempt_tag(prefix: str, attempt: Attempt) -> str:
    name = "\0".join((attempt.batch, attempt.task, attempt.step.value, str(attempt.n)))
    return prefix + _digest(name.encode("utf-8", "surrogatepass"))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:24]
