"""Problems that readers report, each with its file and line.

Sources that are one markdown file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from plait.core.plan import Problem, Severity
from plait.core.task import Origin
from plait.sources.source_model import Document, Reading, SourceFiles
from plait.sources.text import find_invalid_utf8_line


def make_warning(document: Document, line: int, message: str, hint: str = "") -> Problem:
    """`line` counts from 0, as the parser does; people count from 1."""
    return Problem(Severity.WARNING, message, Origin(document.path, line + 1), hint)


def make_error(document: Document, line: int, message: str, hint: str = "") -> Problem:
    return Problem(Severity.ERROR, message, Origin(document.path, line + 1), hint)


def make_info(document: Document, line: int, message: str, hint: str = "") -> Problem:
    return Problem(Severity.INFO, message, Origin(document.path, line + 1), hint)


def find_repeated_ids(document: Document, named: Iterable[tuple[int, str, str]]) -> Iterator[Problem]:
    """Tasks that were given another id because theirs was there before: each one's line, what is written, and its id."""
    first: dict[str, int] = {}
    for line, written, name in named:
        before = first.setdefault(written, line)
        if name != written:
            message = f"{written} is there again (first on line {before + 1}): this one is called {name}"
            yield make_warning(document, line, message, "Give it a number of its own.")


def check_text(document: Document) -> list[Problem]:
    """What is wrong with a file as a text, whatever its format."""
    problems = []
    line = find_invalid_utf8_line(document.text)
    if line is not None:
        message = "this line holds bytes that are not UTF-8; they are shown as \ufffd and kept as they are"
        problems.append(make_warning(document, line - 1, message, "Save the file as UTF-8."))
    if "\0" in document.text:
        line = document.text.count("\n", 0, document.text.index("\0"))
        problems.append(make_warning(document, line, "this line holds a NUL character", "Is this a text file?"))
    if document.is_json:
        return problems
    if document.markdown.too_deep_line is not None:
        message = "this line is nested too deep to be read, and was passed over"
        problems.append(make_warning(document, document.markdown.too_deep_line, message, "Indent less."))
    return problems


def read_single_file(reader: Callable[[Document], Reading], source: SourceFiles) -> Reading:
    """Read a source that is one file; a folder is an error."""
    if len(source.documents) == 1:
        return reader(source.document)
    message = "this format reads one file at a time, and this is a folder"
    problem = Problem(Severity.ERROR, message, Origin(source.path), "Name the file.")
    return Reading(problems=(problem,))
