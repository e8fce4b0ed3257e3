"""An engine's lease on a node: how long the node keeps the engine's attempts without a request from it.

It counts from when the node sent the last answer that the engine reports as seen, so that a request that was delayed
can't renew it. Its end is stored in a file, for the service that follows if this one is killed.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from plait.system.atomic_files import replace_file
from plait.system.processes import read_boot_clock

ANSWERS_KEPT = 64
SAVE_SECONDS = 1.0  # between two saves; the next service may end it so much too early


class Lease:
    """A lease. `end` is by the clock of this boot. If an earlier service left a file, that overrides `seconds`."""

    def __init__(self, file: Path, seconds: float) -> None:
        self.seconds = seconds
        self.end = read_boot_clock() + seconds
        self._file = file
        self._saved_end = 0.0
        self._answers: dict[int, float] = {}  # when each was sent
        self._number = 0
        with suppress(OSError, ValueError):
            end, self.seconds = map(float, file.read_text().split())
            self.end = min(end, read_boot_clock() + self.seconds)  # the machine may have been restarted

    @property
    def has_run_out(self) -> bool:
        return read_boot_clock() > self.end

    @property
    def is_long_over(self) -> bool:
        """Whether the lease ran out so long ago that the engine is not expected to come back."""
        return read_boot_clock() > self.end + self.seconds

    def number_answer(self) -> int:
        """Return a number for an answer that is sent now."""
        self._number += 1
        self._answers[self._number] = read_boot_clock()
        while len(self._answers) > ANSWERS_KEPT:
            del self._answers[next(iter(self._answers))]
        return self._number

    def renew(self, seen: int) -> None:
        """Renew the lease, because the engine has seen this answer."""
        sent = self._answers.get(seen)
        if sent is not None:
            self.end = max(self.end, sent + self.seconds)
            self._save()

    def begin(self) -> None:
        """Start the lease again after it ran out."""
        self.end = read_boot_clock() + self.seconds
        self._save()

    def forget_answers(self) -> None:
        """Forget the answers of a lease that has run out: an engine that has seen them can't renew it."""
        self._answers.clear()

    def _save(self) -> None:
        """Save the end of the lease. If that fails, the next service ends the lease earlier."""
        if self.end > self._saved_end + SAVE_SECONDS:
            with suppress(OSError):
                replace_file(self._file, f"{self.end} {self.seconds}".encode())
                self._saved_end = self.end
