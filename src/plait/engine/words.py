"""What commits say, and what becomes of statuses in them: sources are plait's to write, not an agent's."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from plait.core.task import Attempt, Task
from plait.kit import Kit
from plait.ports import Author, MergeWords, Restore
from plait.sources.address import Address
from plait.sources.text import decode, encode

_OTHER = re.compile(r"[^a-z0-9]+")
_LONGEST = 72  # characters of a subject
Reader = Callable[[str], bytes | None]
Edit = Callable[[Reader], Mapping[str, bytes]]


def author(kit: Kit, attempt: Attempt) -> Author:
    task = kit.by_id[attempt.task]
    return Author(
        _subject(task), (*_trailers(attempt.batch, attempt.task), ("Plait-Attempt", str(attempt.n)))
    )


def merge_words(kit: Kit, batch: str, task: str, n: int, edit: Edit | None = None) -> MergeWords:
    message = f"Merge {_subject(kit.by_id[task])}"
    return MergeWords(message, (*_trailers(batch, task), ("Plait-Merge", str(n))), edit)


def restore(kit: Kit) -> Restore:
    """For files that tasks were read from: the agent's text with the statuses that the base had."""
    addresses = [Address.of(source) for source in kit.sources]
    files = {task.origin.file for task in kit.tasks if task.origin is not None}

    def back(path: str, base: bytes, new: bytes) -> bytes:
        address = _teller(addresses, path)
        if address is None:
            return new
        from plait.sources.statuses import STATUS_FILES, restored  # noqa: PLC0415 - formats are many, and few agents touch sources

        if path not in files and path.rpartition("/")[2] != STATUS_FILES.get(address.format):
            return new
        return encode(restored(address.format, path, decode(base), decode(new)))

    return back


def _teller(addresses: Sequence[Address], path: str) -> Address | None:
    around = [each for each in addresses if each.path in {".", path} or path.startswith(f"{each.path}/")]
    return max(around, key=lambda each: len(each.path), default=None)


def _trailers(batch: str, task: str) -> tuple[tuple[str, str], ...]:
    return (("Plait-Batch", batch), ("Plait-Task", task))


def _subject(task: Task) -> str:
    words = " ".join((task.title or task.id).split())
    known = task.id in words or _OTHER.sub("-", words.lower()).strip("-") == task.id
    subject = words if known else f"{task.id}: {words}"
    return subject if len(subject) <= _LONGEST else f"{subject[: _LONGEST - 1].rstrip()}…"
