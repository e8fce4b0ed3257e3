"""Redaction: secrets are replaced by `***` in everything that plait shows or passes on.

Secrets are the values of variables with telling names, and texts in the shapes of known keys. Redaction never changes the
structure of lines or of JSON. Colours and other terminal sequences inside a secret don't hide it.

On disk a secret is masked: overwritten by as many bytes, `***` and padding, so that offsets stay valid. Redaction removes
the padding.
"""

from __future__ import annotations

import re
from base64 import b64encode
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from json import dumps
from urllib.parse import quote

from plait.agents.interface import AgentEvent, OutputParser
from plait.agents.plain_text import ESCAPES
from plait.core.lazy_pattern import pattern
from plait.core.reports import Outcome

REDACTED = "***"
MIN_SECRET_CHARS = 8  # a shorter value occurs in too many words
_PADDING = "\x7f"  # DEL: one byte, allowed in JSON, printed by nothing and shown by no terminal
_MASK = pattern(rf"{re.escape(REDACTED)}{_PADDING}+")
_PADDING_RUN = pattern(f"{_PADDING}+")
_MIN_PART_CHARS = 16  # of a part of a structured value
_URL_SAFE_BASE64 = str.maketrans("+/", "-_")

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
    return pattern(f"{_NOT_IN_WORD}(?P<secret>{start}{more})")


# Cheap hints, of which one must occur first, and the pattern.
_SECRET_PATTERNS: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = (
    (("sk-",), _key_pattern("sk-", r"(?=[A-Za-z_-]{0,200}[0-9A-Z])[A-Za-z0-9_-]{16,}")),
    (("k_live_", "k_test_"), _key_pattern("[rs]k_(?:live|test)_", r"[A-Za-z0-9]{16,}")),
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _key_pattern("gh[pousr]_", r"[A-Za-z0-9]{20,}")),
    (("github_pat_",), _key_pattern("github_pat_", r"[A-Za-z0-9_]{20,}")),
    (("glpat-",), _key_pattern("glpat-", r"[A-Za-z0-9_-]{16,}")),
    (("xox", "xapp-"), _key_pattern("(?:xox[a-z]|xapp)-", r"[A-Za-z0-9-]{10,}")),
    (("AKIA", "ASIA"), _key_pattern("A[KS]IA", r"[A-Z0-9]{16}(?![A-Za-z0-9])")),
    (("AIza",), _key_pattern("AIza", r"[A-Za-z0-9_-]{30,}")),
    (("hf_", "npm_", "gsk_"), _key_pattern("(?:hf|npm|gsk)_", r"[A-Za-z0-9]{30,}")),
    (("eyJ",), _key_pattern("eyJ", r"[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?")),
    (
        ("uthorization", "UTHORIZATION", "-api-key", "-Api-Key", "-API-KEY"),
        pattern(
            r"(?:authorization|x-[a-z-]{0,20}api-key)\\{0,8}[\"']?\s{0,4}[:=]\s{0,4}\\{0,8}[\"']?(?:(?:bearer|basic|token)\s{1,4})?"
            r"(?!(?:bearer|basic|token)\b)(?P<secret>[^\s\"'\\,;{}]{8,})",
            re.IGNORECASE,
        ),
    ),
    (
        ("earer ", "EARER "),
        pattern(
            rf"{_NOT_IN_WORD}bearer\s{{1,4}}(?P<secret>(?=[A-Za-z._~+/=-]{{0,200}}[0-9])[A-Za-z0-9._~+/=-]{{16,}})",
            re.IGNORECASE,
        ),
    ),
    (("://",), pattern(r"://[^\s/:@\"'\\]{0,256}:(?P<secret>[^\s/@\"'\\]{1,1024})@")),
)
# A private key keeps its line breaks, also those escaped in JSON. Parts of it may be hidden already.
_PRIVATE_KEY_MARKER = "PRIVATE KEY-----"
_PRIVATE_KEY_BODY = pattern(rf"(?<=PRIVATE KEY-----)(?:[A-Za-z0-9+/=\s*{_PADDING}]|\\{{1,8}}[nr])+")
_PRIVATE_KEY_LINE = pattern(r"[A-Za-z0-9+/=]*|(?:Proc-Type|DEK-Info): .*")
_PRIVATE_KEY_PART = pattern(r"(\\{1,8}[nr])|[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]+={1,2}")
_HINTS = (*(hint for hints, _ in _SECRET_PATTERNS for hint in hints), _PRIVATE_KEY_MARKER)

# What a secret is replaced by.
Hide = Callable[[str], str]


def replace_secret(_secret: str) -> str:
    return REDACTED


def mask_secret(secret: str) -> str:
    """Return a mask with as many bytes as the secret, so that offsets in a file stay valid."""
    size = len(secret.encode("utf-8", "surrogateescape"))
    return (REDACTED + _PADDING * size)[:size]


def _pad_out(secret: str) -> str:
    """Return as much padding as the secret has characters; padding never occurs in a text."""
    return _PADDING * len(secret)


class Redactor:
    """Removes the secrets of one environment from a text; idempotent."""

    __slots__ = ("_pattern", "values")

    def __init__(self, values: Iterable[str] = ()) -> None:
        spelt = {spelling for value in values for spelling in _secret_spellings(value)}
        self.values = tuple(sorted(spelt, key=lambda value: (-len(value), value)))
        self._pattern = pattern("|".join(map(re.escape, self.values)))

    def __call__(self, text: str, hide: Hide = replace_secret) -> str:
        if _PADDING in text and hide is replace_secret:
            text = _MASK.sub(REDACTED, text)
        text = self._hide_contiguous(text, hide)
        return self._hide_coloured(text, hide) if "\x1b" in text or "\x9b" in text else text

    def find_cut(self, text: str, at: int) -> int:
        """Return the last place up to `at` where no secret is cut in two."""
        marked = self._hide_contiguous(_MASK.sub(lambda found: _pad_out(found[0]), text), _pad_out)
        while at and marked[at - 1 : at + 1] == 2 * _PADDING:
            at -= 1
        return at

    def redact_end(self, text: str, max_chars: int) -> str:
        """Return the last characters of a text, redacted; a few more, where a secret would be cut in two."""
        return self(text[self.find_cut(text, max(0, len(text) - max_chars)) :])

    def _hide_contiguous(self, text: str, hide: Hide) -> str:
        for value in self.values:  # plain loops: agents print a lot, and hardly any of it is secret
            if value in text:
                text = self._pattern.sub(lambda found: hide(found[0]), text)
                break
        for hint in _HINTS:
            if hint in text:
                return _hide_patterns(text, hide)
        return text

    def _hide_coloured(self, text: str, hide: Hide) -> str:
        """Also hide secrets with terminal sequences inside, together with these."""
        pieces, plain_starts, shifts = (
            [],
            [0],
            [0],
        )  # what is at `plain_starts[n]` or later is `shifts[n]` later in the text
        at = size = 0
        for found in ESCAPES.finditer(text):
            pieces.append(text[at : found.start()])
            size += found.start() - at
            at = found.end()
            plain_starts.append(size)
            shifts.append(at - size)
        plain = "".join([*pieces, text[at:]])
        parts, at = [], 0
        for run in _PADDING_RUN.finditer(self._hide_contiguous(plain, _pad_out)):
            if plain[run.start() : run.end()] == run[0]:
                continue  # of a mask
            first, last = (
                place + shifts[bisect_right(plain_starts, place) - 1] for place in (run.start(), run.end() - 1)
            )
            parts += [text[at:first], hide(text[first : last + 1])]
            at = last + 1
        return "".join([*parts, text[at:]]) if parts else text


def build_redactor(environment: Mapping[str, str], *more: Iterable[tuple[str, str]]) -> Redactor:
    """Build a redactor for the secrets in these variables."""
    pairs = chain(environment.items(), *more)
    return Redactor(secret for name, value in pairs for secret in _find_secrets(name, value))


def _find_secrets(name: str, value: str) -> Iterable[str]:
    """Return the value if it is a secret, else the passwords in its addresses, unless one equals its user."""
    if is_secret(name, value):
        return (value,)
    return [found["word"] for found in _PASSWORD.finditer(value) if found["user"] != found["word"]]


def is_secret(name: str, value: str) -> bool:
    """Whether the variable holds a secret: no path or address, and no value that the name contains."""
    if len(value) < MIN_SECRET_CHARS or _SECRET_NAME.search(name) is None or value.lower() in name.lower():
        return False
    is_path = _PATH.fullmatch(value) and not _RANDOM.search(value)
    return not (is_path or _ADDRESS.fullmatch(value) or ("TOKENS" in name.upper() and value.isdigit()))


class LineRedactor:
    """Redacts single lines of a text in order, because only the first line of a private key is recognisable."""

    __slots__ = ("_hide", "_in_key", "_redactor")

    def __init__(self, redactor: Redactor, hide: Hide = replace_secret) -> None:
        self._redactor = redactor
        self._hide = hide
        self._in_key = False

    def __call__(self, line: str) -> str:
        if self._in_key and _PRIVATE_KEY_LINE.fullmatch(ESCAPES.sub("", line).strip()):
            return _hide_key_lines(line, self._hide)
        self._in_key = _PRIVATE_KEY_MARKER in line and "-----END " not in line
        return self._redactor(line, self._hide)


class StreamRedactor:
    """Redacts a text that comes in pieces: a line is only passed on when it is complete, so that no secret is missed.

    The first `line_start` characters of each line aren't part of it, as in a diff.
    """

    MAX_LINE_CHARS = 1 << 16  # a longer line is passed on in parts
    KEPT_CHARS = 1 << 12  # no secret is longer

    def __init__(self, redactor: Redactor, line_start: int = 0) -> None:
        self._redactor = redactor
        self._lines = LineRedactor(redactor)
        self._line_start = self._skipped = line_start
        self._open = ""

    def feed(self, text: str) -> str:
        *whole, self._open = (self._open + text).split("\n")
        done = [f"{self._redact_line(line)}\n" for line in whole]
        if len(self._open) > self.MAX_LINE_CHARS:
            cut = self._redactor.find_cut(self._open, len(self._open) - self.KEPT_CHARS)
            done.append(self._redact_line(self._open[:cut]))
            self._open, self._skipped = self._open[cut:], 0
        return "".join(done)

    def finish(self) -> str:
        rest, self._open = self._redact_line(self._open), ""
        return rest

    def _redact_line(self, line: str) -> str:
        start, self._skipped = self._skipped, self._line_start
        return line[:start] + self._lines(line[start:]) if start else self._lines(line)


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


def _hide_patterns(text: str, hide: Hide) -> str:
    def hide_group(found: re.Match[str]) -> str:
        start, end = (place - found.start() for place in found.span("secret"))
        return f"{found[0][:start]}{hide(found['secret'])}{found[0][end:]}"

    for hints, shape in _SECRET_PATTERNS:
        if any(hint in text for hint in hints):
            text = shape.sub(hide_group, text)
    if _PRIVATE_KEY_MARKER not in text:
        return text
    return _PRIVATE_KEY_BODY.sub(lambda found: _hide_key_lines(found[0], hide), text)


def _hide_key_lines(text: str, hide: Hide) -> str:
    return _PRIVATE_KEY_PART.sub(lambda found: found[1] or hide(found[0]), text)


def _secret_spellings(value: str) -> Iterable[str]:
    """Return the value plain, escaped as in JSON and in an address, and in base64; also long parts of structures."""
    parts = [value] if not _STRUCTURE.match(value) else _PARTS.findall(value)
    for part in parts:
        if len(part) >= MIN_SECRET_CHARS:
            yield part
            yield dumps(part)[1:-1]
            yield dumps(part, ensure_ascii=False)[1:-1]
            yield from (quote(part, safe=safe, errors="surrogateescape") for safe in ("", "/"))
            yield from _encode_base64(part.encode("utf-8", "surrogateescape"))


def _encode_base64(secret: bytes) -> Iterable[str]:
    """Return the characters that are the same whatever surrounds the secret (`user:secret`), for each place of its
    first byte among three.
    """
    for before in range(3):
        encoded = b64encode(bytes(before) + secret).decode()
        known = encoded[(before * 8 + 5) // 6 : (before + len(secret)) * 8 // 6]
        yield known
        yield known.translate(_URL_SAFE_BASE64)
