"""What was told already, in a small file: no engine tells again what an earlier one has told."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from plait.core.fast_dataclass import dataclass

DELIVERY_LOG_FILE = "told.json"
_MAX_LOG_BYTES = 1 << 20  # bytes; a larger one is not ours


@dataclass(frozen=True, slots=True)
class DeliveryCursor:
    """All tidings of the records up to `upto`, and of later ones `also`, by their ids."""

    upto: int
    also: frozenset[tuple[int, str]] = frozenset()

    def covers(self, tiding: tuple[int, str]) -> bool:
        return tiding[0] <= self.upto or tiding in self.also


class DeliveryLog:
    """Of one journal: where that was replaced, nothing was told. A file that says nothing sensible says nothing."""

    def __init__(self, folder: Path, journal: str) -> None:
        self._path, self._journal = folder / DELIVERY_LOG_FILE, journal
        self._cursors = _read_cursors(self._path, journal)

    def find(self, addressee: str) -> DeliveryCursor | None:
        """None: nobody has told this one anything yet."""
        return self._cursors.get(addressee)

    def record(self, addressee: str, mark: DeliveryCursor) -> None:
        """Raises OSError where it can't be kept; then it is known here all the same."""
        if self._cursors.get(addressee) != mark:
            self._cursors[addressee] = mark
            self._write()

    def _write(self) -> None:
        marks = {name: {"upto": mark.upto, "also": sorted(mark.also)} for name, mark in self._cursors.items()}
        fresh = self._path.with_name(f".{self._path.name}.{token_hex(4)}")
        try:
            fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with open(fd, "w", encoding="ascii") as file:  # noqa: PTH123 - a descriptor, for its mode
                json.dump({"journal": self._journal, "told": marks}, file)
            fresh.replace(self._path)
        except BaseException:
            with suppress(OSError):
                fresh.unlink(missing_ok=True)
            raise


def _read_cursors(path: Path, journal: str) -> dict[str, DeliveryCursor]:
    try:
        with path.open("rb") as file:
            said = json.loads(file.read(_MAX_LOG_BYTES))
        if said["journal"] != journal:
            return {}
        return {
            str(name): DeliveryCursor(
                int(mark["upto"]), frozenset((int(seq), str(kind)) for seq, kind in mark["also"])
            )
            for name, mark in said["told"].items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}
