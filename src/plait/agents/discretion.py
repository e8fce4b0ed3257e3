"""Discretion: secrets that tools, tasks and environments bring along are not told on.

Known are the values of variables whose names say that they are secret, and the shapes that keys have. What is found
becomes `***`. No line is broken or joined by that, and no structure of JSON: neither quotes nor brackets are taken away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from json import dumps

from plait.agents.model import Listener, Signal
from plait.core.late import pattern
from plait.core.reports import Outcome

HIDDEN = "***"
SHORTEST = 8  # characters of a value; a shorter one is in too many words
_PART = 16  # … of a part of a value that is itself a text with a structure

_SECRET = pattern(
    r"PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|CREDENTIAL|PRIVATE|API_?KEY|KEY(?:_|$)|(?:^|_)PAT(?:_|$)|_PWD?(?:_|$)|COOKIE",
    re.IGNORECASE,
)
# What has such a name and is none: where something lies, the names of servers, how many tokens there may be.
_PATH = pattern(r"(?:~|\.{1,2})?/[\w.@+ /-]*")
_RANDOM = pattern(r"(?=[a-z0-9+]*[A-Z])(?=[A-Z0-9+]*[a-z])(?=[A-Za-z+]*[0-9])[A-Za-z0-9+]{16,}")
_ADDRESS = pattern(r"[a-z][a-z0-9+.-]*://[^@\s]*")
_PASSWORD = pattern(r"://(?P<user>[^\s/:@]{0,256}):(?P<word>[^\s/@]{1,1024})@")
_STRUCTURE = pattern(r"\s*[{\[]|[^\n]*\n")
_PARTS = pattern(rf"[^\s\"'{{}}\[\],:\\]{{{_PART},}}")

_ALONE = r"(?<![A-Za-z0-9_-])"  # a key begins where no word goes on: `task-force-one-2026` is none


def _key(start: str, more: str) -> re.Pattern[str]:
    return pattern(f"{_ALONE}{start}{more}")


# What a text must hold before it is worth to look for the shape, the shape, and what it becomes.
_SHAPES: tuple[tuple[tuple[str, ...], re.Pattern[str], str], ...] = (
    (("sk-",), _key("sk-", r"(?=[A-Za-z_-]{0,200}[0-9A-Z])[A-Za-z0-9_-]{16,}"), HIDDEN),
    (("k_live_", "k_test_"), _key("[rs]k_(?:live|test)_", r"[A-Za-z0-9]{16,}"), HIDDEN),
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _key("gh[pousr]_", r"[A-Za-z0-9]{20,}"), HIDDEN),
    (("github_pat_",), _key("github_pat_", r"[A-Za-z0-9_]{20,}"), HIDDEN),
    (("glpat-",), _key("glpat-", r"[A-Za-z0-9_-]{16,}"), HIDDEN),
    (("xox", "xapp-"), _key("(?:xox[a-z]|xapp)-", r"[A-Za-z0-9-]{10,}"), HIDDEN),
    (("AKIA", "ASIA"), _key("A[KS]IA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"), HIDDEN),
    (("AIza",), _key("AIza", r"[A-Za-z0-9_-]{30,}"), HIDDEN),
    (("hf_", "npm_", "gsk_"), _key("(?:hf|npm|gsk)_", r"[A-Za-z0-9]{30,}"), HIDDEN),
    (("eyJ",), _key("eyJ", r"[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"), HIDDEN),
    (
        ("uthorization", "UTHORIZATION", "-api-key", "-Api-Key", "-API-KEY"),
        pattern(
            r"((?:authorization|x-[a-z-]{0,20}api-key)\\{0,8}[\"']?\s{0,4}[:=]\s{0,4}\\{0,8}[\"']?(?:(?:bearer|basic|token)\s{1,4})?)"
            r"(?!(?:bearer|basic|token)\b)[^\s\"'\\,;{}]{8,}",
            re.IGNORECASE,
        ),
        rf"\g<1>{HIDDEN}",
    ),
    (
        ("earer ", "EARER "),
        pattern(
            rf"({_ALONE}bearer\s{{1,4}})(?=[A-Za-z._~+/=-]{{0,200}}[0-9])[A-Za-z0-9._~+/=-]{{16,}}",
            re.IGNORECASE,
        ),
        rf"\g<1>{HIDDEN}",
    ),
    (
        ("://",),
        pattern(r"(://[^\s/:@\"'\\]{0,256}:)[^\s/@\"'\\]{1,1024}@"),
        rf"\g<1>{HIDDEN}@",
    ),
)
# A private key: its lines stay lines, and what JSON makes of their ends stays as well.
_KEY = "PRIVATE KEY-----"
_KEY_WHOLE = pattern(r"(?<=PRIVATE KEY-----)(?:[A-Za-z0-9+/=\s]|\\{1,8}[nr])+")
_KEY_LINE = pattern(r"[A-Za-z0-9+/=]*|(?:Proc-Type|DEK-Info): .*")
_KEY_PART = pattern(r"(\\{1,8}[nr])|[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]+={1,2}")
_HINTS = (*(hint for hints, _, _ in _SHAPES for hint in hints), _KEY)


class Discretion:
    """Made for one environment; called with a text, it gives the text without secrets. Twice is as good as once."""

    __slots__ = ("_pattern", "_values")

    def __init__(self, values: Iterable[str] = ()) -> None:
        spelt = {spelling for value in values for spelling in _spellings(value)}
        self._values = tuple(sorted(spelt, key=lambda value: (-len(value), value)))
        self._pattern = pattern("|".join(map(re.escape, self._values)))

    def __call__(self, text: str) -> str:
        for value in self._values:  # plain loops: agents print a lot, and hardly any of it is secret
            if value in text:
                text = self._pattern.sub(HIDDEN, text)
                break
        for hint in _HINTS:
            if hint in text:
                return _shapeless(text)
        return text


def secrets(*environments: Iterable[tuple[str, str]]) -> Discretion:
    """For what these variables hold."""
    return Discretion(
        value for pairs in environments for name, told in pairs for value in _secrets_in(name, told)
    )


def _secrets_in(name: str, value: str) -> Iterable[str]:
    """All of it, or the password of an address; who is called like it is no secret either."""
    if secret(name, value):
        return (value,)
    return [found["word"] for found in _PASSWORD.finditer(value) if found["user"] != found["word"]]


def of(environment: Mapping[str, str], *others: Iterable[tuple[str, str]]) -> Discretion:
    return secrets(environment.items(), *others)


def secret(name: str, value: str) -> bool:
    """Whether a variable holds one, by its name; a path or an address is none, nor what its name gives away anyway."""
    if len(value) < SHORTEST or _SECRET.search(name) is None or value.lower() in name.lower():
        return False
    place = _PATH.fullmatch(value) and not _RANDOM.search(value)
    return not (place or _ADDRESS.fullmatch(value) or ("TOKENS" in name.upper() and value.isdigit()))


class Lines:
    """For lines that come one by one: a private key has many, and only the first says what it is."""

    __slots__ = ("_discretion", "_in_key")

    def __init__(self, discretion: Discretion) -> None:
        self._discretion = discretion
        self._in_key = False

    def __call__(self, line: str) -> str:
        if self._in_key and _KEY_LINE.fullmatch(line.strip()):
            return _key_lines(line)
        self._in_key = _KEY in line and "-----END " not in line
        return self._discretion(line)


class Stream:
    """For a text that comes in pieces: a secret is hidden also where it is cut. A line is told when it is whole."""

    LONGEST = 1 << 16  # characters of a line that are waited for
    _KEPT = 1 << 12  # … of a longer one: no secret is longer

    def __init__(self, discretion: Discretion) -> None:
        self._lines = Lines(discretion)
        self._open = ""

    def feed(self, text: str) -> str:
        *whole, self._open = (self._open + text).split("\n")
        told = "".join(f"{self._lines(line)}\n" for line in whole)
        if len(self._open) > self.LONGEST:
            hidden = self._lines(self._open)
            told, self._open = told + hidden[: -self._KEPT], hidden[-self._KEPT :]
        return told

    def end(self) -> str:
        rest, self._open = self._lines(self._open), ""
        return rest


class Discreet:
    """A listener that hears no secrets, so that it can tell none, not even half of one."""

    def __init__(self, listener: Listener, discretion: Discretion) -> None:
        self._listener = listener
        self._discretion = discretion
        self._lines = Lines(discretion)

    def hear(self, line: str) -> Sequence[Signal]:
        return self._listener.hear(self._lines(line))

    def missed(self) -> None:
        self._lines = Lines(self._discretion)
        self._listener.missed()

    def end(self, code: int, tail: str, said_at: float) -> Outcome:
        return self._listener.end(code, self._discretion(tail), said_at)


def _shapeless(text: str) -> str:
    for hints, shape, hidden in _SHAPES:
        if any(hint in text for hint in hints):
            text = shape.sub(hidden, text)
    return _KEY_WHOLE.sub(lambda found: _key_lines(found[0]), text) if _KEY in text else text


def _key_lines(text: str) -> str:
    return _KEY_PART.sub(lambda found: found[1] or HIDDEN, text)


def _spellings(value: str) -> Iterable[str]:
    """As it is, and as it stands in JSON. Of a text with a structure, what may be secret in it."""
    parts = [value] if not _STRUCTURE.match(value) else _PARTS.findall(value)
    for part in parts:
        if len(part) >= SHORTEST:
            yield part
            yield dumps(part)[1:-1]
            yield dumps(part, ensure_ascii=False)[1:-1]


NONE = Discretion()
