"""Wording: the title and the body that a person wants a pull request to have, instead of those that plait would write."""

from __future__ import annotations

from plait.core.fast_dataclass import dataclass
from plait.core.lazy_pattern import pattern

MAX_OVERRIDE_TITLE_CHARS = 255  # characters that every forge takes
MAX_OVERRIDE_BODY_CHARS = 60_000  # characters: forges take 65,536, and people may add theirs there

_LINE_BREAK = pattern(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SURROGATE = pattern(r"[\ud800-\udfff]")
_CONTROL = pattern(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")  # forges refuse some, terminals obey others


@dataclass(frozen=True, slots=True)
class PullRequestOverride:
    """What is empty is plait's to write."""

    title: str = ""
    body: str = ""

    def with_changes(self, title: str | None, body: str | None) -> PullRequestOverride:
        """What was not said anew (None) stays as it was said last; who says nothing ("") leaves it to plait again."""
        return PullRequestOverride(
            self.title if title is None else title, self.body if body is None else body
        )


NO_OVERRIDE = PullRequestOverride()


def check_title(title: str | None) -> str | None:
    if not title:
        return None
    if not title.strip():
        return "a title has to have words"
    if _LINE_BREAK.search(title) or _SURROGATE.search(title):
        return "a title has to be one line of text"
    return (
        f"a title has at most {MAX_OVERRIDE_TITLE_CHARS} characters"
        if len(title) > MAX_OVERRIDE_TITLE_CHARS
        else None
    )


def check_body(body: str | None) -> str | None:
    if not body:
        return None
    if _SURROGATE.search(body):
        return "the body is no text"
    if _CONTROL.search(body):
        return "the body has control characters in it"
    return (
        f"a body has at most {MAX_OVERRIDE_BODY_CHARS:,} characters"
        if len(body) > MAX_OVERRIDE_BODY_CHARS
        else None
    )
