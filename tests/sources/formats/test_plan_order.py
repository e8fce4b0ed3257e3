from __future__ import annotations

import pytest

from plait.core.graph import build_checked_plan
from plait.core.plan import Severity
from plait.core.task import NeedKind, Origin
from plait.sources.source_model import Chain, Reading
from plait.testing.contracts.source_format import FormatUnderTest

PATH = "plan.md"
PLAN = FormatUnderTest("plan", PATH)


def read(text: str) -> Reading:
    return PLAN.read(text)


def phase(number: int, *lines: str) -> str:
    return "\n".join((f"## Phase {number}: P", "", *lines, "", ""))


def boxes(*names: str) -> str:
    return "\n".join(f"- [ ] {name} do {name}" for name in names)


def needs(reading: Reading, kind: NeedKind | None = None) -> dict[str, list[str]]:
    return {
        entry.task.id: on
        for entry in reading.entries
        if (on := [need.on for need in entry.task.needs if kind in {None, need.kind}])
    }


def messages(reading: Reading) -> list[tuple[int, str]]:
    return [(problem.at.line if problem.at else 0, problem.message) for problem in reading.problems]


class TestSequentialNotes:
    @pytest.mark.parametrize(
        ("note", "group"),
        [
            ("Tasks 1.1-1.3 are [SEQUENTIAL] - why", "1.1-1.3"),
            ("Tasks 1.1\u20131.3 are [SEQUENTIAL] \u2014 why", "1.1\u20131.3"),
            ("Tasks 1.1 \u2014 1.3 are [SEQUENTIAL]: why", "1.1 \u2014 1.3"),
            ("Tasks 1.1 to 1.3 are [sequential] (why)", "1.1 to 1.3"),
            ("Tasks 1.1-3 are SEQUENTIAL - why", "1.1-3"),
            ("Task 1.1, 1.2, 1.3 is [SEQUENTIAL] - why", "1.1, 1.2, 1.3"),
            ("Tasks 1.1, 1.2 and 1.3 are [SEQUENTIAL] - why", "1.1, 1.2 and 1.3"),
            ("Tasks 1.1-1.2 and 1.3 are [SEQUENTIAL] - why", "1.1-1.2 and 1.3"),
            ("Tasks 1.3, 1.1 & 1.2 are all [SEQUENTIAL] - why", "1.3, 1.1 & 1.2"),
            ("Tasks 1.1-1.3 are\n[SEQUENTIAL] - why", "1.1-1.3"),
            ("Tasks `1.1`-`1.3` are [SEQUENTIAL] - why", "1.1-1.3"),
        ],
    )
    def test_make_a_chain_in_the_order_of_the_file(self, note: str, group: str) -> None:
        reading = read(phase(1, f"**Execution Note:** {note}", "", boxes("1.1", "1.2", "1.3", "1.4")))
        assert needs(reading) == {"1.2": ["1.1"], "1.3": ["1.2"]}
        assert [entry.chain for entry in reading.entries] == [Chain(group, "why")] * 3 + [None]
        assert reading.problems == ()

    @pytest.mark.parametrize("label", ["*Execution Note:*", "__Execution Note__:", "_Execution Note:_"])
    def test_may_have_any_emphasis(self, label: str) -> None:
        reading = read(phase(1, f"{label} Tasks 1.1-1.2 are [SEQUENTIAL]", "", boxes("1.1", "1.2")))
        (need,) = reading.entries[1].task.needs
        assert (need.on, need.reason) == ("1.1", "Tasks 1.1-1.2 are [SEQUENTIAL]")

    def test_give_their_reason_and_their_place_to_every_link(self) -> None:
        reading = read(phase(1, "**Execution Note:** Tasks 1.1-1.2 are [SEQUENTIAL] - one file", boxes("1.1", "1.2")))
        (need,) = reading.entries[1].task.needs
        assert (need.kind, need.reason, need.at) == (NeedKind.CHAIN, "one file", Origin(PATH, 3))

    def test_without_a_reason_have_their_own_text(self) -> None:
        reading = read(phase(1, "**Execution Note:** Tasks 1.1-1.2 are [SEQUENTIAL]", boxes("1.1", "1.2")))
        assert reading.entries[1].task.needs[0].reason == "Tasks 1.1-1.2 are [SEQUENTIAL]"
        assert reading.entries[1].chain == Chain("1.1-1.2", "")

    def test_take_from_a_range_what_exists(self) -> None:
        reading = read(phase(1, "**Execution Note:** Tasks 1.1-1.9 are [SEQUENTIAL] - x", boxes("1.1", "1.4", "1.9")))
        assert needs(reading) == {"1.4": ["1.1"], "1.9": ["1.4"]}

    def test_know_that_ten_comes_after_nine(self) -> None:
        reading = read(phase(1, "**Execution Note:** Tasks 1.9-1.10 are [SEQUENTIAL] - x", boxes("1.1", "1.9", "1.10")))
        assert needs(reading) == {"1.10": ["1.9"]}

    def test_take_the_parts_of_what_a_range_names(self) -> None:
        text = phase(
            1,
            "**Execution Note:** Tasks 1.1-1.2 are [SEQUENTIAL] - x",
            boxes("1.1.1", "1.1.2", "1.2", "1.2.1"),
        )
        assert needs(read(text)) == {"1.1.2": ["1.1.1"], "1.2": ["1.1.2"], "1.2.1": ["1.2"]}

    def test_know_ids_of_three_numbers(self) -> None:
        text = phase(1, "**Execution Note:** Tasks 1.2.1-1.2.3 are [SEQUENTIAL] - x", boxes("1.2.1", "1.2.3", "1.3"))
        assert needs(read(text)) == {"1.2.3": ["1.2.1"]}

    def test_do_not_take_ids_from_their_reason(self) -> None:
        note = "**Execution Note:** Tasks 1.1-1.2 are [SEQUENTIAL] - 1.1 makes what 1.3-1.4 need"
        assert needs(read(phase(1, note, boxes("1.1", "1.2", "1.3", "1.4")))) == {"1.2": ["1.1"]}

    def test_may_use_the_word_again_in_their_reason(self) -> None:
        note = "**Execution Note:** Tasks 1.1-1.2 are [SEQUENTIAL] - 1.3 reads what [SEQUENTIAL] and [PARALLEL] mean"
        reading = read(phase(1, note, boxes("1.1", "1.2", "1.3")))
        assert needs(reading) == {"1.2": ["1.1"]}
        assert reading.entries[0].chain == Chain("1.1-1.2", "1.3 reads what [SEQUENTIAL] and [PARALLEL] mean")

    def test_can_name_two_groups(self) -> None:
        note = "**Execution Note:** Tasks 1.1-1.2 are [SEQUENTIAL] - a; Tasks 1.3-1.4 are [SEQUENTIAL] - b"
        reading = read(phase(1, note, boxes("1.1", "1.2", "1.3", "1.4")))
        assert needs(reading) == {"1.2": ["1.1"], "1.4": ["1.3"]}
        assert [entry.chain for entry in reading.entries[::2]] == [
            Chain("1.1-1.2", "a"),
            Chain("1.3-1.4", "b"),
        ]

    @pytest.mark.parametrize("what", ["All tasks are", "This phase is", "Phase 1 is", "Phase 1 tasks are"])
    def test_can_mean_a_whole_phase(self, what: str) -> None:
        reading = read(phase(1, f"**Execution Note:** {what} [SEQUENTIAL] - x", boxes("1.1", "1.2")))
        assert needs(reading) == {"1.2": ["1.1"]}
        assert reading.entries[0].chain == Chain("phase 1", "x")

    def test_that_name_missing_tasks_are_reported(self) -> None:
        reading = read(phase(1, "**Execution Note:** Tasks 1.1, 1.2, 1.7 are [SEQUENTIAL] - x", boxes("1.1", "1.2")))
        assert needs(reading) == {"1.2": ["1.1"]}
        assert messages(reading) == [(3, "this note names 1.7, but there is no such task")]
        assert reading.problems[0].severity is Severity.WARNING

    def test_that_run_backwards_are_reported(self) -> None:
        reading = read(phase(1, "**Execution Note:** Tasks 1.2-1.1 are [SEQUENTIAL] - x", boxes("1.1", "1.2")))
        assert messages(reading) == [(3, "this note names 1.2-1.1, but there is no such task")]

    @pytest.mark.parametrize(
        "line",
        [
            "```\n**Execution Note:** Tasks 1.1-1.2 are [SEQUENTIAL] - x\n```",
            "`**Execution Note:** Tasks 1.1-1.2 are [SEQUENTIAL] - x`",
            "- [ ] 1.3 a\n  - Parse `**Execution Note:** Tasks 1.1-1.2 are [SEQUENTIAL]`\n  **Execution Note:** Tasks 1.1-1.2 are [SEQUENTIAL]",
            "**Execution Note:** Tasks 1.1, 1.2 can run in parallel",
            "<!--\n**Execution Note:** Tasks 1.1-1.2 are [SEQUENTIAL] - x\n-->",
        ],
    )
    def test_are_not_read_in_examples(self, line: str) -> None:
        reading = read(phase(1, boxes("1.1", "1.2"), "", line))
        assert needs(reading) == {}
        assert reading.problems == ()

    @pytest.mark.parametrize(
        "line",
        [
            "> **Execution Note:** Tasks 1.1-1.2 are [SEQUENTIAL] - x",
            "- **Execution Note:** Tasks 1.1-1.2 are [SEQUENTIAL] - x",
            "Execution Note: Tasks 1.1-1.2 are [SEQUENTIAL] - x",
            "**Execution Note**: Tasks 1.1-1.2 are [SEQUENTIAL] - x",
        ],
    )
    def test_can_be_right_below_a_task(self, line: str) -> None:
        reading = read(phase(1, boxes("1.1", "1.2"), line))
        assert needs(reading) == {"1.2": ["1.1"]}
        assert reading.entries[1].task.title == "do 1.2"

    def test_show_the_first_of_two_groups(self) -> None:
        notes = [f"**Execution Note:** Tasks {tasks} are [SEQUENTIAL] - {tasks}\n" for tasks in ("1.1-1.2", "1.2-1.3")]
        reading = read(phase(1, *notes, boxes("1.1", "1.2", "1.3")))
        assert [entry.chain.name for entry in reading.entries if entry.chain] == [
            "1.1-1.2",
            "1.1-1.2",
            "1.2-1.3",
        ]


class TestParallelNotes:
    @pytest.mark.parametrize("what", ["Phases 1-3 are", "Phases 1, 2 and 3 are", "Phases 1\u20133 are"])
    def test_remove_the_gates_between_phases(self, what: str) -> None:
        text = f"**Execution Note:** {what} [PARALLEL] - apart\n\n" + "".join(
            phase(n, boxes(f"{n}.1")) for n in range(5)
        )
        after = {found.key: found.after for found in read(text).phases}
        assert after == {"0": (), "1": ("0",), "2": ("0",), "3": ("0",), "4": ("0", "1", "2", "3")}

    def test_that_name_missing_tasks_are_reported(self) -> None:
        reading = read("**Execution Note:** Phases 1-7 are [PARALLEL] - x\n\n" + phase(1, boxes("1.1")))
        assert messages(reading) == [(1, "this note names 7, but there is no such phase")]

    def test_of_tasks_change_nothing(self) -> None:
        reading = read(phase(1, "**Execution Note:** Tasks 1.1-1.2 are [PARALLEL]", boxes("1.1", "1.2")))
        assert (needs(reading), reading.problems) == ({}, ())


class TestDependencies:
    @pytest.mark.parametrize(
        "words",
        [
            "Build it (depends: 1.1, 1.3)",
            "Build it (Depends on: 1.1 and 1.3)",
            "Build it (depends on tasks 1.1, 1.3)",
            "Build it [depends: 1.1; 1.3]",
            "Build (depends:1.1) it (depends: 1.3)",
            "Build it\n  (depends: 1.1,\n  1.3)",
            "Build it\n  - Depends on: 1.1, 1.3",
            "Build it\n  - **Depends on:** 1.1 and 1.3.",
        ],
    )
    def test_are_edges_and_not_part_of_the_title(self, words: str) -> None:
        reading = read(phase(1, boxes("1.1", "1.2", "1.3")) + phase(2, f"- [ ] 2.1 {words}"))
        assert needs(reading, NeedKind.NEED) == {"2.1": ["1.1", "1.3"]}
        assert reading.entries[-1].task.title == "Build it"
        assert reading.problems == ()

    def test_have_their_text_and_line(self) -> None:
        reading = read(phase(1, boxes("1.1"), "- [ ] 1.2 Build (depends: 1.1)"))
        (need,) = reading.entries[1].task.needs
        assert (need.reason, need.at) == ("(depends: 1.1)", Origin(PATH, 4))

    def test_can_be_ranges(self) -> None:
        reading = read(phase(1, boxes("1.1", "1.2", "1.4")) + phase(2, "- [ ] 2.1 Build (depends: 1.1-1.4)"))
        assert needs(reading) == {"2.1": ["1.1", "1.2", "1.4"]}

    def test_on_a_number_with_parts_are_on_its_parts(self) -> None:
        reading = read(phase(1, boxes("1.1.1", "1.1.2"), "- [ ] 1.2 Build (depends: 1.1)"))
        assert needs(reading) == {"1.2": ["1.1.1", "1.1.2"]}

    def test_on_an_unknown_task_are_left_to_the_plan(self) -> None:
        reading = read(phase(1, "- [ ] 1.2 Build (depends: 1.1)"))
        assert (needs(reading), reading.problems) == ({"1.2": ["1.1"]}, ())

    @pytest.mark.parametrize(
        "words",
        [
            "Parse `(depends: 1.1)`",
            "Wait (all dependencies must complete)",
            "Update (dependencies updated)",
            "Nothing (depends: none)",
            "Release 1.1 now",
            "Build it\n  ```\n  (depends: 1.1)\n  ```",
            "Build it\n  - Show that it depends on 1.1 in a table",
        ],
    )
    def test_are_not_made_up(self, words: str) -> None:
        reading = read(phase(1, boxes("1.1"), f"- [ ] 1.2 {words}"))
        assert (needs(reading), reading.problems) == ({}, ())

    def test_that_name_no_task_are_reported_and_stay_in_the_title(self) -> None:
        reading = read(phase(1, "- [ ] 1.2 Build (depends: the quay)"))
        assert reading.entries[0].task.title == "Build (depends: the quay)"
        assert messages(reading) == [(3, "1.2 names no task that it depends on: (depends: the quay)")]

    def test_on_itself_are_reported(self) -> None:
        reading = read(phase(1, "- [ ] 1.2 Build (depends: 1.2)"))
        assert needs(reading) == {}
        assert messages(reading) == [(3, "1.2 can't depend on itself: (depends: 1.2)")]

    def test_in_huge_numbers_are_an_error_and_take_no_memory(self) -> None:
        many = "\n".join(f"- [ ] 1.{n} a (depends: 1.1-1.1000)" for n in range(1, 1001))
        reading = read(phase(1, many))
        assert [problem.severity for problem in reading.problems] == [Severity.ERROR]
        assert sum(len(entry.task.needs) for entry in reading.entries) <= 500_000


class TestVerifying:
    @pytest.mark.parametrize(
        "line",
        [
            "**VERIFY Phase 1:**",
            "**VERIFY Phase 1**",
            "**Verify Phase 1:** all of it",
            "VERIFY Phase 1:",
            "### VERIFY Phase 1",
            "- **VERIFY Phase 1:**",
        ],
    )
    @pytest.mark.parametrize("gap", ["", "\n"])
    def test_comes_after_the_ordinary_tasks_of_its_phase(self, line: str, gap: str) -> None:
        text = phase(1, f"{boxes('1.1', '1.2')}{gap}", line, boxes("1.3", "1.4")) + phase(2, boxes("2.1"))
        assert needs(read(text), NeedKind.CHAIN) == {"1.3": ["1.1", "1.2"], "1.4": ["1.1", "1.2"]}

    def test_gives_its_line_as_the_reason(self) -> None:
        reading = read(phase(1, boxes("1.1"), "**VERIFY Phase 1:**", boxes("1.2")))
        (need,) = reading.entries[1].task.needs
        assert (need.reason, need.at) == ("VERIFY Phase 1:", Origin(PATH, 4))

    @pytest.mark.parametrize("line", ["**VERIFY Phase 1:** (non-blocking)", "**VERIFY Phase 1 (non-blocking):**"])
    def test_can_be_non_blocking(self, line: str) -> None:
        reading = read(phase(1, boxes("1.1"), line, boxes("1.2", "1.3")))
        assert [entry.task.gating for entry in reading.entries] == [True, False, False]
        assert reading.phases[0].total == 1

    def test_counts_for_the_gate_by_default(self) -> None:
        reading = read(phase(1, boxes("1.1"), "**VERIFY Phase 1:**", boxes("1.2")))
        assert reading.phases[0].total == 2

    def test_ends_with_the_phase_or_with_new_tasks(self) -> None:
        text = phase(
            1,
            boxes("1.1"),
            "**VERIFY Phase 1:**",
            boxes("1.2"),
            "**Tasks:**",
            boxes("1.3"),
            "### More",
            boxes("1.4"),
        )
        assert needs(read(text)) == {"1.2": ["1.1", "1.3", "1.4"]}

    def test_needs_no_boxes(self) -> None:
        text = phase(1, boxes("1.1"), "**VERIFY Phase 1:**", "- [ ] it works", "- it really does") + phase(
            2, boxes("2.1")
        )
        assert needs(read(text)) == {}

    def test_keeps_the_needs_that_its_tasks_state(self) -> None:
        reading = read(phase(1, boxes("1.1", "1.2"), "**VERIFY Phase 1:**", "- [ ] 1.3 a (depends: 1.2)"))
        assert [(need.on, need.kind) for need in reading.entries[2].task.needs] == [
            ("1.2", NeedKind.NEED),
            ("1.1", NeedKind.CHAIN),
        ]

    def test_of_a_missing_phase_is_reported(self) -> None:
        reading = read(phase(1, boxes("1.1"), "**VERIFY Phase 4:**", boxes("1.2")))
        assert messages(reading) == [(4, "there is no phase 4 to verify")]

    @pytest.mark.parametrize(
        "line", ["Verify Phase 1: by hand", "VERIFY Phase 1 is the next step", "```\nVERIFY Phase 1:\n```"]
    )
    def test_is_not_a_sentence(self, line: str) -> None:
        assert needs(read(phase(1, boxes("1.1"), "", line, "", boxes("1.2")))) == {}

    def test_of_very_many_tasks_uses_the_first_as_barrier(self) -> None:
        ordinary, checks = [f"1.{n}" for n in range(1, 301)], [f"1.{n}" for n in range(301, 601)]
        found = needs(read(phase(1, boxes(*ordinary), "**VERIFY Phase 1:**", boxes(*checks))))
        assert found["1.301"] == ordinary
        assert {name: found[name] for name in checks[1:]} == {name: ["1.301"] for name in checks[1:]}


class TestPipelineStarts:
    @pytest.mark.parametrize(
        "text",
        [
            "## Phase 2: P (pipeline-start: when 1.2 completes)\n\n- [ ] 2.1 a\n",
            "## Phase 2: P **pipeline-start:** when 1.2 completes\n\n- [ ] 2.1 a\n",
            "**pipeline-start:** when 1.2 completes\n\n## Phase 2: P\n\n- [ ] 2.1 a\n",
            "**pipeline-start:** when task 1.2 is done\n## Phase 2: P\n\n- [ ] 2.1 a\n",
            "**pipeline-start:** after 1.2 completes\n## Phase 2: P\n\n- [ ] 2.1 a\n",
            "## Phase 2: P\n**pipeline-start:** when 1.2 completes (not waiting for others)\n- [ ] 2.1 a\n",
        ],
    )
    @pytest.mark.parametrize("gap", ["", "\n\n"])
    def test_open_a_phase_with_a_task(self, text: str, gap: str) -> None:
        reading = read(f"{phase(1, boxes('1.1', '1.2')).rstrip()}\n{gap}{text}")
        assert [(found.key, found.title, found.opens_with) for found in reading.phases] == [
            ("1", "P", None),
            ("2", "P", "1.2"),
        ]
        assert reading.problems == ()

    def test_that_name_missing_tasks_are_reported(self) -> None:
        reading = read(phase(1, boxes("1.1"), "**pipeline-start:** when 1.9 completes") + phase(2, boxes("2.1")))
        assert reading.phases[1].opens_with is None
        assert messages(reading) == [(4, "phase 2 opens with 1.9, but there is no such task")]

    def test_that_can_not_be_read_are_reported(self) -> None:
        reading = read(phase(1, boxes("1.1"), "**pipeline-start:** 60% of Phase 1") + phase(2, boxes("2.1")))
        assert messages(reading) == [(4, "this pipeline start names no task: pipeline-start: 60% of Phase 1")]

    def test_with_a_task_of_the_phase_itself_are_reported(self) -> None:
        reading = read(phase(1, boxes("1.1")) + "## Phase 2: P (pipeline-start: when 2.1 completes)\n- [ ] 2.1 a\n")
        assert reading.phases[1].opens_with is None
        assert messages(reading)[0][0] == 5

    def test_before_nothing_are_reported(self) -> None:
        reading = read(phase(1, boxes("1.1"), "", "**pipeline-start:** when 1.1 completes"))
        assert messages(reading) == [(5, "no phase follows: pipeline-start: when 1.1 completes")]


def test_a_plan_with_everything_in_it_is_in_order() -> None:
    text = (
        "**Execution Note:** Phases 1-2 are [PARALLEL] - apart\n\n"
        + phase(0, boxes("0.1", "0.2"), "**VERIFY Phase 0:**", boxes("0.3"))
        + phase(1, "**Execution Note:** Tasks 1.1-1.3 are [SEQUENTIAL] - one file", boxes("1.1", "1.2", "1.3"))
        + phase(2, "- [ ] 2.1 a (depends: 0.1)", "**VERIFY Phase 2:** (non-blocking)", boxes("2.2"))
        + "**pipeline-start:** when 1.1 completes\n"
        + phase(3, boxes("3.1"))
    )
    reading = read(text)
    checked = build_checked_plan([entry.task for entry in reading.entries], phases=reading.phases)
    assert reading.problems == ()
    assert (checked.plan is not None, checked.problems) == (True, ())
