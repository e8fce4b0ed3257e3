from __future__ import annotations

from plait.core.settings import FileConflicts
from plait.core.task import Need, NeedKind, Origin, Phase, Task
from plait.sources.address import Address, names
from plait.sources.model import Entry, Mark, Reading
from plait.sources.pile import gather
from plait.sources.same import Same


def entry(name: str, *needs: str, mark: Mark = Mark.TODO, phase: str | None = None) -> Entry:
    return Entry(
        Task(name, needs=tuple(Need(on) for on in needs), phase=phase, origin=Origin("x.md", 1)), mark
    )


def test_a_source_is_called_by_its_stem_or_by_its_folder() -> None:
    paths = [
        "docs/plan-a.md",
        "TODO.md",
        "specs/001-login/tasks.md",
        ".taskmaster/tasks/tasks.json",
        "tasks/",
    ]
    assert names(paths) == ["plan-a", "todo", "001-login", "taskmaster", "tasks"]


def test_sources_of_one_name_are_told_apart() -> None:
    assert names(["a/x.md", "b/x.md", "b/x.md"]) == ["a-x.md", "b-x.md", "b-x.md-2"]


def test_ids_that_clash_are_qualified_and_needs_follow_them() -> None:
    pile = gather(
        [
            ("plan", "plan.md", Reading((entry("1.1"), entry("1.2", "1.1", "b:1.1", "7")))),
            ("todo", "b.md", Reading((entry("1.1"), entry("7", "1.1", "plan:1.2")))),
        ]
    )
    needs = {entry.task.id: [need.on for need in entry.task.needs] for entry in pile.entries}
    assert needs == {
        "plan:1.1": [],
        "1.2": ["plan:1.1", "b:1.1", "7"],
        "b:1.1": [],
        "7": ["b:1.1", "1.2"],
    }


def test_phases_that_clash_are_told_apart() -> None:
    first = (Phase("1"), Phase("2", after=("1",), opens_with="x"))
    pile = gather(
        [
            ("plan", "a.md", Reading((entry("x", phase="1"),), first)),
            ("plan", "b.md", Reading((entry("x", phase="1"),), (Phase("1"),))),
        ]
    )
    assert [(phase.key, phase.after, phase.opens_with) for phase in pile.phases] == [
        ("a:1", (), None),
        ("2", ("a:1",), "a:x"),
        ("b:1", (), None),
    ]
    assert [entry.task.phase for entry in pile.entries] == ["a:1", "b:1"]


def test_whoever_needs_a_group_needs_its_parts() -> None:
    group = Entry(Task("1", origin=Origin("x.md", 1)), parts=("1.1", "1.2"))
    outer = Entry(Task("0", origin=Origin("x.md", 1)), parts=("1", "0.1"))
    pile = gather(
        [("kiro", "t.md", Reading((outer, entry("0.1"), group, entry("1.1"), entry("1.2"), entry("2", "0"))))]
    )
    assert {need.on for need in pile.by_id["2"].task.needs} == {"0.1", "1.1", "1.2"}


def test_a_group_is_finished_when_its_parts_are() -> None:
    def finished(*marks: Mark) -> bool:
        parts = tuple(entry(f"1.{n}", mark=mark) for n, mark in enumerate(marks))
        group = Entry(
            Task("1", origin=Origin("x.md", 1)), Mark.DONE, parts=tuple(part.task.id for part in parts)
        )
        return "1" in gather([("kiro", "t.md", Reading((group, *parts)))]).finished

    assert finished(Mark.DONE, Mark.SKIPPED)
    assert not finished(Mark.DONE, Mark.TODO)


def test_a_chain_holds_though_some_of_its_tasks_were_done_early() -> None:
    def link(name: str, *on: str, mark: Mark = Mark.TODO) -> Entry:
        return Entry(Task(name, needs=tuple(Need(other, NeedKind.CHAIN) for other in on)), mark)

    done, left_out = Mark.DONE, Mark.SKIPPED
    links = (link("a"), link("b", "a", mark=done), link("c", "b", mark=left_out), link("d", "c", "b"))
    others = (link("e", "d"), entry("f", "c"), link("g", mark=done), link("h", "g"))
    pile = gather([("kiro", "x.md", Reading(links + others))])
    needs = {entry.task.id: [need.on for need in entry.task.needs] for entry in pile.entries}
    assert needs == {
        "a": [],
        "b": ["a"],
        "c": ["b"],
        "d": ["c", "b", "a"],
        "e": ["d"],
        "f": ["c"],
        "g": [],
        "h": ["g"],
    }


def test_files_named_in_the_text_count_as_the_setting_says() -> None:
    one = Entry(Task("a", touches=("x.py",), origin=Origin("t.md", 1)), mentions=("y.py", "x.py"))

    def touches(conflicts: FileConflicts) -> tuple[str, ...]:
        pile = gather([("folder", "t", Reading((one,)))], conflicts=conflicts)
        return pile.task(pile.entries[0]).touches

    assert touches(FileConflicts.INFERRED) == ("x.py", "y.py")
    assert touches(FileConflicts.DECLARED) == ("x.py",)
    assert touches(FileConflicts.OFF) == ()


def test_a_source_is_kept_with_all_that_finds_it_again() -> None:
    pile = gather([("plan", "a: b.md", Reading()), ("taskmaster", "t/tasks.json", Reading())], tag="wip")
    kept = [str(source) for source in pile.sources]
    assert kept == ["plan:a: b.md", "taskmaster[wip]:t/tasks.json"]
    assert [Address.of(text) for text in kept] == [
        Address("plan", "a: b.md"),
        Address("taskmaster", "t/tasks.json", "wip"),
    ]


def test_a_short_name_means_the_only_file_that_ends_like_it() -> None:
    same = Same(["src/api.ts", "src/a/util.ts", "src/b/util.ts", "README.md"])
    assert same.file("api.ts") == "src/api.ts"
    assert same.file("./api.ts") == "src/api.ts"
    assert same.file("a/util.ts") == "src/a/util.ts"
    assert same.file("util.ts") == "util.ts"
    assert same.file("README.md") == "README.md"
    assert same.file("new.ts") == "new.ts"
    assert same.file("pi.ts") == "pi.ts"


def test_two_tasks_that_spell_a_file_differently_meet() -> None:
    one = Entry(Task("a", origin=Origin("t.md", 1)), mentions=("api.ts",))
    two = Entry(Task("b", origin=Origin("t.md", 2)), mentions=("src/api.ts",))
    pile = gather([("plan", "t.md", Reading((one, two)))])
    assert [pile.task(entry).touches for entry in pile.entries] == [("src/api.ts",), ("src/api.ts",)]
