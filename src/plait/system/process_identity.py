"""One process, as far as it takes to tell whose it is.

The marker: what every process of an attempt carries in its environment, and no other process does.

It follows from the state folder and the attempt's name alone, so that any later engine can find the processes again.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt


@dataclass(frozen=True, slots=True)
class Process:
    """`start`, in hundredths of a second or so, tells it from a later one of the same pid. `marker` "": none, or not ours
    to read. `dead`: it waits only for its parent to ask for its status.
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
    """What the markers of all attempts under one state folder begin with."""
    return f"{_digest(os.fsencode(root.resolve()))}-"


def attempt_tag(prefix: str, attempt: Attempt) -> str:
    name = "\0".join((attempt.batch, attempt.task, attempt.step.value, str(attempt.n)))
    return prefix + _digest(name.encode("utf-8", "surrogatepass"))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:24]
