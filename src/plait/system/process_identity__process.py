"""One process, as far as it takes to tell whose it is."""

from __future__ import annotations

from plait.core.fast_dataclass import dataclass


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
