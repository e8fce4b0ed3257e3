"""Whole files in an answer: `~~~worksplit` blocks, named fences, fences, or the bare text; and what can't be a file.

Models also write prose, placeholders for existing lines, and patches.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise

from plait.agents.model_jobs import code_blocks
from plait.agents.model_jobs.code_blocks import CodeBlock
from plait.agents.model_jobs.edit_blocks import AnswerError, parse_edits
from plait.agents.model_jobs.safe_paths import PathRefusal, make_path_key, normalize_path
from plait.core.fast_dataclass import dataclass

PROSE_SUFFIXES = (".md", ".markdown", ".mdx", ".rst", ".txt", ".adoc")
_MAX_LINE_CHARS = 200
_LEAD = r"[\s*_>\"'(\u201c\u2018]*"

# How models start to talk. Code starts with none of these words; a prose file may start with those of _OPENING.
_TALK = re.compile(
    rf"{_LEAD}(?:I|I'm|I\u2019m|I'll|Sure|Sorry|Here|Certainly|Of course|Okay|As an|As a (?:large|language|AI)|"
    r"Unfortunately|Absolutely|Apologies|Let me|Let's|Let\u2019s)\b[ ,'\u2019!]"
)

_OPENING = re.compile(
    rf"{_LEAD}(?:OK|To|The|This|That|Yes|No|It|You|We|Below|Please|Note|Hello|Hi|Great|Alright)\b[ ,'\u2019!]"
)

_SENTENCE = re.compile(r"[A-Z][a-z'\u2019]*[,!]?(?: [\w'\u2019`./-]+[,!]?){3,}[.:!?]\Z")
_BETWEEN = re.compile(r"[A-Z0-9][\w'\u2019`., /-]*[.:!?]\Z")

_ELISION = re.compile(
    r"\W*(?:\.\.\.|\u2026)\W*(?:the )?(?:rest of|existing|remaining|other|previous|same|unchanged)\b.{0,60}",
    re.IGNORECASE,
)

_ELISION_COMMENT = re.compile(
    r"(?:#|//|--|/\*|<!--|;+|%)\W*(?:(?:the|your) )?(?:rest of (?:the|this|your)|remaining|existing|previous) (?:\w+ ){0,2}"
    r"(?:code|file|methods?|functions?|implementations?|imports?|contents?|class(?:es)?|logic|tests?|module)\b"
    r"[^=;{}]{0,40}\b(?:remains?|stays?|unchanged|same|here|omitted|as before|as is)\b\W*",
    re.IGNORECASE,
)

_SEARCH, _REPLACE = re.compile(r"<{5,9} SEARCH\b"), re.compile(r">{5,9} REPLACE\b")
_DIFF = re.compile(r"(?:diff --git .*\n(?:.*\n){0,4})?--- .*\n\+\+\+ .*\n@@ -")


def looks_like_prose(path: str, line: str) -> bool:
    """Whether the line is the start of an explanation, not of a file of this name."""
    line = line[:_MAX_LINE_CHARS].strip()
    if _TALK.match(line) or path.endswith(PROSE_SUFFIXES):
        return _TALK.match(line) is not None
    code = "." in path.rpartition("/")[2]
    return _OPENING.match(line) is not None or (code and _SENTENCE.match(line) is not None)


def is_placeholder_line(line: str) -> bool:
    """Whether the line is `# ... existing code ...` or the like."""
    line = line[:_MAX_LINE_CHARS].strip()
    return _ELISION.fullmatch(line) is not None or _ELISION_COMMENT.fullmatch(line) is not None


def find_placeholder_line(path: str, text: str) -> int | None:
    """Return the number of the first line that is a placeholder for omitted ones, or None."""
    if path.endswith(PROSE_SUFFIXES):
        return None
    return next((n for n, line in enumerate(text.split("\n"), 1) if is_placeholder_line(line)), None)


def is_patch(path: str, text: str) -> bool:
    """Whether the text is a diff or search/replace blocks instead of a file."""
    if path.endswith((*PROSE_SUFFIXES, ".diff", ".patch")):
        return False
    searches = _SEARCH.search(text) is not None and _REPLACE.search(text) is not None
    return searches or _DIFF.match(text.lstrip()) is not None


def may_end_early(lines: Sequence[str]) -> bool:
    """Whether prose follows a fence in the middle, where the file may have ended."""
    return any(
        code_blocks.is_bare_fence(line) and _BETWEEN.match(after[:_MAX_LINE_CHARS].strip()) is not None
        for line, after in pairwise(lines)
    )


_MAY_BE_EMPTY = frozenset({"__init__.py", "py.typed", ".gitkeep", ".keep"})

_SHELL_LANGUAGES = frozenset(
    {"bash", "sh", "shell", "zsh", "console", "text", "txt", "output", "terminal", "plaintext"}
)

_SHELL_SUFFIXES = (".sh", ".bash", ".zsh", ".txt")
_AMBIGUOUS_FENCE = "a fence in the middle of it may be its end; put the file between two ~~~worksplit markers, or into a fence of more ticks"
CUT_OFF_MESSAGE = "the answer was cut off in the middle of this file"


@dataclass(frozen=True, slots=True)
class FileRequest:
    """The files to find in an answer. All `wanted` files must be there, in this order if they are unnamed; `allowed`
    ones may be.

    `allowed` None: any file, but each must be named.
    """

    wanted: tuple[str, ...]
    allowed: tuple[str, ...] | None

    @property
    def known(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.wanted, *(self.allowed or ()))))


def parse_files(answer: str, request: FileRequest) -> tuple[dict[str, str], tuple[AnswerError, ...]]:
    """Return the texts by path, and the errors; with errors, the files must not be used."""
    text = code_blocks.clean_answer(answer)
    if not text.strip():
        return {}, (AnswerError("the answer is empty"),)
    found = [_locate(block, request) for block in code_blocks.find_blocks(text)]
    if not found:
        return _parse_bare_text(text, request)
    taken = _FileCollector(request)
    for block, path in found:
        if path is not None:
            taken.add_named(block, path)
    taken.add_unnamed([block for block, path in found if path is None])
    return taken.files, taken.collect_errors()


def find_labelled_blocks(text: str) -> list[tuple[str, CodeBlock]]:
    """Return the non-empty blocks that a marker, or a label right before them, names."""
    found = (
        (block.path or code_blocks.parse_file_label(block.above), block) for block in code_blocks.find_blocks(text)
    )
    return [(path, block) for path, block in found if path and block.text.strip()]


def resolve_path(text: str, allowed: Collection[str] | None) -> str | AnswerError:
    """Return the allowed path that is meant, also by its unambiguous last parts; else an error."""
    path = normalize_path(text)
    if isinstance(path, PathRefusal):
        return AnswerError(path.reason, shorten_for_message(text))
    if allowed is None or path in allowed:
        return path
    short = [each for each in allowed if each.endswith(f"/{path}")]
    if len(short) == 1:
        return short[0]
    return AnswerError(f"this job may only write {', '.join(allowed)}", shorten_for_message(path))


class _FileCollector:
    def __init__(self, request: FileRequest) -> None:
        self.files: dict[str, str] = {}
        self._errors: list[AnswerError] = []
        self._request = request

    def add_named(self, block: CodeBlock, text: str) -> None:
        path = resolve_path(text, self._request.allowed)
        if isinstance(path, AnswerError):
            self._errors.append(path)
        else:
            self._add(block, path)

    def add_unnamed(self, found: Sequence[CodeBlock]) -> None:
        """Take unnamed blocks as the missing files, in order; if none is missing, ignore them."""
        missing = [path for path in self._request.wanted if path not in self.files]
        if not found or self._errors or (not missing and self.files):
            return
        if missing and len(found) > len(missing):
            found = _drop_shell_blocks(found, missing)
        if len(found) == len(missing):
            for block, path in zip(found, missing, strict=True):
                self._add(block, path)
        elif not missing:
            self._errors.append(AnswerError("a block names no file: put FILE: path before it"))
        else:
            files = "one file is" if len(missing) == 1 else f"{len(missing)} files are"
            count = "one block" if len(found) == 1 else f"{len(found)} blocks"
            message = f"{count} without a path, but {files} missing: {', '.join(missing)}"
            self._errors.append(AnswerError(message))

    def collect_errors(self) -> tuple[AnswerError, ...]:
        flaws = list(self._errors)
        if not flaws:
            flaws += [
                AnswerError("the answer does not contain this file", path)
                for path in self._request.wanted
                if path not in self.files
            ]
        return tuple(dict.fromkeys(flaws))

    def _add(self, block: CodeBlock, path: str) -> None:
        whole = path.endswith(PROSE_SUFFIXES) or not block.path
        text = block.text if whole else code_blocks.join_lines(code_blocks.strip_outer_fence(block.lines))
        if not block.closed:
            self._errors.append(AnswerError(CUT_OFF_MESSAGE, path))
        elif not block.path and not path.endswith(PROSE_SUFFIXES) and may_end_early(block.lines):
            self._errors.append(AnswerError(_AMBIGUOUS_FENCE, path))
        elif self.files.setdefault(path, text) != text:
            self._errors.append(AnswerError("the answer contains this file twice, with different texts", path))
        else:
            self._errors += check_content(path, text)
            self._errors += [
                AnswerError(f"{other} would be the same file on some systems", path)
                for other in self.files
                if other != path and make_path_key(other) == make_path_key(path)
            ]


def _locate(block: CodeBlock, request: FileRequest) -> tuple[CodeBlock, str | None]:
    """Return the block with the path that it names, if any."""
    known = request.known
    first = block.lines[0] if block.lines else ""
    path = (
        block.path
        or code_blocks.find_path_in_info(block.info, known)
        or code_blocks.find_file_header(block.above, known)
        or code_blocks.find_path_in_comment(first, known)
    )
    return block, path


def _drop_shell_blocks(found: Sequence[CodeBlock], missing: Sequence[str]) -> Sequence[CodeBlock]:
    """Leave out shell commands if the other blocks are then as many as the missing files: models often show how to run
    files in separate blocks.
    """
    if any(path.endswith(_SHELL_SUFFIXES) for path in missing):
        return found
    rest = [block for block in found if block.info.lower() not in _SHELL_LANGUAGES]
    return rest if len(rest) == len(missing) else found


def _parse_bare_text(text: str, request: FileRequest) -> tuple[dict[str, str], tuple[AnswerError, ...]]:
    if len(request.wanted) != 1:
        return {}, (AnswerError("the answer contains no block: put each file between two ~~~worksplit markers"),)
    (path,) = request.wanted
    first = next(line for line in text.split("\n") if line.strip())
    if looks_like_prose(path, first):
        message = f"the answer contains no block, and starts like prose: {shorten_for_message(first)}"
        return {}, (AnswerError(message, path),)
    whole = text.strip("\n") + "\n"
    return {path: whole}, tuple(check_content(path, whole))


def check_content(path: str, text: str) -> list[AnswerError]:
    if not text.strip() and path.rpartition("/")[2] not in _MAY_BE_EMPTY:
        return [AnswerError("the file is empty", path)]
    if not is_text(text):
        return [AnswerError("this isn't valid UTF-8 text", path)]
    if is_patch(path, text) or (not path.endswith(PROSE_SUFFIXES) and _contains_edits(text)):
        return [AnswerError("these are edits, but the whole file is needed", path)]
    line = find_placeholder_line(path, text)
    if line is not None:
        return [AnswerError(f"line {line} is a placeholder for omitted lines; the whole file is needed", path)]
    return []


def _contains_edits(text: str) -> bool:
    """Whether there are complete edits anywhere, or a cut-off one at the start."""
    found = parse_edits(text)
    return bool(found.changes) or (bool(found.errors) and text.lstrip().startswith(("FILE:", "FIND:", "AFTER:")))


def is_text(text: str) -> bool:
    """Whether it can be encoded as UTF-8 and has no null characters."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def shorten_for_message(text: str) -> str:
    line = "".join(each if each.isprintable() else "\ufffd" for each in text[:100])
    return line if len(text) <= 80 else f"{line[:79]}\u2026"
