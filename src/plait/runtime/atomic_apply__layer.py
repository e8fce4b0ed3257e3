"""What one `apply` does: recorded before it is done, so that it can be taken back, also by the next process."""

from __future__ import annotations

import hashlib
import json
import re

from plait.core.fast_dataclass import dataclass
from plait.runtime.workspace_files import StagingError, check_path

_NAME = re.compile(r"[0-9]{1,6}-[0-9]{1,6}\Z")


@dataclass(frozen=True, slots=True)
class StagedWrite:
    """`name` is how the stage calls the new and the old content. `old` None: there was no file. Both are digests."""

    path: str
    name: str
    new: str
    old: str | None


@dataclass(frozen=True, slots=True)
class WriteLayer:
    """`made` are the folders that it makes, the outermost first."""

    writes: tuple[StagedWrite, ...]
    made: tuple[str, ...]


def hash_content(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def encode_layers(layers: list[WriteLayer]) -> bytes:
    rows = [
        {"writes": [[w.path, w.name, w.new, w.old] for w in layer.writes], "made": list(layer.made)}
        for layer in layers
    ]
    return json.dumps({"version": 1, "layers": rows}).encode()


def decode_layers(data: bytes) -> list[WriteLayer]:
    """Whoever ran in the workspace may have written this: every path is checked like any other."""
    try:
        said = json.loads(data)
        return [_parse_layer(row) for row in said["layers"]]
    except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise StagingError("the record of what was being written is damaged") from error


def _parse_layer(row: dict[str, list[object]]) -> WriteLayer:
    made = tuple(check_path(str(path)) for path in row["made"])
    return WriteLayer(tuple(_parse_write(each) for each in row["writes"]), made)


def _parse_write(row: object) -> StagedWrite:
    if not isinstance(row, list):
        raise TypeError
    path, name, new, old = row
    if not _NAME.match(str(name)):
        raise ValueError
    return StagedWrite(check_path(str(path)), str(name), str(new), None if old is None else str(old))
