"""Keys of front matter, typed: a value that is not of its kind costs that key, and a warning says where."""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import get_close_matches
from typing import Protocol

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem
from plait.sources import vocabulary
from plait.sources.front_matter__front import FrontMatter, FrontMatterValue, read_front_matter
from plait.sources.problem_reports import make_warning
from plait.sources.source_model import Document

_TRUE_WORDS = frozenset({"true", "yes", "on", "1"})
_FALSE_WORDS = frozenset({"false", "no", "off", "0"})
_WHOLE = re.compile(r"[+-]?[0-9]{1,9}\Z")
_SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?\Z")
_COMMAS = re.compile(r"[,;\n]")


@dataclass(frozen=True, slots=True)
class NamedReference:
    """A piece of text, the words around it, and its line (from 0)."""

    text: str
    reason: str
    line: int


class FrontMatterKeys:
    """The front matter of one file. Names are compared without regard to case, hyphens and spaces."""

    def __init__(self, document: Document, known: FrontMatter | None = None) -> None:
        self.front_matter = known or read_front_matter(document)
        self.problems: list[Problem] = list(self.front_matter.problems)
        self._document = document
        self._values: dict[str, tuple[str, FrontMatterValue]] = {}
        for key, value in self.front_matter.values.items():
            self._values[_normalize_key(key)] = (key, value)

    def has(self, *names: str) -> bool:
        return all(name in self._values for name in names)

    @property
    def values(self) -> dict[str, FrontMatterValue]:
        return {name: value for name, (_, value) in self._values.items()}

    def line(self, name: str) -> int:
        """The line of a key, from 0; the first one of the file if it is not there."""
        return self._values[name][1].line - 1 if name in self._values else 0

    def text(self, name: str) -> str | None:
        """A text; None if there is none, or an empty one."""
        value = self._value(name)
        if value is None or (
            not value.text and not value.is_list and not value.pairs and not value.is_unsupported
        ):
            return None
        if not value.text:
            self.warn(name, "is not a text", f"Write it as {name}: a text in one piece.")
            return None
        return value.text.strip() or None

    def flag(self, name: str) -> bool | None:
        said = self.text(name)
        if said is None or said.lower() in _TRUE_WORDS | _FALSE_WORDS:
            return None if said is None else said.lower() in _TRUE_WORDS
        self.warn(
            name, f"is neither true nor false: {_shorten(said)}", f"Write {name}: true, or {name}: false."
        )
        return None

    def integer(self, name: str, least: int) -> int | None:
        said = self.text(name)
        if said is None:
            return None
        number = int(said) if _WHOLE.match(said) else None
        if number is None or number < least:
            what = f"is not a whole number from {least} on: {_shorten(said)}"
            self.warn(name, what, f"Write it as {name}: {max(least, 2)}.")
            return None
        return number

    def seconds(self, name: str) -> float | None:
        """A length of time: `20m`, `1h 30m`, or plain seconds."""
        said = self.text(name)
        if said is None:
            return None
        length = float(said) if _SECONDS.match(said) else vocabulary.parse_duration(said)
        if not length:
            what = f"is not a length of time: {_shorten(said)}"
            self.warn(name, what, f"Write it as {name}: 20m, or in seconds.")
            return None
        return length

    def weight(self, name: str) -> float | None:
        said = self.text(name)
        weight = None if said is None else vocabulary.parse_weight(said)
        if said is not None and weight is None:
            what = f"is neither low, medium nor high: {_shorten(said)}"
            self.warn(name, what, f"Write it as {name}: medium, or as a number.")
        return weight

    def priority(self, name: str) -> int | None:
        said = self.text(name)
        if said is None:
            return None
        found = int(said) if _WHOLE.match(said) else vocabulary.parse_priority(said)
        if found is None:
            self.warn(name, f"is no priority: {_shorten(said)}", f"Write it as {name}: high, or P1.")
        return found

    def pairs(self, name: str) -> tuple[tuple[str, str], ...]:
        value = self._value(name)
        if value is None or value.pairs:
            return value.pairs if value else ()
        if value.text or value.is_list or value.is_unsupported:
            self.warn(name, "is not a map of names and texts", f"Write {name}:, then indented NAME: text.")
        return ()

    def names(self, *keys: str) -> list[NamedReference]:
        """The tasks that these keys name: `[a, b]`, or `a, b and c`."""
        return self._pieces(keys, vocabulary.split_list)

    def paths(self, *keys: str) -> list[str]:
        """The files that these keys name."""
        return list(dict.fromkeys(said.text for said in self._pieces(keys, _COMMAS.split)))

    def _pieces(self, keys: Collection[str], split: _SplitFunction) -> list[NamedReference]:
        found: list[NamedReference] = []
        for name in keys:
            value = self._value(name)
            if value is None:
                continue
            if value.is_unsupported or value.pairs:
                self.warn(name, "is not a list of texts", f"Write it as {name}: [one, two].")
            parts = value.items if value.is_list else split(value.text)
            key = self._values[name][0]
            for part in parts:
                piece = part.strip().strip("`\"'").strip()
                if vocabulary.split_list(piece):
                    found.append(NamedReference(piece, f"{key}: {_shorten(piece)}", value.line - 1))
        return found

    def warn(self, name: str, what: str, hint: str) -> None:
        """Once, however often the key is asked for."""
        key = self._values[name][0] if name in self._values else name
        problem = make_warning(self._document, self.line(name), f"{_shorten(key)} {what}", hint)
        if problem not in self.problems:
            self.problems.append(problem)

    def warn_unknown(self, known: Collection[str], quiet: Collection[str]) -> None:
        """A warning for each key that means nothing here, with the nearest one that does."""
        for name, (key, _) in self._values.items():
            if name in known or name in quiet:
                continue
            near = get_close_matches(name[:40], known, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"The keys are {', '.join(known)}."
            message = f"{_shorten(key)} is not a key that means anything here; it was passed over"
            self.problems.append(make_warning(self._document, self.line(name), message, hint))

    def _value(self, name: str) -> FrontMatterValue | None:
        found = self._values.get(name)
        return None if found is None else found[1]


class _SplitFunction(Protocol):
    def __call__(self, text: str, /) -> list[str]: ...


def _normalize_key(key: str) -> str:
    return key.strip().lower().replace("-", "_").replace(" ", "_")


def _shorten(value: str, most: int = 60) -> str:
    """Enough of a text to know it by, on one line."""
    line = " ".join(value[: most * 4].split())
    return line if len(line) <= most else f"{line[: most - 1]}\u2026"
