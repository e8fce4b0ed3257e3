"""Wording: the title and the body that a person wants a pull request to have, instead of those that plait would write."""

from __future__ import annotations

from plait.core.frozen import dataclass
from plait.core.late import pattern

TITLE_MOST = 255  # characters that every forge takes
BODY_MOST = 60_000  # characters: forges take 65,536, and people may add theirs there

_BREAK = pattern(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_HALF = pattern(r"[\ud800-\udfff]")
_CONTROL = pattern(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")  # forges refuse some, terminals obey others


@dataclass(frozen=True, slots=True)
class Wording:
    """What is empty is plait's to write."""

    title: str = ""
    body: str = ""

    def after(self, title: str | None, body: str | None) -> Wording:
        """What was not said anew (None) stays as it was said last; who says nothing ("") leaves it to plait again."""
        return Wording(self.title if title is None else title, self.body if body is None else body)


NO_WORDING = Wording()


def problem_of_title(title: str | None) -> str | None:
    if not title:
        return None
    if not title.strip():
        return "a title has to have words"
    if _BREAK.search(title) or _HALF.search(title):
        return "a title has to be one line of text"
    return f"a title has at most {TITLE_MOST} characters" if len(title) > TITLE_MOST else None


def problem_of_body(body: str | None) -> str | None:
    if not body:
        return None
    if _HALF.search(body):
        return "the body is no text"
    if _CONTROL.search(body):
        return "the body has control characters in it"
    return f"a body has at most {BODY_MOST:,} characters" if len(body) > BODY_MOST else None
