from __future__ import annotations

import os

import pytest

from plait.core.reports import AttemptExited, AttemptLost, MergeConflicted, Outcome
from plait.core.status import Category
from plait.core.task import Attempt, Step
from plait.engine.report_text import make_utf8_safe

NAME = Attempt("b", "t", Step.WRITE, 1)


def test_bytes_that_are_no_text_are_spelt_out_wherever_they_are() -> None:
    odd = os.fsdecode(b"bad\xffname")
    told = make_utf8_safe(AttemptExited(NAME, Outcome(Category.OK, detail=odd, files=("plain", odd))))
    assert (told.outcome.detail, told.outcome.files) == (r"bad\xffname", ("plain", r"bad\xffname"))
    assert make_utf8_safe(MergeConflicted("b", "t", 1, (odd,))).files == (r"bad\xffname",)


@pytest.mark.parametrize("text", ["plain", "größer", "日本"])
def test_what_is_text_is_left_alone(text: str) -> None:
    report = AttemptLost(NAME, text)
    assert make_utf8_safe(report) is report


def test_half_a_sign_is_spelt_out_too() -> None:
    assert make_utf8_safe(AttemptLost(NAME, "\ud83d")).why == r"\ud83d"
