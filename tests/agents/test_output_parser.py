"""What is heard of a tool that plait knows nothing of."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from plait.agents.interface import Activity, AgentEvent, PhaseStarted
from plait.agents.output_parser import MAX_ACTIVITY_CHARS, MAX_PHASES, PlainTextParser
from plait.core.status import Category


def hear(*lines: str) -> list[AgentEvent]:
    listening = PlainTextParser(use_output=True)
    return [signal for line in lines for signal in listening.feed(line)]


def phases(*lines: str) -> list[str]:
    return [signal.name for signal in hear(*lines) if isinstance(signal, PhaseStarted)]


def activities(*lines: str) -> list[str]:
    return [signal.text for signal in hear(*lines) if isinstance(signal, Activity)]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("═══ Phase 1: Writers ═══", "Phase 1: Writers"),
        ("════════════ Phase 12: Panel of judges ════════════", "Phase 12: Panel of judges"),
        ("\x1b[1;36m═══ Phase 2: Judge\x1b[0m\x1b[36m ═══\x1b[0m", "Phase 2: Judge"),
        ("   ═══ Phase 3: Merge ═══   \r", "Phase 3: Merge"),
        ("═══ PHASE 3/5 - Review ═══", "PHASE 3/5 - Review"),
        ("═══ Phase 4 ═══", "Phase 4"),
        ("═══ Phase 5: Ship it", "Phase 5: Ship it"),
        ("║ ═══ Phase 6: Boxed ═══ ║", "Phase 6: Boxed"),
        ("╔═══ Phase 7 — Framed ═══╗", "Phase 7 — Framed"),
        ("🚀 ━━━━ Phase 8: Launch ━━━━", "Phase 8: Launch"),
        ("=== Phase 1 of 3: build ===", "Phase 1 of 3: build"),
        ("═══ Phase: Planning ═══", "Phase: Planning"),
        ("═══ Phase two: Second ═══", "Phase two: Second"),
        ("═══ Phase 9:   much   room   ═══", "Phase 9: much room"),
    ],
)
def test_a_phase_headline_starts_a_phase(line: str, name: str) -> None:
    assert phases(line) == [name]


@pytest.mark.parametrize(
    "line",
    [
        "Phase 1: without a bar",
        "══ Phase 1: two are not enough ══",
        "=== Phase out the old interface ===",
        "we are in ═══ Phase 1: quoted ═══",
        "═══ Phases ═══",
        "# Phase 2",
        '{"text": "═══ Phase 1: x ═══"}',
        "═══ Phase 1: " + "x" * 2000,
    ],
)
def test_other_lines_are_no_phase(line: str) -> None:
    assert phases(line) == []


def test_a_phase_is_reported_once() -> None:
    one, two = "═══ Phase 1: a ═══", "═══ Phase 2: b ═══"
    assert phases(one, "x", one, "y", two, two, "x", one) == ["Phase 1: a", "Phase 2: b", "Phase 1: a"]


def test_the_number_of_phases_is_limited() -> None:
    assert len(phases(*(f"═══ Phase {number}: x ═══" for number in range(10 * MAX_PHASES)))) == MAX_PHASES


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("Writer A: creating src/prompts.py …", "Writer A: creating src/prompts.py …"),
        ("  indented\t and\ttabbed  ", "indented and tabbed"),
        ("\x1b[32m✓\x1b[0m 12 passed", "✓ 12 passed"),
        ("\x1b[2K\x1b[1Gdownloading", "downloading"),
        ("10%\r50%\r\x1b[K100% done", "100% done"),
        ("windows\r", "windows"),
        ("\x1b]0;a title\x07hello", "hello"),
        ("\x1b]8;;https://x.y\x1b\\link\x1b]8;;\x1b\\ after", "link after"),
        ("\x1b]0;a title that never ends", ""),
        ("be\x07ll\x08", "bell"),
        ("half \ud800 a character", "half \ufffd a character"),
        ("turned \u202earound", "turned around"),
        ("no\u00a0break", "no break"),
        ("\x9b31mred", "red"),
    ],
)
def test_the_last_line_is_shown_as_on_a_terminal(line: str, shown: str) -> None:
    assert activities(line) == ([shown] if shown else [])


def test_an_empty_line_is_no_activity() -> None:
    assert hear("", "   ", "\r", "\x1b[0m") == []


def test_a_long_line_is_cut() -> None:
    [shown] = activities("x" * 100_000)
    assert len(shown) == MAX_ACTIVITY_CHARS
    assert shown.endswith("…")


def test_a_repeated_line_is_no_new_activity() -> None:
    assert activities("a", "a", "b", "a") == ["a", "b", "a"]


@given(st.lists(st.text(max_size=300), max_size=5))
def test_activities_are_short_and_without_terminal_escapes(lines: list[str]) -> None:
    for signal in hear(*lines):
        text = signal.name if isinstance(signal, PhaseStarted) else signal.text if isinstance(signal, Activity) else ""
        assert text.isprintable()
        assert 0 < len(text) <= MAX_ACTIVITY_CHARS


@pytest.mark.parametrize("words", [True, False])
def test_only_the_exit_status_means_success(words: bool) -> None:  # noqa: FBT001
    listening = PlainTextParser(use_output=words)
    assert listening.finish(0, "❌ everything failed: litellm.RateLimitError", 0.0).category is Category.OK
    assert listening.finish(1, "✅ All tasks completed successfully!", 0.0).category is Category.TASK


def test_only_the_output_of_a_tool_with_a_provider_explains_a_failure() -> None:
    tail = "ERROR: exceeded retry limit, last status: 429 Too Many Requests"
    assert PlainTextParser(use_output=True).finish(1, tail, 0.0).category is Category.RATE_LIMIT
    assert PlainTextParser(use_output=False).finish(1, tail, 0.0).category is Category.TASK
