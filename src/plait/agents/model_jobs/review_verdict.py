"""The verdict of a review by a second prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

from plait.agents.model_jobs.code_blocks import clean_answer, is_fence
from plait.core.fast_dataclass import dataclass

_MAX_REASON_CHARS = 4000


class Ruling(StrEnum):
    PASS = "PASS"  # noqa: S105 - no password
    PASS_WITH_WARNINGS = "PASS_WITH_WARNINGS"  # noqa: S105 - nor this
    FAIL_SOFT = "FAIL_SOFT"
    FAIL_HARD = "FAIL_HARD"


@dataclass(frozen=True, slots=True)
class ReviewVerdict:
    """An answer with none of the four words is a soft failure."""

    ruling: Ruling
    reasons: str = ""

    @property
    def passed(self) -> bool:
        return self.ruling in {Ruling.PASS, Ruling.PASS_WITH_WARNINGS}


_AROUND = r"[\s#>*_`\"'\[\]()\u2705\u274c\u26a0\ufe0f-]*"
_WORD = r"(PASS[\s_-]+WITH[\s_-]+WARNINGS?|FAIL[\s_-]*SOFT|FAIL[\s_-]*HARD|PASS(?:ED)?|FAIL(?:ED)?)"
_AFTER = r"(?=[\s*_`\"'\])]*(?:[:.,;!\u2013\u2014-]|\Z))"
_SAID = rf"{_AROUND}{_WORD}(?![A-Za-z]){_AFTER}{_AROUND}[:.,;!\u2013\u2014-]*\s*(.*)"
_LABEL = (
    rf"{_AROUND}(?:the\s+)?(?:(?:final|overall|my)\s+)?(?:verdict|status|result|decision|ruling)(?:\s+is)?{_AROUND}"
)
_FIRST = re.compile(_SAID, re.DOTALL | re.IGNORECASE)
_LABELLED = re.compile(rf"{_LABEL}:{_SAID}", re.DOTALL | re.IGNORECASE)
_HEADING = re.compile(rf"{_LABEL}:?{_AROUND}\Z", re.IGNORECASE)
_ALONE = re.compile(rf"{_AROUND}{_WORD}(?![A-Za-z]){_AROUND}\.?{_AROUND}\Z", re.IGNORECASE)
_FAILS = re.compile(rf"{_AROUND}FAIL_(?:SOFT|HARD)\b{_AFTER}|.*\bFAIL_(?:SOFT|HARD){_AROUND}[.!]?{_AROUND}\Z")
_CONDITION = re.compile(r"(?:but|however|if|once|unless|except|provided|assuming|only)\b", re.IGNORECASE)


def parse_verdict(text: str) -> ReviewVerdict:
    """The word on the first line, on one that is labelled as the verdict, or alone on the last one.

    Two that differ are not clear, nor is a pass that has a condition, or a failure beside it.
    """
    texts = (" ".join(line.split())[:500] for line in clean_answer(text).split("\n") if not is_fence(line))
    lines = [line for line in texts if line]
    if not lines:
        return ReviewVerdict(Ruling.FAIL_SOFT, "the verification gave no answer")
    found = dict(_find_rulings(lines))
    rulings = {_parse_ruling(match[1]) for match in found.values()}
    if len(rulings) != 1:
        return _unclear_verdict(lines, "two verdicts that differ" if rulings else "no clear verdict")
    (ruling,) = rulings
    beside = [match[2] for match in found.values() if match.re.groups > 1]
    reasons = [*beside[:1], *(line for place, line in enumerate(lines) if place not in found)]
    made = ReviewVerdict(ruling, _truncate_reasons("\n".join(line for line in reasons if line.strip())))
    doubted = ruling is Ruling.PASS and any(map(_CONDITION.match, beside))
    if made.passed and (doubted or any(map(_FAILS.match, (*lines, *beside)))):
        return _unclear_verdict(lines, "a pass that is none")
    return made


def _find_rulings(lines: Sequence[str]) -> Iterator[tuple[int, re.Match[str]]]:
    for place, line in enumerate(lines):
        headed = place > 0 and _HEADING.match(lines[place - 1]) is not None
        last = place == len(lines) - 1
        match = _LABELLED.match(line)
        if match is None and (place == 0 or headed):
            match = _FIRST.match(line)
        if match is None and last:
            match = _ALONE.match(line)
        if match is not None:
            yield place, match


def _unclear_verdict(lines: Sequence[str], what: str) -> ReviewVerdict:
    reasons = _truncate_reasons("\n".join(lines))
    return ReviewVerdict(Ruling.FAIL_SOFT, f"the verification gave {what}: {reasons}")


def _parse_ruling(word: str) -> Ruling:
    letters = re.sub(r"[^A-Z]", "", word.upper())
    if letters.startswith("PASS"):
        return Ruling.PASS_WITH_WARNINGS if "WARNING" in letters else Ruling.PASS
    return Ruling.FAIL_HARD if letters.endswith("HARD") else Ruling.FAIL_SOFT


def _truncate_reasons(text: str) -> str:
    text = text.strip()
    return text if len(text) <= _MAX_REASON_CHARS else f"{text[: _MAX_REASON_CHARS - 1]}\u2026"
