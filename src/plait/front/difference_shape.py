"""A difference as programs see it."""

from __future__ import annotations

from plait.core.task import Attempt
from plait.front.difference import Difference

JSON_MOST = 16 << 20  # bytes of text; a program that wants more asks for the text alone


def difference_json(
    batch: str, attempt: Attempt | None, found: Difference, *, brief: bool
) -> dict[str, object]:
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
    return told if brief else told | _text_json(found)


def _text_json(found: Difference) -> dict[str, object]:
    said = bytearray()
    for piece in found.text():
        said += piece
        if len(said) > JSON_MOST:
            break
    return {"diff": said[:JSON_MOST].decode("utf-8", "replace"), "cut": len(said) > JSON_MOST}
