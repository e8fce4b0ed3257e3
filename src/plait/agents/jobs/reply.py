"""An answer as files: `~~~worksplit` blocks, named fences, fences, or the text as it is."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from plait.agents.jobs.edits import edits
from plait.agents.jobs.fences import Block, blocks, text_of, tidy, unwrapped
from plait.agents.jobs.flaw import Flaw
from plait.agents.jobs.heads import comment, head, label, opening
from plait.agents.jobs.paths import Refused, contained, same_file
from plait.agents.jobs.talk import PROSE, is_patch, is_talk, lazy, talks_on
from plait.core.frozen import dataclass

_MAY_BE_EMPTY = frozenset({"__init__.py", "py.typed", ".gitkeep", ".keep"})
_SHELL = frozenset(
    {"bash", "sh", "shell", "zsh", "console", "text", "txt", "output", "terminal", "plaintext"}
)
_SHELLS = (".sh", ".bash", ".zsh", ".txt")
_DOUBT = "a fence in the middle of it may be its end; put the file between two ~~~worksplit markers, or into a fence of more ticks"
CUT = "the answer ends in the middle of it: it was cut off"


@dataclass(frozen=True, slots=True)
class Request:
    """`wanted` must all be in the answer, in this order where they are not named; `allowed` may be in it.

    `allowed` None: any file, but each must be named.
    """

    wanted: tuple[str, ...]
    allowed: tuple[str, ...] | None

    @property
    def known(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.wanted, *(self.allowed or ()))))


def files(said: str, request: Request) -> tuple[dict[str, str], tuple[Flaw, ...]]:
    """Path and text of each, and what is wrong; with a flaw the files are what could be understood, and not to be used."""
    text = tidy(said)
    if not text.strip():
        return {}, (Flaw("the answer is empty"),)
    found = [_placed(block, request) for block in blocks(text)]
    if not found:
        return _raw(text, request)
    taken = _Taken(request)
    for block, path in found:
        if path is not None:
            taken.named(block, path)
    taken.unnamed([block for block, path in found if path is None])
    return taken.files, taken.all_flaws()


def labelled(text: str) -> list[tuple[str, Block]]:
    """The blocks that a marker or a label right before them names, and that hold something."""
    found = ((block.path or label(block.above), block) for block in blocks(text))
    return [(path, block) for path, block in found if path and block.text.strip()]


def resolved(said: str, allowed: Collection[str] | None) -> str | Flaw:
    """The path that is meant: one that may be written, also by its last names alone where they say which."""
    path = contained(said)
    if isinstance(path, Refused):
        return Flaw(path.reason, shown(said))
    if allowed is None or path in allowed:
        return path
    short = [each for each in allowed if each.endswith(f"/{path}")]
    if len(short) == 1:
        return short[0]
    return Flaw(f"this job may not write it; it may write {', '.join(allowed)}", shown(path))


class _Taken:
    def __init__(self, request: Request) -> None:
        self.files: dict[str, str] = {}
        self._flaws: list[Flaw] = []
        self._request = request

    def named(self, block: Block, said: str) -> None:
        path = resolved(said, self._request.allowed)
        if isinstance(path, Flaw):
            self._flaws.append(path)
        else:
            self._take(block, path)

    def unnamed(self, found: Sequence[Block]) -> None:
        """They are the files that are still wanted, in order; beside those that are not, they are talk."""
        missing = [path for path in self._request.wanted if path not in self.files]
        if not found or self._flaws or (not missing and self.files):
            return
        if missing and len(found) > len(missing):
            found = _without_shell(found, missing)
        if len(found) == len(missing):
            for block, path in zip(found, missing, strict=True):
                self._take(block, path)
        elif not missing:
            self._flaws.append(Flaw("a block does not say which file it is: put FILE: path before it"))
        else:
            files = "one file is" if len(missing) == 1 else f"{len(missing)} files are"
            count = "one block" if len(found) == 1 else f"{len(found)} blocks"
            message = f"there are {count} without a path where {files} asked for: {', '.join(missing)}"
            self._flaws.append(Flaw(message))

    def all_flaws(self) -> tuple[Flaw, ...]:
        flaws = list(self._flaws)
        if not flaws:
            flaws += [
                Flaw("the answer does not have this file", path)
                for path in self._request.wanted
                if path not in self.files
            ]
        return tuple(dict.fromkeys(flaws))

    def _take(self, block: Block, path: str) -> None:
        whole = path.endswith(PROSE) or not block.path
        text = block.text if whole else text_of(unwrapped(block.lines))
        if not block.closed:
            self._flaws.append(Flaw(CUT, path))
        elif not block.path and not path.endswith(PROSE) and talks_on(block.lines):
            self._flaws.append(Flaw(_DOUBT, path))
        elif self.files.setdefault(path, text) != text:
            self._flaws.append(Flaw("the answer has this file twice, and not the same", path))
        else:
            self._flaws += content(path, text)
            self._flaws += [
                Flaw(f"{other} would be the same file on some systems", path)
                for other in self.files
                if other != path and same_file(other) == same_file(path)
            ]


def _placed(block: Block, request: Request) -> tuple[Block, str | None]:
    """With the path that it names, if any."""
    known = request.known
    first = block.lines[0] if block.lines else ""
    path = block.path or opening(block.info, known) or head(block.above, known) or comment(first, known)
    return block, path


def _without_shell(found: Sequence[Block], missing: Sequence[str]) -> Sequence[Block]:
    """How to run files is often told in blocks of its own."""
    if any(path.endswith(_SHELLS) for path in missing):
        return found
    rest = [block for block in found if block.info.lower() not in _SHELL]
    return rest if len(rest) == len(missing) else found


def _raw(text: str, request: Request) -> tuple[dict[str, str], tuple[Flaw, ...]]:
    if len(request.wanted) != 1:
        return {}, (Flaw("there is no block in the answer: put each file between two ~~~worksplit markers"),)
    (path,) = request.wanted
    first = next(line for line in text.split("\n") if line.strip())
    if is_talk(path, first):
        message = f"there is no block in the answer, and it begins as talk does: {shown(first)}"
        return {}, (Flaw(message, path),)
    whole = text.strip("\n") + "\n"
    return {path: whole}, tuple(content(path, whole))


def content(path: str, text: str) -> list[Flaw]:
    if not text.strip() and path.rpartition("/")[2] not in _MAY_BE_EMPTY:
        return [Flaw("the file is empty", path)]
    if not writable(text):
        return [Flaw("this is no text: it has characters that no text file has", path)]
    if is_patch(path, text) or (not path.endswith(PROSE) and _edits(text)):
        return [Flaw("these are edits, where the whole file is wanted", path)]
    line = lazy(path, text)
    if line is not None:
        return [Flaw(f"line {line} stands for others that were left out; the whole file is wanted", path)]
    return []


def _edits(text: str) -> bool:
    """Whole ones anywhere, or one that was cut off right at the beginning."""
    found = edits(text)
    return bool(found.changes) or (
        bool(found.flaws) and text.lstrip().startswith(("FILE:", "FIND:", "AFTER:"))
    )


def writable(text: str) -> bool:
    """It can be a text file: UTF-8 without null characters."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def shown(said: str) -> str:
    line = "".join(each if each.isprintable() else "\ufffd" for each in said[:100])
    return line if len(said) <= 80 else f"{line[:79]}\u2026"
