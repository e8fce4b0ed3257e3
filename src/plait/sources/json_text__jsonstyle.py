"""How a JSON file is laid out, as far as that can be kept when the file is written anew."""

from __future__ import annotations

import json
import re

from plait.core.fast_dataclass import dataclass
from plait.sources.text import BOM

_INDENT = re.compile(r"[{\[](\r\n|\r|\n)([ \t]*)\S")
_SURROGATE_CHARACTER = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class JsonStyle:
    """Without an `indent` everything stands on one line; `before` and `after` are what surrounds the value."""

    indent: str | None = "  "
    eol: str = "\n"
    colon: str = ": "
    before: str = ""
    after: str = "\n"
    escaped: bool = False

    @classmethod
    def detect(cls, text: str) -> JsonStyle:
        inner = text.strip(f" \t\r\n{BOM}")
        if not inner:
            return cls(before=BOM if text.startswith(BOM) else "")
        found = _INDENT.search(inner)
        start = text.index(inner)
        return cls(
            indent=found[2] if found else None,
            eol=found[1] if found else "\n",
            colon=": " if '": ' in inner else ":",
            before=text[:start],
            after=text[start + len(inner) :],
            escaped=inner.isascii() and "\\u" in inner,
        )

    def dump(self, value: object) -> str:
        """Raises ValueError for a number that JSON can't tell."""
        comma = "," if self.indent is not None or self.colon == ":" else ", "
        text = json.dumps(
            value,
            indent=self.indent,
            separators=(comma, self.colon),
            ensure_ascii=self.escaped,
            allow_nan=False,
        )
        # Half a character can be told only as an escape. Line ends inside strings are escapes already.
        text = _SURROGATE_CHARACTER.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
        return f"{self.before}{text.replace(chr(10), self.eol)}{self.after}"
