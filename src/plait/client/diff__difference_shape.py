"""A difference as programs see it."""

from __future__ import annotations

from plait.client.diff import Diff
from plait.core.task import Attempt

MAX_JSON_DIFF_BYTES = 16 << 20  # bytes of text; a program that wants more asks for the text alone


def diff_json(batch: str, attempt: Attempt | None, found: Diff, *, brief: bool) -> dict[str, object]:
    told: dict[str, object] = {
        "batchId": batch,
        "taskId": attempt.task if attempt else None,
        "attempt": attempt.n if attempt else None,
        "base": found.base,
        "tip": found.tip or None,
        "plus": found.plus,
        "minus": found.minus,
        "files": [
            {
                "path": file.path,
                "before": file.before or None,
                "plus": file.plus,
                "minus": file.minus,
                "binary": file.binary,
            }
            for file in found.files
        ],
    }
    return told if brief else told | _diff_text_json(found)


def _diff_text_json(found: Diff) -> dict[str, object]:
    said = bytearray()
    for piece in found.read_text():
        said += piece
        if len(said) > MAX_JSON_DIFF_BYTES:
            break
    return {
        "diff": said[:MAX_JSON_DIFF_BYTES].decode("utf-8", "replace"),
        "cut": len(said) > MAX_JSON_DIFF_BYTES,
    }
