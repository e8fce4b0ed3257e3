"""Port blocks leased to tasks: a file each, named by its first port, so that no two engines lease the same block.

A lease survives a crash of its engine, for the next engine of that name, until it is given back. Only when no block is left
is the oldest lease of a dead engine taken over.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Set as AbstractSet
from contextlib import suppress
from pathlib import Path

import msgspec

from plait.core.fast_dataclass import dataclass
from plait.system import engine_slots
from plait.system.atomic_files import create_file, make_private_folder, read_regular_file, replace_file
from plait.system.decoders import decode_json

BLOCK_SIZE = 10
DEFAULT_PORTS = range(20000, 30000)
_PORTS = range(1024, 65536)
_NAME = re.compile(r"[1-9][0-9]{3,4}")
_EPHEMERAL_RANGE_FILE = Path("/proc/sys/net/ipv4/ip_local_port_range")


@dataclass(frozen=True, slots=True)
class PortLease:
    """A leased block. `key` identifies the task; the rest is for people."""

    key: str
    engine: str
    batch: str
    task: str


class PortLeases:
    """The leases of one engine, which the others know as `engine`."""

    def __init__(self, folder: Path, engine: str, ports: range) -> None:
        self._folder = folder
        self._engine = engine
        self._blocks = list_blocks(ports, read_ephemeral_range())
        self._own: dict[str, int] | None = None
        self._spare: list[int] = []  # given back, and kept for this engine's next tasks: their files stay
        self.problem: OSError | None = None

    def reuse_spare(self, batch: str, task: str) -> range | None:
        """Lease a block that this engine already has, without looking at the others; None if it has none to spare."""
        lease = self._build_lease(batch, task)
        own = self._load_own()
        if lease.key in own or not self._spare:
            return None
        first = self._spare.pop()
        if not _is_bindable(first):
            self._delete(first)
            return None
        try:
            engine_slots.overwrite_in_place(self._folder / str(first), msgspec.json.encode(lease))
        except OSError:  # its file was removed: try another one
            return None
        own[lease.key] = first
        return range(first, first + BLOCK_SIZE)

    def _build_lease(self, batch: str, task: str) -> PortLease:
        key = engine_slots.digest_words(self._engine, batch, task)
        return PortLease(key, self._engine, engine_slots.make_printable(batch), engine_slots.make_printable(task))

    def lease(self, batch: str, task: str, living: Callable[[], AbstractSet[str]] | None) -> range:
        """Lease a block of ports for a task; empty if none is left. `living` returns the engines whose leases are
        respected; without it, all are.
        """
        lease = self._build_lease(batch, task)
        own = self._load_own()
        first = own.pop(lease.key, None)
        if first is None or not self._claim(first, lease):
            first = self._find_free_block(lease)
        if first is None and living is not None:
            first = self._take_over(lease, living())
        if first is None:
            return range(0)
        own[lease.key] = first
        return range(first, first + BLOCK_SIZE)

    def give_back(self, batch: str, task: str) -> None:
        """Keep the task's block for the next task of this engine; `close` frees all of them."""
        first = self._load_own().pop(engine_slots.digest_words(self._engine, batch, task), None)
        if first is not None:
            self._spare.append(first)

    def close(self) -> None:
        while self._spare:
            self._delete(self._spare.pop())

    def _delete(self, first: int) -> None:
        lease = self._read(str(first))
        if lease and lease.engine == self._engine:
            (self._folder / str(first)).unlink(missing_ok=True)

    def _load_own(self) -> dict[str, int]:
        if self._own is None:
            leases = ((first, self._read(str(first))) for first in self._list_taken())
            self._own = {lease.key: first for first, lease in leases if lease and lease.engine == self._engine}
        return self._own

    def _find_free_block(self, lease: PortLease) -> int | None:
        """Claim a free block, from a place that depends on the task: often the same ports again."""
        taken = {*self._list_taken(), *self._load_own().values(), *self._spare}
        start = int(lease.key[:8], 16) % max(1, len(self._blocks))
        for first in (*self._blocks[start:], *self._blocks[:start]):
            if first not in taken and _is_bindable(first) and self._claim(first, lease):
                return first
        return None

    def _claim(self, first: int, lease: PortLease) -> bool:
        """Claim a block. True also if no file can be written: then leases are separate within this engine only."""
        path = self._folder / str(first)
        try:
            make_private_folder(self._folder)
            create_file(path, msgspec.json.encode(lease))
        except FileExistsError:
            existing = self._read(path.name)
            is_own = existing is not None and existing.key == lease.key
            if is_own:
                with suppress(OSError):
                    os.utime(path)
            return is_own
        except OSError as error:
            self.problem = error
            return True
        self.problem = None
        return True

    def _take_over(self, lease: PortLease, living: AbstractSet[str]) -> int | None:
        for first in self._list_by_age():
            existing = self._read(str(first))
            given_up = existing is None or existing.engine not in {*living, self._engine}
            if given_up and first in self._blocks and _is_bindable(first):
                replace_file(self._folder / str(first), msgspec.json.encode(lease))
                return first
        return None

    def _list_by_age(self) -> list[int]:
        aged: list[tuple[int, int]] = []
        for first in self._list_taken():
            with suppress(OSError):
                aged.append(((self._folder / str(first)).stat().st_mtime_ns, first))
        return [first for _, first in sorted(aged)]

    def _list_taken(self) -> Iterator[int]:
        try:
            with os.scandir(self._folder) as entries:
                names = [entry.name for entry in entries]
        except OSError:  # none was leased yet, or none can be
            return
        yield from (int(name) for name in names if _NAME.fullmatch(name))

    def _read(self, name: str) -> PortLease | None:
        try:
            return decode_json(read_regular_file(self._folder / name), PortLease)
        except (OSError, *engine_slots.DECODE_ERRORS):
            return None


def list_blocks(ports: range, ephemeral: range) -> tuple[int, ...]:
    """List the first ports of all blocks. They are multiples of ten, so that blocks of different ranges never overlap.

    The ephemeral ports of the system are left out unless there are no others.
    """
    start, stop = max(ports.start, _PORTS.start), min(ports.stop, _PORTS.stop)
    all_blocks = range(-(-start // BLOCK_SIZE) * BLOCK_SIZE, stop - BLOCK_SIZE + 1, BLOCK_SIZE)
    blocks = tuple(first for first in all_blocks if first + BLOCK_SIZE <= ephemeral.start or first >= ephemeral.stop)
    return blocks or tuple(all_blocks)


def read_ephemeral_range() -> range:
    try:
        low, high = _EPHEMERAL_RANGE_FILE.read_text("ascii").split()
        return range(int(low), int(high) + 1)
    except (OSError, ValueError):
        return range(0)


def _is_bindable(first: int) -> bool:
    return all(_is_port_free(port) for port in range(first, first + BLOCK_SIZE))


def _is_port_free(port: int) -> bool:
    import socket  # few tasks want a port

    try:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.bind(("127.0.0.1", port))
    except OSError:
        return False
    return True
