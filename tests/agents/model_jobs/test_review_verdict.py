from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from plait.agents.model_jobs.answer import Ruling, parse_verdict


@pytest.mark.parametrize(
    ("said", "ruling"),
    [
        ("PASS", Ruling.PASS),
        ("PASS\n\nAll is there.", Ruling.PASS),
        ("**PASS**\nfine", Ruling.PASS),
        ("PASS - fine", Ruling.PASS),
        ("Pass.", Ruling.PASS),
        ("```\nPASS\n```", Ruling.PASS),
        ("<think>FAIL_HARD?</think>\nPASS", Ruling.PASS),
        ("PASS_WITH_WARNINGS\n- slow", Ruling.PASS_WITH_WARNINGS),
        ("PASS WITH WARNINGS: slow", Ruling.PASS_WITH_WARNINGS),
        ("FAIL_SOFT\nno tests", Ruling.FAIL_SOFT),
        ("FAIL_HARD: impossible", Ruling.FAIL_HARD),
        ("FAIL: wrong", Ruling.FAIL_SOFT),
        ("I looked at it.\n\nVerdict: PASS", Ruling.PASS),
        ("Hm.\n**Verdict:** `FAIL_HARD`\nbecause", Ruling.FAIL_HARD),
        ("## Result: PASS_WITH_WARNINGS", Ruling.PASS_WITH_WARNINGS),
        ("PASS\nVerdict: PASS", Ruling.PASS),
        ("\u2705 PASS", Ruling.PASS),
        ("The verdict is: PASS", Ruling.PASS),
        ("## Verdict\n\nPASS\n\nfine", Ruling.PASS),
        ("**Verdict:**\nFAIL_HARD\nbecause", Ruling.FAIL_HARD),
        ("## Review\n\nIt does what is asked.\n\n**PASS**", Ruling.PASS),
        ("PASS\nWhat it says of FAIL_SOFT is right.", Ruling.PASS),
        ("PASS_WITH_WARNINGS: if it is empty, it is slow", Ruling.PASS_WITH_WARNINGS),
    ],
)
def test_the_verdict_is_on_the_first_or_a_labelled_line(said: str, ruling: Ruling) -> None:
    found = parse_verdict(said)
    assert found.ruling is ruling
    assert not found.reasons.startswith("the verification gave")
    assert found.passed == (ruling in {Ruling.PASS, Ruling.PASS_WITH_WARNINGS})


@pytest.mark.parametrize(
    "said",
    [
        "",
        "Looks good to me!",
        "PASS or FAIL, who knows",
        "PASSABLE",
        "PASS the salt",
        "The tests PASS",
        "I would say PASS",
        "PASS\nVerdict: FAIL_SOFT",
        "Verdict: PASS\nVerdict: FAIL_HARD",
        "Does it PASS? No.",
        "NOT PASS",
        "I can't say PASS",
        f"PASS{' ' * 1000}is not what it deserves",
        "PASS, but it does not compile",
        "PASS: if line 3 is repaired",
        "PASS - no, FAIL_HARD",
        "PASS\nFAIL_SOFT",
        "PASS\n\nActually, FAIL_HARD.",
        "PASS - it does what is asked\nPASS_WITH_WARNINGS - it does, and\nFAIL_SOFT - it does not\nFAIL_HARD - never",
        "It would be a\nPASS\nif it were blue",
    ],
)
def test_an_unclear_verdict_is_a_soft_failure(said: str) -> None:
    found = parse_verdict(said)
    assert (found.ruling, found.passed) == (Ruling.FAIL_SOFT, False)
    assert found.reasons.startswith("the verification gave")
    assert found.reasons


def test_the_reasons_are_kept() -> None:
    assert parse_verdict("FAIL_SOFT: a.py\n\nline 3 is wrong\nso is 4").reasons == "a.py\nline 3 is wrong\nso is 4"
    assert parse_verdict("Bad.\nVerdict: FAIL_HARD\nReally.").reasons == "Bad.\nReally."


@given(
    st.lists(
        st.sampled_from(["PASS", "FAIL_SOFT", "Verdict:", "x", "\n", "*", "`", ":", " "]) | st.text(max_size=5)
    ).map("".join)
)
def test_no_answer_makes_it_raise_and_only_a_verdict_passes(said: str) -> None:
    found = parse_verdict(said)
    assert not found.passed or "PASS" in said.upper()
