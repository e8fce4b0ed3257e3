"""Records where each attempt was sent and how it ended, in the engine's state folder. A later engine adopts attempts
from these records.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt
from plait.runtime.executor import DEFAULT_LIMITS, ExitedProcess, LostProcess, ProbeResult, RunningProcess
from plait.system.atomic_files import make_private_folder, replace_file
from plait.system.decoders import decode_json
from plait.system.state_paths import StateFolder

_FILE = "node.json"
_OWNER_FILE = "ray-owner"


@dataclass(frozen=True, slots=True)
class Placement:
    """Where an attempt was sent and how it ended.

    `node` is empty if its workspace was released, or if it was never sent. It has ended if there is a `code`, or a
    reason `why` it was lost. `base` is the commit that the task started from.
    """

    attempt: Attempt
    node: str
    node_name: str = ""
    base: str = ""
    transcript_bytes: int = DEFAULT_LIMITS.transcript_bytes
    code: int | None = None
    why: str | None = None
    setup_failure: str | None = None
    is_missing: bool = False
    is_outage: bool = False

    @property
    def is_running(self) -> bool:
        return self.code is None and self.why is None

    @property
    def result(self) -> ProbeResult:
        if self.code is not None:
            return ExitedProcess(self.code)
        return RunningProcess(None) if self.why is None else LostProcess(self.why, self.is_outage)


class Placements:
    def __init__(self, state: StateFolder) -> None:
        self._state = state

    def read(self, attempt: Attempt) -> Placement | None:
        return _read(self._file(attempt))

    def write(self, placement: Placement) -> None:
        path = self._file(placement.attempt)
        make_private_folder(path.parent)
        replace_file(path, msgspec.json.encode(placement))

    def remove(self, attempt: Attempt) -> None:
        self._file(attempt).unlink(missing_ok=True)

    def list_task(self, batch: str, task: str) -> list[Placement]:
        return list(_read_all(self._state.task(batch, task), f"*/{_FILE}"))

    def list_batch(self, batch: str) -> list[Placement]:
        return list(_read_all(self._state.batch(batch), f"tasks/*/*/{_FILE}"))

    def add_node(self, batch: str, node: str) -> None:
        """Record that a node has files of a batch."""
        if node not in (nodes := self.list_nodes(batch)):
            path = self._state.nodes_file(batch)
            make_private_folder(path.parent)
            replace_file(path, "\n".join([*nodes, node]).encode())

    def remove_node(self, batch: str, node: str) -> None:
        path = self._state.nodes_file(batch)
        if rest := [each for each in self.list_nodes(batch) if each != node]:
            replace_file(path, "\n".join(rest).encode())
        else:
            path.unlink(missing_ok=True)

    def list_nodes(self, batch: str) -> list[str]:
        """List the nodes that have files of a batch."""
        try:
            return self._state.nodes_file(batch).read_text().split()
        except OSError:
            return []

    def read_owner(self, make: str) -> str:
        """Return the name by which nodes know this repository. The first call stores `make` as that name."""
        path = self._state.root / _OWNER_FILE
        with suppress(OSError):
            if owner := path.read_text().strip():
                return owner
        make_private_folder(path.parent)
        replace_file(path, make.encode())
        return make

    def _file(self, attempt: Attempt) -> Path:
        return self._state.attempt(attempt).path / _FILE


def _read_all(folder: Path, pattern: str) -> Iterator[Placement]:
    for path in sorted(folder.glob(pattern)):
        placement = _read(path)
        if placement is not None:
            yield placement


def _read(path: Path) -> Placement | None:
    try:
        return decode_json(path.read_bytes(), Placement)
    except (OSError, msgspec.MsgspecError):
        return None
