from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given, settings, strategies as st

from plait.core.graph import build_checked_plan
from plait.core.plan import Severity
from plait.core.task import Need, NeedKind, Origin
from plait.sources.formats import Confidence, detect_format, load_format
from plait.sources.source_model import Document, Reading, SourceEntry, SourceFiles, SourceStatus
from plait.sources.text import TextLines, to_printable
from plait.testing.contracts.source_format import mangled_texts
from tests.support.source_folders import (
    format_problems,
    get_single,
    index_by_id,
    make_source_files,
    read_needs,
)

FOLDER = load_format("folder")


def read(files: dict[str, str], *, named: bool = True, exclude: tuple[str, ...] = ()) -> Reading:
    files = {name: dedent(text) for name, text in files.items()}
    return FOLDER.read(make_source_files("folder", "tasks", files, named=named, exclude=exclude))


def one(text: str, name: str = "01-x.md") -> SourceEntry:
    return get_single(read({name: text}))


def front(lines: str) -> SourceEntry:
    return one(f"---\n{dedent(lines).strip()}\n---\n# Do it\n\nText.\n")


class TestFiles:
    def test_each_file_is_a_task_whose_id_is_its_stem(self) -> None:
        reading = read({"01-add.md": "# Add\n", "v1.2-notes.md": "# Notes\n"})
        assert [entry.task.id for entry in reading.entries] == ["01-add", "v1.2-notes"]
        assert [entry.task.origin for entry in reading.entries] == [
            Origin("tasks/01-add.md", 1),
            Origin("tasks/v1.2-notes.md", 1),
        ]

    def test_hidden_files_and_files_about_the_folder_are_not_tasks(self) -> None:
        files = dict.fromkeys(("README.md", "Readme.md", "PHASES.md", "_template.md", ".draft.md", "a.md"), "# A\n")
        assert list(index_by_id(read(files))) == ["a"]

    @pytest.mark.parametrize("glob", ["b*.md", "tasks/b.md", "**/b.md", "b.md"])
    def test_excluded_files_are_not_tasks(self, glob: str) -> None:
        assert list(index_by_id(read({"a.md": "# A\n", "b.md": "# B\n"}, exclude=(glob,)))) == ["a"]

    def test_numbers_alone_are_not_ids(self) -> None:
        files = {"08-a.md": "# A\n", "08-b.md": "# B\n", "08-c.md": "# C\n"}
        assert list(index_by_id(read(files))) == ["08-a", "08-b", "08-c"]

    def test_prefix_words_are_not_part_of_the_id(self) -> None:
        found = index_by_id(read({"task-01-x.md": "# X\n", "writer-prompt-02-y.md": "# Y\n", "task-.md": "# Z\n"}))
        assert list(found) == ["task-", "01-x", "02-y"]
        assert found["01-x"].aliases == ("task-01-x",)

    def test_files_that_would_share_an_id_keep_their_whole_stems(self) -> None:
        assert list(index_by_id(read({"01-x.md": "# X\n", "task-01-x.md": "# X\n"}))) == ["01-x", "task-01-x"]

    def test_an_id_in_the_front_matter_overrides_the_name(self) -> None:
        entry = front("id: login")
        assert entry.task.id == "login"
        assert entry.aliases == ("01-x",)

    def test_an_empty_folder_is_an_error_that_says_what_a_task_file_is(self) -> None:
        reading = read({"README.md": "# Read me\n"})
        (problem,) = reading.problems
        assert reading.entries == ()
        assert problem.severity is Severity.ERROR
        assert problem.message == "there are no task files in tasks"
        assert "README.md" in problem.hint

    def test_an_empty_file_has_only_its_name(self) -> None:
        reading = read({"a.md": " \n", "b.md": "---\nrun: make\n---\n"})
        assert [entry.status for entry in reading.entries] == [SourceStatus.UNREADABLE, SourceStatus.TODO]
        assert format_problems(reading) == ["tasks/a.md:1: empty task file: it can't be run"]

    def test_no_status_is_written(self) -> None:
        assert FOLDER.writers("tasks", ()) == []


class TestTitles:
    @pytest.mark.parametrize(
        ("heading", "title"),
        [
            ("# Task: Add login", "Add login"),
            ("# Task 04: Split `x.py`", "Split `x.py`"),
            ("# Task 4.2 - Split", "Split"),
            ("# task #7: Split", "Split"),
            ("# Task management: rules", "Task management: rules"),
            ("Task: Underlined\n===", "Underlined"),
            ("> # Quoted\n\n# Real", "Real"),
            ("```\n# Example\n```\n# Real", "Real"),
            ("# Task:", "x"),
        ],
    )
    def test_the_first_heading_without_the_word_task(self, heading: str, title: str) -> None:
        assert one(f"{heading}\n", "x.md").task.title == title

    @pytest.mark.parametrize("text", ["Text", "# Task: Heading"])
    def test_the_title_of_the_front_matter_comes_first(self, text: str) -> None:
        assert one(f"---\ntitle: From above\n---\n{text}\n").task.title == "From above"

    def test_without_a_heading_the_file_name_is_the_title(self) -> None:
        assert one("Text\n", "03-add_more-tests.md").task.title == "03 add more tests"

    def test_the_body_is_the_text_without_front_matter_as_it_is_written(self) -> None:
        entry = one("\ufeff---\r\ntitle: T\r\n---\r\n# A\r\n\r\n\tB  \r\n")
        assert entry.task.body == "# A\r\n\r\n\tB  \r\n"


class TestFrontMatter:
    def test_every_key_of_the_front_matter_is_read(self) -> None:
        task = front(
            """
            needs: [02-y]
            touches: [src/a.py, docs/]
            conflicts_with: 03-z
            exclusive: database
            phase: 2
            priority: high
            complexity: High
            estimate: 1h 30m
            slots: 2
            allow_empty: true
            agent: claude
            model: opus
            verify: make test
            timeout: 90
            retries: 3
            env:
              A: "1"
              B: two
            run: make
            """
        ).task
        assert [need.on for need in task.needs] == ["02-y"]
        assert task.touches == ("src/a.py", "docs/")
        assert task.conflicts_with == ("03-z",)
        assert (task.exclusive, task.phase, task.priority, task.weight) == ("database", "2", 0, 4.0)
        assert (task.estimate, task.timeout, task.slots, task.retries) == (5400.0, 90.0, 2, 3)
        assert (task.allow_empty, task.agent, task.model) == (True, "claude", "opus")
        assert (task.verify, task.run) == ("make test", "make")
        assert task.env == (("A", "1"), ("B", "two"))

    @pytest.mark.parametrize("key", ["needs", "depends_on", "dependencies", "Depends-On"])
    @pytest.mark.parametrize("value", ["[a, b]", "a, b", "a and b", "\n  - a\n  - b.md"])
    def test_needs_have_synonyms_and_may_be_lists_or_texts(self, key: str, value: str) -> None:
        reading = read({"01-x.md": f"---\n{key}: {value}\n---\n# X\n", "a.md": "# A\n", "b.md": "# B\n"})
        assert list(read_needs(index_by_id(reading)["01-x"])) == ["a", "b"]
        assert reading.problems == ()

    @pytest.mark.parametrize("key", ["touches", "files", "target_files", "output_file", "output_files"])
    def test_touches_have_synonyms(self, key: str) -> None:
        assert front(f"{key}: app/[id]/page.tsx, src/*.py").task.touches == ("app/[id]/page.tsx", "src/*.py")

    def test_run_implies_the_shell_unless_an_agent_is_given(self) -> None:
        assert front("run: make docs").task.agent == "shell"
        assert front("run: make docs\nagent: claude").task.agent == "claude"
        assert front("model: opus").task.agent is None

    def test_tasks_that_must_not_run_in_parallel_share_one_group(self) -> None:
        assert front("parallel: false").task.exclusive == "serial"
        assert front("exclusive: true").task.exclusive == "serial"
        assert front("parallel: true").task.exclusive is None
        assert front("exclusive: false").task.exclusive is None

    def test_a_status_in_the_front_matter_counts(self) -> None:
        assert front("status: done").status is SourceStatus.DONE
        assert front("status: in-progress").status is SourceStatus.DOING
        assert front("status: whatever").status is SourceStatus.TODO

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("retries: often", "retries must be an integer, at least 0: often"),
            ("slots: 0", "slots must be an integer, at least 1: 0"),
            ("timeout: soon", "timeout is not a duration: soon"),
            ("allow_empty: perhaps", "allow_empty must be true or false: perhaps"),
            ("weight: heavy", "weight must be low, medium or high: heavy"),
            ("priority: whenever", "priority is not a priority: whenever"),
            ("env: A=1", "env is not a map of names and texts"),
            ("needs: {a: 1}", "needs is not a list of texts"),
            ("agent: [a, b]", "agent is not a text"),
            ("verify: false", "verify is not a command: false"),
        ],
    )
    def test_a_value_of_the_wrong_type_is_ignored_alone(self, line: str, message: str) -> None:
        reading = read({"01-x.md": f"---\ntitle: X\n{line}\nmodel: opus\n---\nText\n"})
        assert format_problems(reading, Severity.WARNING) == [f"tasks/01-x.md:3: {message}"]
        assert get_single(reading).task.model == "opus"
        assert reading.problems[0].hint

    def test_an_unknown_key_is_a_warning_with_a_suggestion(self) -> None:
        reading = read({"a.md": "---\ntouchs: a.py\ncolour: red\n---\n# A\n"})
        assert format_problems(reading) == [
            "tasks/a.md:2: touchs is not a known key; ignored",
            "tasks/a.md:3: colour is not a known key; ignored",
        ]
        assert reading.problems[0].hint == "Did you mean touches?"
        assert "needs" in reading.problems[1].hint

    def test_keys_of_other_tools_give_no_warning(self) -> None:
        lines = "".join(f"{key}: x\n" for key in ("created", "labels", "tags", "assignee", "author", "date"))
        assert read({"a.md": f"---\n{lines}description: y\nupdated: z\n---\n# A\n"}).problems == ()

    def test_recipes_are_reported_as_unsupported(self) -> None:
        reading = read({"a.md": "---\nrecipe: review\n---\n# A\n"})
        assert format_problems(reading, Severity.INFO) == ["tasks/a.md:2: recipes are not supported yet; ignored"]

    def test_a_file_with_broken_front_matter_has_only_its_name(self) -> None:
        reading = read({"a.md": "---\ntitle: a: b: c\nid: other\n---\n# A\n", "b.md": "# B\n"})
        assert [(entry.task.id, entry.status) for entry in reading.entries] == [
            ("a", SourceStatus.UNREADABLE),
            ("b", SourceStatus.TODO),
        ]
        assert format_problems(reading)[0].startswith("tasks/a.md:2: the front matter can't be read")

    @pytest.mark.parametrize("deep", ["[", "{a: ", "- ", "? ", "- [", "&a [", "!a ["])
    def test_deeply_nested_front_matter_does_not_crash(self, deep: str) -> None:
        text = f"---\ntitle: A\nx:\n {deep * 100_000}\n---\n# A\n"
        (entry,) = read({"a.md": text}).entries
        assert (entry.task.id, entry.status) == ("a", SourceStatus.UNREADABLE)

    def test_many_lists_are_not_deep_nesting(self) -> None:
        lists = "".join(f"k{n}: [a, [b, {{c: [d]}}]]\n" for n in range(1000))
        (entry,) = read({"a.md": f"---\n{lists}title: Wide\n---\n# A\n"}).entries
        assert entry.task.title == "Wide"


NAMED = dict.fromkeys(("01-x.md", "02-y.md", "08-a.md", "08-b.md", "task-9-z.md"), "# X\n")


class TestNames:
    def reading(self, raw: str) -> Reading:
        return read({**NAMED, "me.md": f"---\nneeds: [{raw}]\n---\n# Me\n"})

    @pytest.mark.parametrize(
        ("raw", "on"),
        [
            ("01-x", "01-x"),
            ("01-X", "01-x"),
            ("01", "01-x"),
            ("1", "01-x"),
            ("01-x.md", "01-x"),
            ("tasks/01-x.md", "01-x"),
            ("Task 02", "02-y"),
            ("task-9-z", "9-z"),
            ("9-z", "9-z"),
            ("09", "9-z"),
            ("08-a", "08-a"),
            ("01-x (first)", "01-x"),
            ("'01-x: it comes first'", "01-x"),
            ("01 - first", "01-x"),
            ("01-x.md.", "01-x"),
            ("77-gone", "77-gone"),
            ("All of it", "All of it"),
        ],
    )
    def test_a_task_can_be_named_in_many_ways(self, raw: str, on: str) -> None:
        reading = self.reading(raw)
        assert list(read_needs(index_by_id(reading)["me"])) == [on]
        assert reading.problems == ()

    def test_a_number_of_several_tasks_is_a_warning_that_names_them(self) -> None:
        reading = self.reading("08")
        assert index_by_id(reading)["me"].task.needs == ()
        assert format_problems(reading) == ["tasks/me.md:2: 08 could be 08-a or 08-b; ignored"]

    def test_a_number_in_a_task_does_not_mean_the_task_itself(self) -> None:
        reading = read({"08-a.md": "# A\n", "08-b.md": "---\nneeds: [08]\n---\n# B\n"})
        assert list(read_needs(index_by_id(reading)["08-b"])) == ["08-a"]

    def test_a_need_has_its_key_and_line(self) -> None:
        reading = self.reading("01")
        at = Origin("tasks/me.md", 2)
        assert index_by_id(reading)["me"].task.needs == (Need("01-x", NeedKind.NEED, "needs: 01", at),)

    def test_unknown_needs_are_left_to_the_plan(self) -> None:
        checked = build_checked_plan([entry.task for entry in self.reading("77-gone").entries])
        assert checked.plan is not None
        assert "assumed finished" in checked.problems[0].message


class TestHeaderLines:
    TEXT = """\
        # Task: Add login

        **Priority:** P0 (Critical)
        **Complexity:** Medium-High
        **Files:** a.py, new file b.py, `src/core/`, lib/
        **Depends on:** 02-y, Task 03
        **Enables:** 04-w
        **Time Estimate:** 2-3 hours

        ## Plan

        **Priority:** P9
        **Files:** never.py
        """

    def files(self) -> dict[str, str]:
        return {"01-x.md": self.TEXT} | {f"{name}.md": f"# {name}\n" for name in ("02-y", "03-z", "04-w")}

    def test_every_header_field_is_read(self) -> None:
        reading = read(self.files())
        found = index_by_id(reading)
        task = found["01-x"].task
        assert (task.priority, task.weight, task.estimate) == (-1, 2.0, 9000.0)
        assert task.touches == ("a.py", "b.py", "src/core/", "lib/")
        assert read_needs(found["01-x"]) == {"02-y": "Depends on: 02-y", "03-z": "Depends on: Task 03"}
        assert found["04-w"].task.needs == (Need("01-x", reason="Enables: 04-w", at=Origin("tasks/01-x.md", 7)),)
        assert reading.problems == ()

    def test_header_fields_can_be_bullets_with_a_list_below(self) -> None:
        entry = one("# X\n\n- **Priority**: Low\n- **Estimated Time:** 30 min\n\n**Files:**\n- `a.py` (new)\n- b.py\n")
        assert (entry.task.priority, entry.task.estimate) == (2, 1800.0)
        assert entry.task.touches == ("a.py", "b.py")

    @pytest.mark.parametrize("raw", ["~20 files across core", "New command, new layout", "6 files, ~10 places"])
    def test_words_about_files_are_not_paths(self, raw: str) -> None:
        assert one(f"# X\n\n**Files:** {raw}\n").task.touches == ()

    def test_prose_about_dependencies_is_a_note(self) -> None:
        reading = read({"a.md": "# A\n\n**Depends on:** Stable code\n**Enables:** Everything\n"})
        assert get_single(reading).task.needs == ()
        assert format_problems(reading, Severity.INFO) == [
            "tasks/a.md:4: Enables: Everything: not a task here; ignored",
            "tasks/a.md:3: Depends on: Stable code: not a task; ignored",
        ]

    def test_none_means_no_dependency(self) -> None:
        reading = read({"a.md": "# A\n\n**Depends on:** None\n**Enables:** -\n"})
        assert get_single(reading).task.needs == ()
        assert reading.problems == ()

    def test_an_example_is_not_a_header(self) -> None:
        assert one("# X\n\n```\n**Priority:** P0\n```\n> **Complexity:** High\n").task.priority == 1

    def test_front_matter_goes_before_header_fields(self) -> None:
        task = one("---\npriority: low\nweight: 3\n---\n# X\n\n**Priority:** P0\n**Complexity:** High\n").task
        assert (task.priority, task.weight) == (2, 3.0)


class TestOwnedPaths:
    def test_a_list_of_owned_paths_is_read(self) -> None:
        text = "# X\n\n## Owned Paths (hard boundary)\n\n- `src/a/**`\n- src/b/\n- `c.py` only.\n- this record\n"
        assert one(text).task.touches == ("src/a/**", "src/b/", "c.py")

    def test_a_tree_gives_whole_paths(self) -> None:
        text = """\
            # X

            ## \U0001f4c2 **Owned Paths**

            **This task owns:**
            ```
            python/core/
            ├── __init__.py        # add the import
            ├── adapters/
            │   ├── +page.py  <- new
            │   └── *.json
            ├── empty/
            └── Makefile
            ./top.md
            src
              deep
                leaf.ts
            ```
            """
        assert one(text).task.touches == (
            "python/core/__init__.py",
            "python/core/adapters/+page.py",
            "python/core/adapters/*.json",
            "python/core/empty/",
            "python/core/Makefile",
            "top.md",
            "src/deep/leaf.ts",
        )

    def test_ascii_trees_and_plain_lists_are_read(self) -> None:
        text = "# X\n## Owned paths\n\n```text\nsrc/\n|-- a.py\n`-- b/\n    `-- c.py\ndocs/x.md\nand more prose\n```\n"
        assert one(text).task.touches == ("src/a.py", "src/b/c.py", "docs/x.md")

    def test_forbidden_files_are_neither_owned_nor_mentioned(self) -> None:
        text = """\
            # X

            Update `used.py`. You must not touch `taboo0.py`. See `also.py`.

            ## Owned Paths

            - `own.py`

            **Must NOT modify:**
            - `taboo1.py` (only read it)
              - `taboo2.py`

            **Integration:**
            - Register in `registry.py`

            ## Must NOT modify

            - `taboo3.py`

            ### More

            `taboo4.py`

            ## Notes

            - Do not edit:
              - `taboo5.py`
            - Behaviour must not change.
            - See `free.py`
            """
        entry = one(text)
        assert entry.task.touches == ("own.py",)
        assert entry.mentions == ("used.py", "also.py", "registry.py", "free.py")

    def test_a_forbidding_sentence_is_not_the_label_of_a_list(self) -> None:
        assert one("# X\n\nBehaviour must not change.\n\n- Update `a.py`\n").mentions == ("a.py",)

    def test_mentions_come_from_text_and_not_from_examples(self) -> None:
        text = "# Fix `a.py`\n\nSee src/b.py.\n\n```\nc.py\n```\n\n| f |\n|---|\n| `d.py` |\n\n<!-- `e.py` -->\n"
        assert one(text).mentions == ("a.py", "src/b.py", "d.py")


class TestPhases:
    def test_phases_are_in_natural_order_each_after_all_before_it(self) -> None:
        raw = {"a": "10", "b": "Phase 2", "c": "polish", "d": "2", "e": "1"}
        files = {f"{name}.md": f"---\nphase: {phase}\n---\n# {name}\n" for name, phase in raw.items()}
        files["d.md"] = "---\nphase: 2\nstatus: done\n---\n# d\n"
        reading = read(files | {"free.md": "# Free\n"})
        assert [(phase.key, phase.after, phase.total, phase.settled) for phase in reading.phases] == [
            ("1", (), 1, 0),
            ("2", ("1",), 2, 1),
            ("10", ("1", "2"), 1, 0),
            ("polish", ("1", "2", "10"), 1, 0),
        ]
        assert reading.phases[1].at == Origin("tasks/b.md", 2)
        assert reading.phases[1].gate is None
        assert index_by_id(reading)["free"].task.phase is None
        assert build_checked_plan([entry.task for entry in reading.entries], phases=reading.phases).plan is not None


TABLE = """\
    # Plan

    | Task | Description | Status | Blocks | Blocked By |
    |------|-------------|--------|--------|------------|
    | 01 | Set up | ✅ DONE | - | - |
    | 02 | Split the module | 🔄 IN REVIEW | 14 | - |
    | **05** | Add tests | ❌ TODO | 06 | All refactoring |
    | [06](06-docs.md) | Docs | TODO | - | 01 ✅, 05 |
    | 08 | Simplify identity | ❌ TODO | - | 02 + 09 |
    | 09 | Something without a file | ❌ TODO | 08 | - |
    | 10 | Long gone | ✅ | 08 | - |

    | Task | Complexity | Priority |
    |------|------------|----------|
    | 01 | High | Low |
    """
ROWS = {
    "01-setup.md": "# Set up\n",
    "02-split.md": "# Split\n",
    "05-tests.md": "# Tests\n",
    "06-docs.md": "# Docs\n",
    "08-batch.md": "# Task: Batch mode\n",
    "08-simplify-identity.md": "# Task: Simplify identity\n",
    "08-third.md": "# Third\n",
}


class TestPhasesTable:
    @pytest.mark.parametrize("named", [True, False])
    def test_statuses_and_edges_are_read_from_the_table(self, named: bool) -> None:  # noqa: FBT001
        reading = read(ROWS | {"PHASES.md": TABLE}, named=named)
        found = index_by_id(reading)
        assert {name: entry.status for name, entry in found.items()} == {
            "01-setup": SourceStatus.DONE,
            "02-split": SourceStatus.DOING,
            "05-tests": SourceStatus.TODO,
            "06-docs": SourceStatus.TODO,
            "08-batch": SourceStatus.TODO,
            "08-simplify-identity": SourceStatus.TODO,
            "08-third": SourceStatus.TODO,
        }
        assert {name: list(read_needs(entry)) for name, entry in found.items() if entry.task.needs} == {
            "06-docs": ["05-tests"],
            "08-simplify-identity": ["02-split"],
        }
        assert found["01-setup"].status_text == "✅ DONE"
        assert found["01-setup"].task.weight == 1.0

    def test_a_need_has_the_line_of_its_row(self) -> None:
        (need,) = index_by_id(read(ROWS | {"PHASES.md": TABLE}))["06-docs"].task.needs
        assert need == Need("05-tests", reason="05 Blocks: 06", at=Origin("tasks/PHASES.md", 7))

    def test_prose_and_rows_without_a_file_are_notes(self) -> None:
        assert format_problems(read(ROWS | {"PHASES.md": TABLE})) == [
            "tasks/PHASES.md:7: Blocked By: All refactoring is not a task; ignored",
            "tasks/PHASES.md:10: there is no task file for 09: dependencies on them are ignored",
        ]

    def test_a_number_of_several_files_is_resolved_by_its_description(self) -> None:
        reading = read(ROWS | {"PHASES.md": TABLE.replace("Simplify identity", "Whatever it is")})
        assert all(
            entry.status is SourceStatus.TODO for name, entry in index_by_id(reading).items() if name.startswith("08")
        )
        assert format_problems(reading, Severity.WARNING) == [
            "tasks/PHASES.md:9: 08 could be 08-batch or 08-simplify-identity or 08-third; ignored"
        ]

    def test_columns_may_be_in_any_order_and_case_with_others_between(self) -> None:
        table = (
            "| STATUS | Owner | blocked by | task |\n|--|--|--|--|\n| done | me | | 01 |\n| | | 01-setup | 02-split |\n"
        )
        found = index_by_id(read(ROWS | {"PHASES.md": table}))
        assert found["01-setup"].status is SourceStatus.DONE
        assert list(read_needs(found["02-split"])) == ["01-setup"]

    @pytest.mark.parametrize("column", ["Status", "Blocks", "Blocked By"])
    def test_one_useful_column_is_enough(self, column: str) -> None:
        raw = {"Status": "DONE", "Blocks": "02-split", "Blocked By": "06-docs"}[column]
        table = f"| Task | {column} |\n|--|--|\n| 05-tests | {raw} |\n"
        found = index_by_id(read(ROWS | {"PHASES.md": table}))
        assert (found["05-tests"].status is SourceStatus.DONE) == (column == "Status")
        assert list(read_needs(found["02-split"])) == (["05-tests"] if column == "Blocks" else [])
        assert list(read_needs(found["05-tests"])) == (["06-docs"] if column == "Blocked By" else [])

    def test_a_table_in_an_example_is_not_read(self) -> None:
        table = "```\n| Task | Status | Blocks |\n|--|--|--|\n| 01 | DONE | - |\n```\n"
        assert index_by_id(read(ROWS | {"PHASES.md": table}))["01-setup"].status is SourceStatus.TODO

    def test_the_front_matter_goes_before_the_table(self) -> None:
        files = ROWS | {"PHASES.md": TABLE, "01-setup.md": "---\nstatus: open\n---\n# Set up\n"}
        assert index_by_id(read(files))["01-setup"].status is SourceStatus.TODO

    def test_an_unknown_status_is_a_warning(self) -> None:
        reading = read(ROWS | {"PHASES.md": TABLE.replace("✅ DONE", "sort of")})
        assert format_problems(reading, Severity.WARNING) == [
            "tasks/PHASES.md:5: sort of is not a known status; 01-setup counts as not started"
        ]


class TestDetection:
    def detect_confidence(self, files: dict[str, str], *, named: bool = True) -> Confidence:
        return FOLDER.detect(make_source_files("folder", "docs/work", files, named=named))

    def test_a_folder_of_markdown_files_is_recognised(self) -> None:
        assert self.detect_confidence({"a.md": "# A\n"}) is Confidence.CONTENT

    def test_an_empty_folder_may_be_recognised(self) -> None:
        assert self.detect_confidence({"README.md": "# A\n"}) is Confidence.PERHAPS

    @pytest.mark.parametrize(
        "text",
        [
            "---\nid: T-1\ntitle: A\nstatus: To Do\nassignee: []\n---\n",
            "---\nname: A\nparallel: true\nconflicts_with: []\n---\n",
            "---\noutput_dir: src\noutput_file: a.rs\n---\n",
        ],
    )
    def test_a_folder_of_another_format_is_left_to_it(self, text: str) -> None:
        assert detect_format(make_source_files("folder", "docs/work", {"a.md": text}))[0] != "folder"

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("04-split.md", "# Split\n\n- [ ] a\n"),
            ("task-split.md", "# Split\n"),
            ("split.md", "# Task: Split\n\n- [ ] a\n"),
            ("split.md", "---\ntouches: [a.py]\n---\n# Split\n"),
            ("split.md", "# Split\n\n**Complexity:** Low\n"),
        ],
    )
    def test_a_single_task_file_is_recognised(self, name: str, text: str) -> None:
        assert self.detect_confidence({name: text}, named=False) is Confidence.CONTENT

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("TODO.md", "# To do\n\n- one\n- two\n"),
            ("01-plan.md", "# Plan\n\n## Phase 1: A\n\n- [ ] 1.1 B\n"),
            ("tasks.md", "# Tasks\n\n- [ ] 1. A\n"),
        ],
    )
    def test_a_file_with_several_tasks_is_not_recognised(self, name: str, text: str) -> None:
        assert self.detect_confidence({name: text}, named=False) is Confidence.NO


_LINES = st.sampled_from(
    [
        "# Task 04: Split it",
        "## Owned Paths",
        "**Must NOT modify:**",
        "**Depends on:** 01, 02-b",
        "**Enables:** b",
        "**Files:**",
        "**Priority:** P0",
        "- `src/a.py`",
        "```",
        "src/\n├── a.py\n└── b/",
        "Text about `x.py`.",
        "| Task | Status | Blocks | Blocked By |\n|--|--|--|--|\n| 01 | ✅ DONE | 02 | - |",
        "",
    ]
)
_FRONT = st.sampled_from(
    [
        "needs: [01, b]",
        "touches: a.py",
        "phase: 2",
        "id: a",
        "estimate: 20m",
        "env: {A: b}",
        "run: make",
        "status: done",
    ]
)


@st.composite
def _file(draw: st.DrawFn) -> str:
    keys = draw(st.lists(_FRONT, max_size=4, unique=True))
    lines = draw(st.lists(_LINES, max_size=12))
    above = ["---", *keys, "---"] if keys else []
    return "\n".join([*above, *lines, ""])


@given(st.lists(mangled_texts(_file()), min_size=1, max_size=4), mangled_texts(_file()), st.booleans())
def test_no_text_makes_the_reader_raise_and_every_problem_has_a_place(
    texts: list[str],
    phases: str,
    named: bool,  # noqa: FBT001
) -> None:
    names = ("01-a.md", "b.md", "task-02-b.md", "02-c.md")
    files = dict(zip(names, texts, strict=False)) | {"PHASES.md": phases}
    reading = FOLDER.read(make_source_files("folder", "tasks", files, named=named))
    assert len(reading.entries) == len(texts)
    lengths = {f"tasks/{name}": len(TextLines(to_printable(text))) for name, text in files.items()}
    for problem in reading.problems:
        assert problem.at is not None
        assert 1 <= problem.at.line <= max(1, lengths[problem.at.file])
    for entry in reading.entries:
        assert entry.task.id
        assert entry.task.title
        assert "\n" not in entry.task.title
        assert entry.task.origin is not None
    FOLDER.detect(make_source_files("folder", "tasks", files, named=named))


@given(_file(), st.sampled_from(("\r\n", "\r")))
@settings(max_examples=50)
def test_line_ends_make_no_difference(text: str, eol: str) -> None:
    def summarize(text: str) -> tuple[object, ...]:
        entry = get_single(FOLDER.read(SourceFiles("tasks", (Document("tasks/01-a.md", text),), folder=True)))
        task = entry.task
        return task.id, task.title, task.needs, task.touches, task.phase, entry.status, entry.mentions

    assert summarize(text) == summarize(text.replace("\n", eol))
