"""What a page holds in memory, by a snapshot of its heap after a garbage collection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
from playwright.sync_api import CDPSession

# Not the page's: compiled code, and what the browser records, such as the requests and the texts to undo to.
_OF_THE_BROWSER = frozenset({"code", "hidden", "native", "synthetic"})
_DETACHED = 2


@dataclass(frozen=True, slots=True)
class HeapSnapshot:
    """`mebibytes` of the page's objects; `detached` elements are in no document, but something refers to them."""

    mebibytes: float
    detached: int


def take_heap_snapshot(session: CDPSession) -> HeapSnapshot:
    chunks: list[str] = []
    session.on("HeapProfiler.addHeapSnapshotChunk", lambda event: chunks.append(event["chunk"]))
    for _ in range(3):  # what one collection frees may have kept other objects alive
        session.send("HeapProfiler.collectGarbage")
    session.send("HeapProfiler.takeHeapSnapshot", {"reportProgress": False})
    told: dict[str, Any] = msgspec.json.decode("".join(chunks))
    meta, nodes = told["snapshot"]["meta"], told["nodes"]
    fields: list[str] = meta["node_fields"]
    kinds = [meta["node_types"][0][kind] for kind in nodes[fields.index("type") :: len(fields)]]
    sizes = nodes[fields.index("self_size") :: len(fields)]
    own = sum(size for kind, size in zip(kinds, sizes, strict=True) if kind not in _OF_THE_BROWSER)
    detached = nodes[fields.index("detachedness") :: len(fields)].count(_DETACHED)
    return HeapSnapshot(own / 2**20, detached)
