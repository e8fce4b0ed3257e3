"""What a model is shown besides its targets, within limits; what was left out is said."""

from __future__ import annotations

from collections.abc import Mapping

from plait.agents.model_jobs.context import guess_context_files
from plait.core.fast_dataclass import dataclass

__all__ = [
    "JobContext",
    "ContextLimits",
    "ContextFile",
    "gather_context",
    "guess_context_files",
    "count_lines",
    "estimate_tokens",
]

_CHARS_PER_TOKEN = 4  # that one token is taken to have


@dataclass(frozen=True, slots=True)
class ContextLimits:
    """Of all context together. A token is taken to be four characters."""

    lines: int = 1000
    tokens: int = 16_000


@dataclass(frozen=True, slots=True)
class ContextFile:
    """A file as it is shown. `left_out` lines at its end are not; `implicit`: nobody asked for it."""

    path: str
    text: str
    implicit: bool = False
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class JobContext:
    """`left_out` are sentences about files that are not shown, or not as a whole."""

    files: tuple[ContextFile, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def implicit(self) -> tuple[str, ...]:
        return tuple(piece.path for piece in self.files if piece.implicit)

    @property
    def lines(self) -> int:
        return sum(count_lines(piece.text) for piece in self.files)

    @property
    def tokens(self) -> int:
        return sum(estimate_tokens(piece.text) for piece in self.files)


def estimate_tokens(text: str) -> int:
    return -(-len(text) // _CHARS_PER_TOKEN)


def count_lines(text: str) -> int:
    return text.count("\n") + bool(text and not text.endswith("\n"))


def gather_context(
    given: Mapping[str, str | None], implicit: Mapping[str, str | None], limits: ContextLimits | None = None
) -> JobContext:
    """`given` first, in order, the last one that fits cut at a line; then as many `implicit` files as fit whole.

    None stands for a file that is not there or can't be read.
    """
    room = _ContextBuilder(limits or ContextLimits())
    for path, text in given.items():
        room.add(path, text)
    for path, text in implicit.items():
        if text is not None and path not in given:
            room.add_if_fits(path, text)
    return JobContext(tuple(room.files), tuple(room.left_out))


class _ContextBuilder:
    def __init__(self, limits: ContextLimits) -> None:
        self.files: list[ContextFile] = []
        self.left_out: list[str] = []
        self._limits = limits
        self._lines_left = limits.lines
        self._tokens_left = limits.tokens

    def add(self, path: str, text: str | None) -> None:
        """As much of it as fits."""
        if text is None:
            self.left_out.append(f"{path} is not shown: it is not there, or is no text")
            return
        kept = self._fitting_prefix(text)
        if kept == text:
            self._take(ContextFile(path, text))
        elif not kept:
            self.left_out.append(f"{path} is not shown: there is no room left ({self._limit_text})")
        else:
            cut = count_lines(text) - count_lines(kept)
            self._take(ContextFile(path, kept, left_out=cut))
            self.left_out.append(f"{path} is shown without its last {cut} lines ({self._limit_text})")

    def add_if_fits(self, path: str, text: str) -> None:
        if (
            text.strip()
            and count_lines(text) <= self._lines_left
            and estimate_tokens(text) <= self._tokens_left
        ):
            self._take(ContextFile(path, text, implicit=True))

    def _take(self, piece: ContextFile) -> None:
        self.files.append(piece)
        self._lines_left -= count_lines(piece.text)
        self._tokens_left -= estimate_tokens(piece.text)

    def _fitting_prefix(self, text: str) -> str:
        """Whole lines from its beginning."""
        if count_lines(text) <= self._lines_left and estimate_tokens(text) <= self._tokens_left:
            return text
        kept = "".join(text.splitlines(keepends=True)[: max(self._lines_left, 0)])
        most = max(self._tokens_left, 0) * _CHARS_PER_TOKEN
        return kept if len(kept) <= most else kept[: kept.rfind("\n", 0, most) + 1]

    @property
    def _limit_text(self) -> str:
        return f"at most {self._limits.lines} lines and {self._limits.tokens} tokens of context"
