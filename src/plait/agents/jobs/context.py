"""What a model is shown besides its targets, within limits; what was left out is said."""

from __future__ import annotations

from collections.abc import Mapping

from plait.agents.jobs.implicit import implied
from plait.core.frozen import dataclass

__all__ = ["Context", "Limits", "Piece", "gather", "implied", "lines", "tokens"]

_CHARACTERS = 4  # that one token is taken to have


@dataclass(frozen=True, slots=True)
class Limits:
    """Of all context together. A token is taken to be four characters."""

    lines: int = 1000
    tokens: int = 16_000


@dataclass(frozen=True, slots=True)
class Piece:
    """A file as it is shown. `left_out` lines at its end are not; `implicit`: nobody asked for it."""

    path: str
    text: str
    implicit: bool = False
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Context:
    """`left_out` are sentences about files that are not shown, or not as a whole."""

    pieces: tuple[Piece, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def implicit(self) -> tuple[str, ...]:
        return tuple(piece.path for piece in self.pieces if piece.implicit)

    @property
    def lines(self) -> int:
        return sum(lines(piece.text) for piece in self.pieces)

    @property
    def tokens(self) -> int:
        return sum(tokens(piece.text) for piece in self.pieces)


def tokens(text: str) -> int:
    return -(-len(text) // _CHARACTERS)


def lines(text: str) -> int:
    return text.count("\n") + bool(text and not text.endswith("\n"))


def gather(
    given: Mapping[str, str | None], implicit: Mapping[str, str | None], limits: Limits | None = None
) -> Context:
    """`given` first, in order, the last one that fits cut at a line; then as many `implicit` files as fit whole.

    None stands for a file that is not there or can't be read.
    """
    room = _Room(limits or Limits())
    for path, text in given.items():
        room.add(path, text)
    for path, text in implicit.items():
        if text is not None and path not in given:
            room.offer(path, text)
    return Context(tuple(room.pieces), tuple(room.left_out))


class _Room:
    def __init__(self, limits: Limits) -> None:
        self.pieces: list[Piece] = []
        self.left_out: list[str] = []
        self._limits = limits
        self._lines = limits.lines
        self._tokens = limits.tokens

    def add(self, path: str, text: str | None) -> None:
        """As much of it as fits."""
        if text is None:
            self.left_out.append(f"{path} is not shown: it is not there, or is no text")
            return
        kept = self._kept(text)
        if kept == text:
            self._take(Piece(path, text))
        elif not kept:
            self.left_out.append(f"{path} is not shown: there is no room left ({self._said})")
        else:
            cut = lines(text) - lines(kept)
            self._take(Piece(path, kept, left_out=cut))
            self.left_out.append(f"{path} is shown without its last {cut} lines ({self._said})")

    def offer(self, path: str, text: str) -> None:
        if text.strip() and lines(text) <= self._lines and tokens(text) <= self._tokens:
            self._take(Piece(path, text, implicit=True))

    def _take(self, piece: Piece) -> None:
        self.pieces.append(piece)
        self._lines -= lines(piece.text)
        self._tokens -= tokens(piece.text)

    def _kept(self, text: str) -> str:
        """Whole lines from its beginning."""
        if lines(text) <= self._lines and tokens(text) <= self._tokens:
            return text
        kept = "".join(text.splitlines(keepends=True)[: max(self._lines, 0)])
        most = max(self._tokens, 0) * _CHARACTERS
        return kept if len(kept) <= most else kept[: kept.rfind("\n", 0, most) + 1]

    @property
    def _said(self) -> str:
        return f"at most {self._limits.lines} lines and {self._limits.tokens} tokens of context"
