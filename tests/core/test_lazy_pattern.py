"""A lazy pattern behaves like a compiled one."""

from __future__ import annotations

import re

import pytest

from plait.core.lazy_pattern import pattern


def test_a_lazy_pattern_finds_what_a_compiled_one_finds() -> None:
    late, soon = pattern("(?P<word>a+)b?", re.IGNORECASE), re.compile("(?P<word>a+)b?", re.IGNORECASE)
    for text in ("xAAb", "b", ""):
        for how in ("search", "match", "fullmatch", "findall", "split"):
            ours, theirs = getattr(late, how)(text), getattr(soon, how)(text)
            assert (ours and ours[0]) == (theirs and theirs[0])
    assert late.sub("-", "xaab") == soon.sub("-", "xaab") == "x-"
    assert late.groupindex == soon.groupindex


def test_an_invalid_lazy_pattern_fails_when_it_is_used() -> None:
    wrong = pattern("(")
    with pytest.raises(re.error):
        wrong.search("")
