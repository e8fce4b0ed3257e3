from __future__ import annotations

import os

import pytest

from plait.core.reports import AttemptExited, AttemptLost, MergeConflicted, Outcome
from plait.core.status import Category
from plait.core.task import Attempt, Step
from plait.engine.context import make_utf8_safe

NAME = Attempt("b", "t", Step.WRITE, 1)


def test_invalid_bytes_are_escaped_in_every_field() -> None:
    odd = os.fsdecode(b"bad\xffname")
    safe = make_utf8_safe(AttemptExited(NAME, Outcome(Category.OK, detail=odd, files=("plain", odd))))
    assert (safe.outcome.detail, safe.outcome.files) == (r"bad\xffname", ("plain", r"bad\xffname"))
    assert make_utf8_safe(MergeConflicted("b", "t", 1, (odd,))).files == (r"bad\xffname",)


@pytest.mark.parametrize("text", ["plain", "größer", "日本"])
def test_valid_text_stays_unchanged(text: str) -> None:
    report = AttemptLost(NAME, text)
    assert make_utf8_safe(report) is report


def test_a_lone_surrogate_is_escaped() -> None:
    assert make_utf8_safe(AttemptLost(NAME, "\ud83d")).why == r"\ud83d"
