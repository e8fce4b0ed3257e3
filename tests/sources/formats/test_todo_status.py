from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import assume, given, settings, strategies as st

from plait.sources.formats import load_format
from plait.sources.source_model import SourceStatus
from plait.sources.status_changes import Rewrite, StatusChange
from plait.sources.text import decode, encode
from plait.testing.contracts.source_format import (
    NOW,
    FormatUnderTest,
    check_any_text,
    check_lossless,
    check_status_change,
    mangled_texts,
)
from tests.support.source_folders import format_problems

TODO = load_format("todo")
PATH = "docs/TODO.md"
MARKS = (
    SourceStatus.TODO,
    SourceStatus.DOING,
    SourceStatus.DONE,
    SourceStatus.SKIPPED,
    SourceStatus.FAILED,
    SourceStatus.BLOCKED,
    SourceStatus.PARTIAL,
)
SUBJECT = FormatUnderTest("todo", PATH, {mark: mark for mark in MARKS})


def rewrite(text: str, changes: Sequence[StatusChange]) -> Rewrite:
    (writer,) = TODO.writers(PATH, changes)
    return writer.apply(text, changes)


def change(name: str, mark: SourceStatus, title: str = "", reason: str = "", at: datetime = NOW) -> StatusChange:
    return StatusChange(name, mark, at, PATH, title, reason)


def write(text: str, mark: SourceStatus, name: str = "1", reason: str = "") -> str:
    changes = [change(name, mark, reason=reason)]
    rewritten = rewrite(text, changes)
    assert rewritten.problems == ()
    assert rewrite(rewritten.text, changes).text == rewritten.text
    (read,) = [entry.status for entry in SUBJECT.read(rewritten.text).entries if entry.task.id == name]
    assert read is mark
    return rewritten.text


def test_a_started_task_gets_its_status_and_date() -> None:
    text = "### 1. One\n- **Effort**: 2h\n- **Status**: [NOT STARTED]\n- **Priority**: High\n"
    assert write(text, SourceStatus.DOING) == (
        "### 1. One\n- **Effort**: 2h\n- **Status**: [IN PROGRESS]\n- **Started**: 2026-03-14\n- **Priority**: High\n"
    )


def test_a_short_task_gets_the_date_of_its_start_too() -> None:
    text = "### 1. One\n**Status**: [NOT STARTED]\n\nText\n"
    change = replace(SUBJECT.change(SUBJECT.read(text).entries[0], SourceStatus.DONE), started=NOW - timedelta(days=1))
    assert SUBJECT.write(text, [change]) == (
        "### 1. One \u2705\n**Status**: [COMPLETED]\n**Started**: 2026-03-13\n**Completed**: 2026-03-14\n\nText\n"
    )


def test_a_done_task_gets_its_status_date_and_tick() -> None:
    text = "### 1. One\n**Status**: [IN PROGRESS]\n**Started**: 2026-03-13\n\nText\n"
    assert write(text, SourceStatus.DONE) == (
        "### 1. One \u2705\n**Status**: [COMPLETED]\n**Started**: 2026-03-13\n**Completed**: 2026-03-14\n\nText\n"
    )


def test_a_status_right_below_a_list_is_replaced_in_place() -> None:
    text = "### 1. One\n**Acceptance Criteria**:\n- [ ] a\n**Status**: [NOT STARTED]\n"
    assert write(text, SourceStatus.DOING) == (
        "### 1. One\n**Acceptance Criteria**:\n- [ ] a\n**Status**: [IN PROGRESS]\n**Started**: 2026-03-14\n"
    )


def test_dates_are_in_order_and_the_reason_is_below_them() -> None:
    text = "### 1. One\n- **Status**: [FAILED]\n- **Started**: 2026-03-13\n- **Blocking Reason**: x\n"
    assert write(text, SourceStatus.BLOCKED, reason="y") == (
        "### 1. One\n- **Status**: [BLOCKED]\n- **Started**: 2026-03-13\n- **Blocked**: 2026-03-14\n- **Blocking Reason**: y\n"
    )


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\nText\n"])
def test_the_blocking_reason_is_removed_when_a_task_is_done(end: str) -> None:
    text = f"### 1. One\n**Status**: [BLOCKED]\n**Blocking Reason**: no network{end}"
    done = write(text, SourceStatus.DONE)
    assert done.startswith("### 1. One \u2705\n**Status**: [COMPLETED]\n**Completed**: 2026-03-14\n")
    assert "no network" not in done
    assert done.endswith(end.removeprefix("\r").removeprefix("\n"))
    several = "### 1. One\n**Status**: [BLOCKED]\n**Blocking Reason**: no network\nand no time\n"
    assert "**Blocking Reason**: no network\nand no time\n" in write(several, SourceStatus.DONE)


def test_a_blocked_task_gets_its_date_and_a_reason_of_one_line() -> None:
    assert write("### 1. One\n**Status:** Planned\n", SourceStatus.BLOCKED, reason="no\n  network \udcff") == (
        "### 1. One\n**Status:** Blocked\n**Blocked:** 2026-03-14\n**Blocking Reason:** no network \ufffd\n"
    )


def test_a_failed_task_gets_a_reason_and_no_date() -> None:
    assert write("### 1. One\n**Status**: [PLANNED]\n", SourceStatus.FAILED, reason="tests fail") == (
        "### 1. One\n**Status**: [FAILED]\n**Blocking Reason**: tests fail\n"
    )
    assert write("### 1. One\n**Status**: [PLANNED]\n", SourceStatus.FAILED) == "### 1. One\n**Status**: [FAILED]\n"


def test_an_abandoned_task_gets_its_date() -> None:
    assert write("### 1. One\n* **Status**: not started\n", SourceStatus.SKIPPED, reason="not told") == (
        "### 1. One\n* **Status**: abandoned\n* **Abandoned**: 2026-03-14\n"
    )


def test_a_long_reason_is_cut() -> None:
    written = write("### 1. One\n**Status**: [PLANNED]\n", SourceStatus.BLOCKED, reason="word " * 1000)
    assert max(map(len, written.splitlines())) < 400


@pytest.mark.parametrize(
    ("raw", "doing", "done", "todo"),
    [
        ("[PARTIAL]", "[IN PROGRESS]", "[COMPLETED]", "[NOT STARTED]"),
        ("PARTIAL", "IN PROGRESS", "COMPLETED", "NOT STARTED"),
        ("Partial", "In Progress", "Completed", "Not Started"),
        ("partial", "in progress", "completed", "not started"),
        ("[Partial]", "[In Progress]", "[Completed]", "[Not Started]"),
        ("**PARTIAL**", "**IN PROGRESS**", "**COMPLETED**", "**NOT STARTED**"),
        ("`[PARTIAL]`", "`[IN PROGRESS]`", "`[COMPLETED]`", "`[NOT STARTED]`"),
        (
            "PARTIAL (4/12 implemented)",
            "IN PROGRESS (4/12 implemented)",
            "COMPLETED",
            "NOT STARTED (4/12 implemented)",
        ),
        ("[PARTIAL] by hand", "[IN PROGRESS] by hand", "[COMPLETED] by hand", "[NOT STARTED] by hand"),
        (
            "[PARTIAL] (Started: 2025-01-02)",
            "[IN PROGRESS] (Started: 2026-03-14)",
            "[COMPLETED] (Started: 2025-01-02)",
            "[NOT STARTED] (Started: 2025-01-02)",
        ),
        (
            "PARTIAL - see below",
            "IN PROGRESS - see below",
            "COMPLETED - see below",
            "NOT STARTED - see below",
        ),
    ],
)
def test_a_status_keeps_its_style(raw: str, doing: str, done: str, todo: str) -> None:
    for mark, expected in ((SourceStatus.DOING, doing), (SourceStatus.DONE, done), (SourceStatus.TODO, todo)):
        written = write(f"### 1. One\n**Status**: {raw}\n", mark)
        assert written.split("\n")[1] == f"**Status**: {expected}"


@pytest.mark.parametrize(
    ("others", "raw", "expected"),
    [
        (["In-Progress", "Not-Started"], "Planned", "In-Progress"),
        (["in_progress"], "planned", "in_progress"),
        (["Not started"], "Planned", "In progress"),
        (["[NOT STARTED]", "[NOT STARTED]"], "Planned", "In Progress"),
        (["not-started"], "NOT STARTED", "IN PROGRESS"),
        (["[NOT STARTED]"], "???", "[IN PROGRESS]"),
        ([], "", "[IN PROGRESS]"),
        (["in progress", "done"], "", "in progress"),
    ],
)
def test_a_status_without_style_takes_that_of_the_others(others: list[str], raw: str, expected: str) -> None:
    text = f"### 1. One\n**Status**: {raw}\n" + "".join(
        f"### {n}. Other\n**Status**: {other}\n" for n, other in enumerate(others, 2)
    )
    assert write(text, SourceStatus.DOING).split("\n")[1] == f"**Status**: {expected}"


def test_a_status_is_spelled_as_elsewhere_in_the_file() -> None:
    text = "### 1. One\n**Status**: Pending\n### 2. Two\n**Status**: Done\n### 3. Three\n**Status**: Done\n"
    assert "**Status**: Done\n**Completed**" in write(text, SourceStatus.DONE)
    assert write(text, SourceStatus.TODO, "2").count("**Status**: Pending") == 2


def test_a_reopened_task_loses_its_tick() -> None:
    for heading in ("### 1. One \u2705", "### \u2705 1. One", "### 1. \u2713 One", "### 1. One \u2714\ufe0f"):
        text = f"{heading}\n**Status**: [COMPLETED] \u2705\n"
        assert write(text, SourceStatus.TODO) == "### 1. One\n**Status**: [NOT STARTED]\n"
    assert write("### 1. One \u2705\ntext\n", SourceStatus.TODO) == "### 1. One\ntext\n"


def test_a_tick_comes_before_closing_hashes_and_spaces() -> None:
    assert write("### 1. One ###  \r\n", SourceStatus.DONE).startswith("### 1. One \u2705 ###  \r\n")
    assert write("### 1. Learn C#\n", SourceStatus.DONE).startswith("### 1. Learn C# \u2705\n")


def test_an_existing_field_gets_the_new_value_and_keeps_remarks() -> None:
    text = "### 1. One\n- **Completed**: 2025-01-01 in a hurry\n- **Status**: [PLANNED]\n- **Started**: soon\n"
    assert write(text, SourceStatus.DONE) == (
        "### 1. One \u2705\n- **Completed**: 2026-03-14 in a hurry\n- **Status**: [COMPLETED]\n- **Started**: soon\n"
    )
    assert "- **Started**: 2026-03-14\n" in write(text, SourceStatus.DOING)


def test_dates_in_the_status_are_updated_and_not_repeated() -> None:
    text = "### 1. One\n**Status**: PLANNED (Started: 2025-12-22)\n"
    assert write(text, SourceStatus.DOING) == "### 1. One\n**Status**: IN PROGRESS (Started: 2026-03-14)\n"
    done = "### 1. One\n**Status**: COMPLETED (Started: 2025-12-22, Completed: 2025-12-23)\n"
    assert write(done, SourceStatus.TODO) == "### 1. One\n**Status**: NOT STARTED (Started: 2025-12-22)\n"
    assert write("### 1. One\n**Status**: DONE (Completed: 2025-12-23)\n", SourceStatus.TODO).endswith("NOT STARTED\n")


def test_the_date_is_in_the_local_time_zone() -> None:
    late = datetime(2026, 3, 14, 23, 30, tzinfo=timezone(timedelta(hours=-8)))
    changes = [change("1", SourceStatus.DOING, at=late)]
    assert "**Started**: 2026-03-14" in rewrite("### 1. One\n**Status**: [PLANNED]\n", changes).text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("### 1. One\n**Status**: [PLANNED]", "### 1. One\n**Status**: [BLOCKED]\n**Blocked**: 2026-03-14"),
        (
            "### 1. One\r\n- **Status**: [PLANNED]",
            "### 1. One\r\n- **Status**: [BLOCKED]\r\n- **Blocked**: 2026-03-14",
        ),
        (
            "### 1. One\r**Status**: [PLANNED]\r",
            "### 1. One\r**Status**: [BLOCKED]\r**Blocked**: 2026-03-14\r",
        ),
        (
            "### 1. One\n**Status**: [PLANNED]  \ngoes on",
            "### 1. One\n**Status**: [BLOCKED]  \ngoes on\n**Blocked**: 2026-03-14  ",
        ),
        ("### 1. One\n**Status**:", "### 1. One\n**Status**: [BLOCKED]\n**Blocked**: 2026-03-14"),
        (
            "### 1. One\n  -  **Status:**  [X]\n",
            "### 1. One\n  -  **Status:**  [BLOCKED]\n  -  **Blocked:**  2026-03-14\n",
        ),
        (
            "### 1. One\n- **Status**: PLANNED\n  - why\n",
            "### 1. One\n- **Status**: BLOCKED\n  - why\n- **Blocked**: 2026-03-14\n",
        ),
        (
            "### 1. One\n- **Status**: [PLANNED]\n---\n",
            "### 1. One\n- **Status**: [BLOCKED]\n- **Blocked**: 2026-03-14\n---\n",
        ),
        ("### 1. One", "### 1. One\n**Status**: [BLOCKED]\n**Blocked**: 2026-03-14"),
        ("\ufeff### 1. One\r\n", "\ufeff### 1. One\r\n**Status**: [BLOCKED]\r\n**Blocked**: 2026-03-14\r\n"),
    ],
)
def test_new_fields_have_the_style_of_the_status(text: str, expected: str) -> None:
    assert write(text, SourceStatus.BLOCKED) == expected


def test_a_new_status_updates_existing_dates() -> None:
    text = "### 1. One\n**Effort**: 2h\n**Blocked**: 2025-01-01\n"
    assert (
        write(text, SourceStatus.BLOCKED)
        == "### 1. One\n**Status**: [BLOCKED]\n**Effort**: 2h\n**Blocked**: 2026-03-14\n"
    )


NO_STATUS = "**Status**: [COMPLETED]\n**Completed**: 2026-03-14\n"
AS_BULLETS = "- **Status**: [COMPLETED]\n- **Completed**: 2026-03-14\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Text\n", NO_STATUS + "\nText\n"),
        ("\nText\n", NO_STATUS + "\nText\n"),
        ("", NO_STATUS),
        ("- a\n- b\n", NO_STATUS + "\n- a\n- b\n"),
        ("\n    code\n", NO_STATUS + "\n    code\n"),
        ("---\n", NO_STATUS + "\n---\n"),
        ("**Effort**: 2h\n", NO_STATUS + "**Effort**: 2h\n"),
        (
            "\n- **Effort**: 2h\n- **Priority**: Low\n",
            "\n" + AS_BULLETS + "- **Effort**: 2h\n- **Priority**: Low\n",
        ),
        ("**Description**: x\n", NO_STATUS + "\n**Description**: x\n"),
    ],
)
def test_a_task_without_a_status_gets_one(body: str, expected: str) -> None:
    assert write(f"### 1. One\n{body}", SourceStatus.DONE) == f"### 1. One \u2705\n{expected}"


def test_a_new_status_has_the_style_of_the_file() -> None:
    other = "### 2. Two\n- **Status:** Planned\n- **Effort:** 2h\n"
    expected = "### 1. One \u2705\n- **Status:** Completed\n- **Completed:** 2026-03-14\n\nText\n"
    assert write(f"### 1. One\nText\n{other}", SourceStatus.DONE) == expected + other


def test_a_new_status_does_not_turn_code_below_into_a_bullet() -> None:
    other = "### 2. Two\n- **Status**: [PLANNED]\n"
    written = write(f"### 1. One\n\n    **Status**: x\n{other}", SourceStatus.DONE)
    assert written == f"### 1. One \u2705\n{NO_STATUS}\n    **Status**: x\n{other}"


def test_only_the_first_status_of_a_task_is_its_status() -> None:
    text = "### 1. One\n```\n**Status**: [PLANNED]\n```\n> **Status**: [PLANNED]\n\n- **Status**: [PLANNED]\n\n#### Step\n**Status**: [PLANNED]\n"
    assert write(text, SourceStatus.TODO) == text
    assert write(text, SourceStatus.PARTIAL) == text.replace("- **Status**: [PLANNED]", "- **Status**: [PARTIAL]")


@pytest.mark.parametrize("mark", MARKS)
def test_an_unchanged_status_changes_nothing(mark: SourceStatus) -> None:
    raw = {
        SourceStatus.DOING: "implementing",
        SourceStatus.DONE: "Complete!",
        SourceStatus.SKIPPED: "[deferred]",
        SourceStatus.TODO: "researched",
    }
    text = f"### 1. One\n**Status**:   {raw.get(mark, mark.value)}\t\n"
    assert write(text, mark, reason="a reason") == text


def test_a_task_finished_meanwhile_is_not_set_back_by_a_start() -> None:
    for text in (
        "### 1. One\n**Status**: [COMPLETED]\n",
        "### 1. One \u2705\n",
        "### 1. One \u2705\n**Status**: x\n",
    ):
        assert rewrite(text, [change("1", SourceStatus.DOING)]).text == text


def test_statuses_without_a_word_change_nothing() -> None:
    text = "### 1. One\n**Status**: [PLANNED]\n"
    for mark in (SourceStatus.STUCK, SourceStatus.UNREADABLE):
        assert rewrite(text, [change("1", mark)]).text == text


def test_many_changes_are_written_at_once() -> None:
    text = "".join(f"### {n}. Task {n}\n**Status**: [NOT STARTED]\n\n" for n in range(1, 6))
    rewritten = rewrite(text, [change(str(n), mark) for n, mark in enumerate(MARKS[1:6], 1)])
    assert [entry.status for entry in SUBJECT.read(rewritten.text).entries] == list(MARKS[1:6])


def test_a_renumbered_or_reworded_task_is_found() -> None:
    text = "### 2. One\n**Status**: [PLANNED]\n### 3. New words\n**Status**: [PLANNED]\n"
    changes = [change("1", SourceStatus.PARTIAL, "One"), change("3", SourceStatus.FAILED, "Old words")]
    assert [entry.status for entry in SUBJECT.read(rewrite(text, changes).text).entries] == [
        SourceStatus.PARTIAL,
        SourceStatus.FAILED,
    ]


def test_a_missing_task_is_reported_and_the_others_are_written() -> None:
    changes = [change("9", SourceStatus.DONE, "Gone"), change("1", SourceStatus.PARTIAL, "One")]
    rewritten = rewrite("### 1. One\n**Status**: [PLANNED]\n", changes)
    assert rewritten.text == "### 1. One\n**Status**: [PARTIAL]\n"
    assert [
        problem.message.startswith("9 was removed from the file or is ambiguous") for problem in rewritten.problems
    ] == [True]


def test_two_changes_of_one_task_do_not_overlap() -> None:
    changes = [change("1", SourceStatus.DONE, "One"), change("5", SourceStatus.BLOCKED, "One")]
    assert "[BLOCKED]" in rewrite("### 1. One\n**Status**: [PLANNED]\n", changes).text


def test_bytes_that_are_not_text_survive() -> None:
    text = decode(b"### 1. \xff One \xe2\x9c\x85\n**Status**: [COMPLETED] (\xfe\x00)\n**Effort**: \xfd\n")
    title = SUBJECT.read(text).entries[0].task.title
    written = rewrite(text, [change("1", SourceStatus.TODO, title)])
    assert encode(written.text) == b"### 1. \xff One\n**Status**: [NOT STARTED] (\xfe\x00)\n**Effort**: \xfd\n"


def test_each_file_has_its_own_writer_and_changes() -> None:
    mine, other = change("1", SourceStatus.DONE), StatusChange("1", SourceStatus.DONE, NOW, "docs/other.md")
    assert [writer.path for writer in TODO.writers(PATH, [mine])] == [PATH]
    text = "### 1. One\n**Status**: [PLANNED]\n"
    (writer,) = TODO.writers(PATH, [mine])
    assert writer.apply(text, [other]).text == text


SAID = st.sampled_from(
    (
        "[NOT STARTED]",
        "Not Started",
        "not-started",
        "in_progress",
        "[IN PROGRESS] (Started: 2025-12-22)",
        "COMPLETED (Started: 2025-12-22, Completed: 2025-12-22)",
        "[COMPLETED] \u2705",
        "**Blocked** by the harbour",
        "PARTIAL (4/12 implemented)",
        "`[PLANNED]`",
        "abandoned",
        "Failed - twice",
        "DOCUMENTED LIMITATION",
        "",
        "[ ] to do",
    )
)
FIELDS = st.sampled_from(
    (
        "**Effort**: 2-3 hours",
        "**Priority**: High (for now)",
        "**Dependencies**: Task 1, 2",
        "**Dependencies**: Requires Layer 0 (see `a.py`)",
        "**Blocking**: Tasks 2-4",
        "**Started**: 2025-01-02",
        "**Completed**: not yet",
        "**Blocked**: 2025-01-02 - no network",
        "**Blocking Reason**: old `x/y.py`",
        "**Files Affected**: `src/a.py`, b.py",
        "**Language**: lean",
    )
)
BODIES = st.sampled_from(
    (
        "",
        "Text in src/x.py.\n",
        "\nText\nover two lines\n",
        "```\n### 99. Example\n**Status**: [COMPLETED]\n```\n",
        "> **Status**: [COMPLETED]\n",
        "\n    **Status**: [COMPLETED]\n",
        "\n**Files Affected**:\n- `c.py`\n- d.py (new)\n",
        "\n**Acceptance Criteria**:\n- [ ] one\n- **Status**: two\n",
        "\n#### Step\n**Status**: [COMPLETED]\n",
        "\n**Description**: What to do\nand why.\n",
        "\n| a | b |\n|---|---|\n| 1 | 2 |\n",
        "\n---\n",
        "Text\n---\n",
        "<!-- a comment -->\n",
    )
)
BULLETS = ("{}", "- {}", "* {}", "  - {}", "{}  ")


@st.composite
def fields(draw: st.DrawFn) -> str:
    """The lines at the top of a task, all in one style, one of them perhaps its status."""
    lines = draw(st.lists(FIELDS, max_size=4, unique_by=lambda line: line[:7]))
    for _ in range(draw(st.sampled_from((0, 1, 1, 1, 1, 2)))):
        lines.insert(draw(st.integers(0, len(lines))), f"**Status**: {draw(SAID)}")
    if draw(st.booleans()):
        lines = [line.replace("**:", ":**", 1) for line in lines]
    bullet = draw(st.sampled_from(BULLETS))
    return "".join(f"{bullet.format(line)}\n" for line in lines)


@st.composite
def files(draw: st.DrawFn) -> str:
    """A look-alike of a numbered TODO."""
    parts = [
        draw(st.sampled_from(("", "---\nnext: 4\n---\n", "# TODO\n\n- **Status**: fine\n\n", "## High Priority\n\n")))
    ]
    for n in range(1, draw(st.integers(1, 5)) + 1):
        title = draw(
            st.sampled_from(
                ("### {}. Task {}", "### {}. Task {} \u2705", "### \u2705 {}. Task {}", "### {}. Task {} ##")
            )
        )
        parts.append(f"{title.format(draw(st.sampled_from((n, n, n, n, 1))), n)}\n{draw(fields())}{draw(BODIES)}")
        parts.append(
            draw(st.sampled_from(("", "\n", "\n---\n\n", "\n## Low Priority\n\n", "### Ideas\n\n- [ ] x\n\n")))
        )
    text = "".join(parts)
    return text.rstrip("\n") if draw(st.booleans()) else text


FORMS = st.sampled_from(("\n", "\r\n", "\r"))


@given(files(), FORMS, st.booleans())
def test_writing_the_current_statuses_keeps_every_byte(text: str, ends: str, bom: bool) -> None:  # noqa: FBT001
    check_lossless(SUBJECT, ("\ufeff" if bom else "") + text.replace("\n", ends))


@given(files(), FORMS, st.integers(0, 9), st.sampled_from(MARKS))
def test_a_change_touches_its_own_lines_only(text: str, ends: str, index: int, mark: SourceStatus) -> None:
    if mark is SourceStatus.DOING:
        assume(all(entry.status is not SourceStatus.DONE for entry in SUBJECT.read(text).entries))
    check_status_change(SUBJECT, text.replace("\n", ends), index, mark)


@settings(max_examples=60)
@given(files(), st.lists(st.sampled_from(MARKS), min_size=4, max_size=4))
def test_after_many_changes_the_last_status_holds_and_no_field_is_repeated(
    text: str, marks: list[SourceStatus]
) -> None:
    for mark in marks:
        entries = SUBJECT.read(text).entries
        changes = [SUBJECT.change(entry, mark) for entry in entries]
        text = SUBJECT.write(text, changes)
        assert SUBJECT.write(text, changes) == text
        kept = {SourceStatus.DONE} if mark is SourceStatus.DOING else set()
        assert {entry.status for entry in SUBJECT.read(text).entries} <= {mark} | kept
    for entry in SUBJECT.read(text).entries:
        keys = re.findall(r"\*\*(Started|Completed|Blocked|Abandoned|Blocking Reason)(?::\*\*|\*\*:)", entry.task.body)
        assert len(keys) == len(set(keys))


@given(mangled_texts(files()))
def test_no_text_makes_the_writer_raise(text: str) -> None:
    check_any_text(SUBJECT, text)


def test_writing_makes_no_new_problems() -> None:
    text = "### 1. One\n**Status**: [NOT STARTED]\n"
    for mark in MARKS:
        assert format_problems(SUBJECT.read(write(text, mark, reason="because of Task 4"))) == []
