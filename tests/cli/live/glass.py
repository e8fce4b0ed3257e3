"""A terminal in small: it understands what the screen sends, and nothing else, so that what is seen can be compared."""

from __future__ import annotations

import io
import re

_PARTS = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|([\r\n])|([^\x1b\r\n]+)")


class Glass(io.TextIOBase):
    """Letters are taken to be one cell wide. `above` is what the terminal showed before."""

    def __init__(self, width: int, *above: str) -> None:
        super().__init__()
        self.width = width
        self._rows = [list(row) for row in above]
        self._row, self._column = len(above), 0
        self.cursor = True

    @property
    def rows(self) -> list[str]:
        shown = ["".join(row).rstrip() for row in self._rows]
        while shown and not shown[-1]:
            shown.pop()
        return shown

    def write(self, text: str) -> int:
        assert "".join(found.group() for found in _PARTS.finditer(text)) == text, "something it does not know"
        for words, code, move, letters in _PARTS.findall(text):
            if code:
                self._obey(words, code)
            elif move:
                self._column = 0  # a terminal's line discipline makes \n a \r\n
                self._row += move == "\n"
            else:
                self._put(letters)
        return len(text)

    def _put(self, letters: str) -> None:
        while len(self._rows) <= self._row:
            self._rows.append([])
        row = self._rows[self._row]
        row.extend(" " * (self._column + len(letters) - len(row)))
        row[self._column : self._column + len(letters)] = letters
        self._column += len(letters)
        assert self._column <= self.width, "it would have been broken"

    def _obey(self, words: str, code: str) -> None:
        match code:
            case "A":
                self._row -= int(words)
                assert self._row >= 0
            case "G":
                self._column = int(words) - 1
            case "K":
                assert self._column < self.width, "it would take the last letter away"
                self._rows[self._row : self._row + 1] = [self._rows[self._row][: self._column]]
            case "J":
                del self._rows[self._row :]
            case "h" | "l":
                self.cursor = code == "h" if words == "?25" else self.cursor
            case _:
                assert code == "m"
