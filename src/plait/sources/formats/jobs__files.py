"""Files that jobs read, make and change, and the order that follows from them."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

from plait.core.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class FileUse:
    """A job's files: `makes` are written anew, `changes` are there before."""

    job: str
    reads: tuple[str, ...]
    makes: tuple[str, ...]
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileDependency:
    """`job` waits for `on` because of a file. `dropped`: it does not, because `on` waits for it."""

    job: str
    on: str
    file: str
    dropped: bool = False


def infer_dependencies(
    jobs: Sequence[FileUse], said: Mapping[str, Container[str]]
) -> Iterator[FileDependency]:
    """A job waits for those that make what it reads or changes, and for those that change what it only reads.

    Jobs that change one file take turns in any order. Where two wait for each other, the first one goes first; where one
    of them says itself that it waits (`said`), that counts.
    """
    found = {(edge.job, edge.on): edge for edge in _find_dependencies(jobs)}
    place = {use.job: number for number, use in enumerate(jobs)}
    for (job, on), edge in found.items():
        if job in said.get(on, ()):
            continue
        if (on, job) in found and on not in said.get(job, ()) and place[job] < place[on]:
            yield FileDependency(job, on, edge.file, dropped=True)
        else:
            yield edge


def _find_dependencies(jobs: Sequence[FileUse]) -> Iterator[FileDependency]:
    makers: dict[str, list[str]] = {}
    changers: dict[str, list[str]] = {}
    for use in jobs:
        for path in dict.fromkeys(use.makes):
            makers.setdefault(path, []).append(use.job)
        for path in dict.fromkeys(use.changes):
            changers.setdefault(path, []).append(use.job)
    for use in jobs:
        for path in dict.fromkeys((*use.reads, *use.changes)):
            before = [] if path in use.makes else makers.get(path, [])
            if path not in use.makes and path not in use.changes:
                before = [*before, *changers.get(path, [])]
            yield from (FileDependency(use.job, other, path) for other in before if other != use.job)
