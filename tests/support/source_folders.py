"""Folders of task files, in memory: for formats that read many files at once."""

from __future__ import annotations

from collections.abc import Mapping

from plait.core.plan import Problem, Severity
from plait.sources.formats import load_format
from plait.sources.source_model import Document, Reading, ReadOptions, SourceEntry, SourceFiles
from plait.sources.text import to_printable


def make_source_files(
    format_name: str,
    folder: str,
    files: Mapping[str, str],
    *,
    named: bool = True,
    exclude: tuple[str, ...] = (),
) -> SourceFiles:
    """The files as a format gets them. `named`: the user named the folder, not its files."""
    documents = {name: Document(f"{folder}/{name}", to_printable(text)) for name, text in sorted(files.items())}
    wanted = load_format(format_name).companions(folder)
    companions = {document.path: document for document in documents.values() if document.path in wanted}
    listed = tuple(
        document
        for document in documents.values()
        if document.name.endswith(".md") and (named or document.path not in companions)
    )
    return SourceFiles(folder, listed, companions, ReadOptions(exclude=exclude), folder=named)


def index_by_id(reading: Reading) -> dict[str, SourceEntry]:
    return {entry.task.id: entry for entry in reading.entries}


def get_single(reading: Reading) -> SourceEntry:
    (entry,) = reading.entries
    return entry


def read_needs(entry: SourceEntry) -> dict[str, str]:
    """The dependencies of an entry, and the reason for each."""
    return {need.on: need.reason for need in entry.task.needs}


def format_problems(reading: Reading, severity: Severity | None = None) -> list[str]:
    """The problems as `file:line: message`."""
    return [format_problem(problem) for problem in reading.problems if severity in {None, problem.severity}]


def format_problem(problem: Problem) -> str:
    return f"{problem.at}: {problem.message}"
