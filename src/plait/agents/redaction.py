"""Redaction: secrets are replaced by `***` in everything that plait shows or passes on.

Secrets are the values of variables with telling names, and texts in the shapes of known keys. Redaction never changes the
structure of lines or of JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from json import dumps

from plait.agents.interface import AgentEvent, OutputParser
from plait.core.lazy_pattern import pattern
from plait.core.reports import Outcome

REDACTED = "***"
MIN_SECRET_CHARS = 8  # a shorter value occurs in too many words
_MIN_PART_CHARS = 16  # of a part of a structured value

_SECRET_NAME = pattern(
    r"PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|CREDENTIAL|PRIVATE|API_?KEY|KEY(?:_|$)|(?:^|_)PAT(?:_|$)|_PWD?(?:_|$)|COOKIE",
    re.IGNORECASE,
)
# Values of such variables that are no secrets: paths, addresses, numbers of tokens.
_PATH = pattern(r"(?:~|\.{1,2})?/[\w.@+ /-]*")
_RANDOM = pattern(r"(?=[a-z0-9+]*[A-Z])(?=[A-Z0-9+]*[a-z])(?=[A-Za-z+]*[0-9])[A-Za-z0-9+]{16,}")
_ADDRESS = pattern(r"[a-z][a-z0-9+.-]*://[^@\s]*")
_PASSWORD = pattern(r"://(?P<user>[^\s/:@]{0,256}):(?P<word>[^\s/@]{1,1024})@")
_STRUCTURE = pattern(r"\s*[{\[]|[^\n]*\n")
_PARTS = pattern(rf"[^\s\"'{{}}\[\],:\\]{{{_MIN_PART_CHARS},}}")
_NOT_IN_WORD = r"(?<![A-Za-z0-9_-])"  # `task-force-one-2026` contains no key


def _key_pattern(start: str, more: str) -> re.Pattern[str]:
    return pattern(f"{_NOT_IN_WORD}{start}{more}")


# A cheap hint that must occur first, the pattern, and its replacement.
_SECRET_PATTERNS: tuple[tuple[tuple[str, ...], re.Pattern[str], str], ...] = (
    (("sk-",), _key_pattern("sk-", r"(?=[A-Za-z_-]{0,200}[0-9A-Z])[A-Za-z0-9_-]{16,}"), REDACTED),
    (("k_live_", "k_test_"), _key_pattern("[rs]k_(?:live|test)_", r"[A-Za-z0-9]{16,}"), REDACTED),
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _key_pattern("gh[pousr]_", r"[A-Za-z0-9]{20,}"), REDACTED),
    (("github_pat_",), _key_pattern("github_pat_", r"[A-Za-z0-9_]{20,}"), REDACTED),
    (("glpat-",), _key_pattern("glpat-", r"[A-Za-z0-9_-]{16,}"), REDACTED),
    (("xox", "xapp-"), _key_pattern("(?:xox[a-z]|xapp)-", r"[A-Za-z0-9-]{10,}"), REDACTED),
    (("AKIA", "ASIA"), _key_pattern("A[KS]IA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"), REDACTED),
    (("AIza",), _key_pattern("AIza", r"[A-Za-z0-9_-]{30,}"), REDACTED),
    (("hf_", "npm_", "gsk_"), _key_pattern("(?:hf|npm|gsk)_", r"[A-Za-z0-9]{30,}"), REDACTED),
    (("eyJ",), _key_pattern("eyJ", r"[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"), REDACTED),
    (
        ("uthorization", "UTHORIZATION", "-api-key", "-Api-Key", "-API-KEY"),
        pattern(
            r"((?:authorization|x-[a-z-]{0,20}api-key)\\{0,8}[\"']?\s{0,4}[:=]\s{0,4}\\{0,8}[\"']?(?:(?:bearer|basic|token)\s{1,4})?)"
            r"(?!(?:bearer|basic|token)\b)[^\s\"'\\,;{}]{8,}",
            re.IGNORECASE,
        ),
        rf"\g<1>{REDACTED}",
    ),
    (
        ("earer ", "EARER "),
        pattern(
            rf"({_NOT_IN_WORD}bearer\s{{1,4}})(?=[A-Za-z._~+/=-]{{0,200}}[0-9])[A-Za-z0-9._~+/=-]{{16,}}",
            re.IGNORECASE,
        ),
        rf"\g<1>{REDACTED}",
    ),
    (
        ("://",),
        pattern(r"(://[^\s/:@\"'\\]{0,256}:)[^\s/@\"'\\]{1,1024}@"),
        rf"\g<1>{REDACTED}@",
    ),
)
# A private key keeps its line breaks, also those escaped in JSON.
_PRIVATE_KEY_MARKER = "PRIVATE KEY-----"
_PRIVATE_KEY_BODY = pattern(r"(?<=PRIVATE KEY-----)(?:[A-Za-z0-9+/=\s]|\\{1,8}[nr])+")
_PRIVATE_KEY_LINE = pattern(r"[A-Za-z0-9+/=]*|(?:Proc-Type|DEK-Info): .*")
_PRIVATE_KEY_PART = pattern(r"(\\{1,8}[nr])|[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]+={1,2}")
_HINTS = (*(hint for hints, _, _ in _SECRET_PATTERNS for hint in hints), _PRIVATE_KEY_MARKER)


class Redactor:
    """Removes the secrets of one environment from a text; idempotent."""

    __slots__ = ("_pattern", "_values")

    def __init__(self, values: Iterable[str] = ()) -> None:
        spelt = {spelling for value in values for spelling in _secret_spellings(value)}
        self._values = tuple(sorted(spelt, key=lambda value: (-len(value), value)))
        self._pattern = pattern("|".join(map(re.escape, self._values)))

    def __call__(self, text: str) -> str:
        for value in self._values:  # plain loops: agents print a lot, and hardly any of it is secret
            if value in text:
                text = self._pattern.sub(REDACTED, text)
                break
        for hint in _HINTS:
            if hint in text:
                return _redact_patterns(text)
        return text


def build_redactor(environment: Mapping[str, str], *more: Iterable[tuple[str, str]]) -> Redactor:
    """For the secrets in these variables."""
    pairs = chain(environment.items(), *more)
    return Redactor(secret for name, value in pairs for secret in _find_secrets(name, value))


def _find_secrets(name: str, value: str) -> Iterable[str]:
    """The value, or the password in an address, unless it equals the user."""
    if is_secret(name, value):
        return (value,)
    return [found["word"] for found in _PASSWORD.finditer(value) if found["user"] != found["word"]]


def is_secret(name: str, value: str) -> bool:
    """By the variable's name; paths and addresses are no secrets, nor a value that its name contains."""
    if len(value) < MIN_SECRET_CHARS or _SECRET_NAME.search(name) is None or value.lower() in name.lower():
        return False
    is_path = _PATH.fullmatch(value) and not _RANDOM.search(value)
    return not (is_path or _ADDRESS.fullmatch(value) or ("TOKENS" in name.upper() and value.isdigit()))


class LineRedactor:
    """For single lines: of a private key's lines, only the first is recognisable."""

    __slots__ = ("_in_key", "_redactor")

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._in_key = False

    def __call__(self, line: str) -> str:
        if self._in_key and _PRIVATE_KEY_LINE.fullmatch(line.strip()):
            return _redact_key_lines(line)
        self._in_key = _PRIVATE_KEY_MARKER in line and "-----END " not in line
        return self._redactor(line)


class StreamRedactor:
    """For a text in pieces: a line is only passed on when it is complete, so that no secret is missed."""

    MAX_LINE_CHARS = 1 << 16  # a longer line is passed on in parts
    _KEPT_CHARS = 1 << 12  # no secret is longer

    def __init__(self, redactor: Redactor) -> None:
        self._lines = LineRedactor(redactor)
        self._open = ""

    def feed(self, text: str) -> str:
        *whole, self._open = (self._open + text).split("\n")
        done = "".join(f"{self._lines(line)}\n" for line in whole)
        if len(self._open) > self.MAX_LINE_CHARS:
            hidden = self._lines(self._open)
            done, self._open = done + hidden[: -self._KEPT_CHARS], hidden[-self._KEPT_CHARS :]
        return done

    def finish(self) -> str:
        rest, self._open = self._lines(self._open), ""
        return rest


class RedactingParser:
    """A parser that only sees redacted lines, so that its events contain no secret."""

    def __init__(self, parser: OutputParser, redactor: Redactor) -> None:
        self._parser = parser
        self._redactor = redactor
        self._lines = LineRedactor(redactor)

    def feed(self, line: str) -> Sequence[AgentEvent]:
        return self._parser.feed(self._lines(line))

    def mark_gap(self) -> None:
        self._lines = LineRedactor(self._redactor)
        self._parser.mark_gap()

    def finish(self, code: int, tail: str, printed_at: float) -> Outcome:
        return self._parser.finish(code, self._redactor(tail), printed_at)


def _redact_patterns(text: str) -> str:
    for hints, shape, hidden in _SECRET_PATTERNS:
        if any(hint in text for hint in hints):
            text = shape.sub(hidden, text)
    return (
        _PRIVATE_KEY_BODY.sub(lambda found: _redact_key_lines(found[0]), text) if _PRIVATE_KEY_MARKER in text else text
    )


def _redact_key_lines(text: str) -> str:
    return _PRIVATE_KEY_PART.sub(lambda found: found[1] or REDACTED, text)


def _secret_spellings(value: str) -> Iterable[str]:
    """The value as it is, and escaped as in JSON; of a structured text, its long parts."""
    parts = [value] if not _STRUCTURE.match(value) else _PARTS.findall(value)
    for part in parts:
        if len(part) >= MIN_SECRET_CHARS:
            yield part
            yield dumps(part)[1:-1]
            yield dumps(part, ensure_ascii=False)[1:-1]
