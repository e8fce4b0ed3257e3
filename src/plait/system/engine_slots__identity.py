"""Which process is meant: its number is given to another one some day, its number with its start is not."""

from __future__ import annotations

from plait.core.fast_dataclass import dataclass
from plait.system.psutil_processes import start_time


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """Worth something only on the machine, and until the reboot, that it is from."""

    pid: int
    start: int

    @property
    def is_alive(self) -> bool:
        return identify_process(self.pid) == self


def identify_process(pid: int) -> ProcessIdentity | None:
    """None if it does not run any more; what waits only for its parent holds nothing."""
    start = start_time(pid)
    return None if start is None else ProcessIdentity(pid, start)
