"""The nodes of the cluster that an engine uses, in a file for clients to read: they change too often for the journal."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from plait.system.atomic_files import read_regular_file, replace_file
from plait.system.decoders import decode_json

if TYPE_CHECKING:
    from plait.runtime.executor import NodeStatus

NODES_FILE = "nodes.json"
_MAX_BYTES = 4 << 20  # about ten thousand nodes


class NodesFile:
    """The file with the nodes, which is only valid while the engine runs. It is no error if it can't be written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._written: Sequence[NodeStatus] = ()
        self.remove()

    def write(self, nodes: Sequence[NodeStatus]) -> None:
        """Write the nodes if they have changed."""
        if list(nodes) == list(self._written):
            return
        import msgspec  # only engines with a cluster

        self._written = nodes
        with suppress(OSError):
            replace_file(self._path, msgspec.json.encode(list(nodes)))

    def remove(self) -> None:
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


def read_nodes(path: Path) -> Sequence[NodeStatus]:
    """Return the nodes; empty if there is no cluster."""
    try:
        data = read_regular_file(path, _MAX_BYTES)
    except OSError:
        return ()
    import msgspec  # slow to import, and few engines have a cluster

    from plait.runtime.executor import NodeStatus

    with suppress(msgspec.DecodeError):  # or ValidationError, which is one
        return decode_json(data, tuple[NodeStatus, ...])
    return ()
