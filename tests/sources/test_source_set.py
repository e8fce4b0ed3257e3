from __future__ import annotations

from plait.core.settings import FileConflicts
from plait.core.task import Need, NeedKind, Origin, Phase, Task
from plait.sources.source_model import Reading, SourceEntry, SourceStatus
from plait.sources.source_set import PathAliases, SourceAddress, combine_sources, make_source_names


def entry(name: str, *needs: str, mark: SourceStatus = SourceStatus.TODO, phase: str | None = None) -> SourceEntry:
    return SourceEntry(Task(name, needs=tuple(Need(on) for on in needs), phase=phase, origin=Origin("x.md", 1)), mark)


def test_a_source_is_called_by_its_stem_or_by_its_folder() -> None:
    paths = [
        "docs/plan-a.md",
        "TODO.md",
        "specs/001-login/tasks.md",
        ".taskmaster/tasks/tasks.json",
        "tasks/",
    ]
    assert make_source_names(paths) == ["plan-a", "todo", "001-login", "taskmaster", "tasks"]


def test_sources_of_one_name_get_different_names() -> None:
    assert make_source_names(["a/x.md", "b/x.md", "b/x.md"]) == ["a-x.md", "b-x.md", "b-x.md-2"]


def test_ids_that_clash_are_qualified_and_needs_follow_them() -> None:
    source_set = combine_sources(
        [
            ("plan", "plan.md", Reading((entry("1.1"), entry("1.2", "1.1", "b:1.1", "7")))),
            ("todo", "b.md", Reading((entry("1.1"), entry("7", "1.1", "plan:1.2")))),
        ]
    )
    needs = {entry.task.id: [need.on for need in entry.task.needs] for entry in source_set.entries}
    assert needs == {
        "plan:1.1": [],
        "1.2": ["plan:1.1", "b:1.1", "7"],
        "b:1.1": [],
        "7": ["b:1.1", "1.2"],
    }


def test_phases_of_one_key_are_qualified() -> None:
    first = (Phase("1"), Phase("2", after=("1",), opens_with="x"))
    source_set = combine_sources(
        [
            ("plan", "a.md", Reading((entry("x", phase="1"),), first)),
            ("plan", "b.md", Reading((entry("x", phase="1"),), (Phase("1"),))),
        ]
    )
    assert [(phase.key, phase.after, phase.opens_with) for phase in source_set.phases] == [
        ("a:1", (), None),
        ("2", ("a:1",), "a:x"),
        ("b:1", (), None),
    ]
    assert [entry.task.phase for entry in source_set.entries] == ["a:1", "b:1"]


def test_a_need_on_a_group_is_a_need_on_its_parts() -> None:
    group = SourceEntry(Task("1", origin=Origin("x.md", 1)), parts=("1.1", "1.2"))
    outer = SourceEntry(Task("0", origin=Origin("x.md", 1)), parts=("1", "0.1"))
    source_set = combine_sources(
        [("kiro", "t.md", Reading((outer, entry("0.1"), group, entry("1.1"), entry("1.2"), entry("2", "0"))))]
    )
    assert {need.on for need in source_set.by_id["2"].task.needs} == {"0.1", "1.1", "1.2"}


def test_a_group_is_finished_when_its_parts_are() -> None:
    def finished(*marks: SourceStatus) -> bool:
        parts = tuple(entry(f"1.{n}", mark=mark) for n, mark in enumerate(marks))
        group = SourceEntry(
            Task("1", origin=Origin("x.md", 1)),
            SourceStatus.DONE,
            parts=tuple(part.task.id for part in parts),
        )
        return "1" in combine_sources([("kiro", "t.md", Reading((group, *parts)))]).finished_ids

    assert finished(SourceStatus.DONE, SourceStatus.SKIPPED)
    assert not finished(SourceStatus.DONE, SourceStatus.TODO)


def test_a_chain_holds_although_some_of_its_tasks_were_done_early() -> None:
    def link(name: str, *on: str, mark: SourceStatus = SourceStatus.TODO) -> SourceEntry:
        return SourceEntry(Task(name, needs=tuple(Need(other, NeedKind.CHAIN) for other in on)), mark)

    done, left_out = SourceStatus.DONE, SourceStatus.SKIPPED
    links = (link("a"), link("b", "a", mark=done), link("c", "b", mark=left_out), link("d", "c", "b"))
    others = (link("e", "d"), entry("f", "c"), link("g", mark=done), link("h", "g"))
    source_set = combine_sources([("kiro", "x.md", Reading(links + others))])
    needs = {entry.task.id: [need.on for need in entry.task.needs] for entry in source_set.entries}
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


def test_mentioned_files_count_by_the_setting() -> None:
    one = SourceEntry(Task("a", touches=("x.py",), origin=Origin("t.md", 1)), mentions=("y.py", "x.py"))

    def touches(conflicts: FileConflicts) -> tuple[str, ...]:
        source_set = combine_sources([("folder", "t", Reading((one,)))], conflicts=conflicts)
        return source_set.build_task(source_set.entries[0]).touches

    assert touches(FileConflicts.INFERRED) == ("x.py", "y.py")
    assert touches(FileConflicts.DECLARED) == ("x.py",)
    assert touches(FileConflicts.OFF) == ()


def test_a_source_address_can_be_parsed_again() -> None:
    source_set = combine_sources([("plan", "a: b.md", Reading()), ("taskmaster", "t/tasks.json", Reading())], tag="wip")
    kept = [str(source) for source in source_set.sources]
    assert kept == ["plan:a: b.md", "taskmaster[wip]:t/tasks.json"]
    assert [SourceAddress.parse(text) for text in kept] == [
        SourceAddress("plan", "a: b.md"),
        SourceAddress("taskmaster", "t/tasks.json", "wip"),
    ]


def test_a_short_name_means_the_only_file_that_ends_like_it() -> None:
    same = PathAliases(["src/api.ts", "src/a/util.ts", "src/b/util.ts", "README.md"])
    assert same.resolve("api.ts") == "src/api.ts"
    assert same.resolve("./api.ts") == "src/api.ts"
    assert same.resolve("a/util.ts") == "src/a/util.ts"
    assert same.resolve("util.ts") == "util.ts"
    assert same.resolve("README.md") == "README.md"
    assert same.resolve("new.ts") == "new.ts"
    assert same.resolve("pi.ts") == "pi.ts"


def test_two_spellings_of_a_file_are_one_conflict() -> None:
    one = SourceEntry(Task("a", origin=Origin("t.md", 1)), mentions=("api.ts",))
    two = SourceEntry(Task("b", origin=Origin("t.md", 2)), mentions=("src/api.ts",))
    source_set = combine_sources([("plan", "t.md", Reading((one, two)))])
    assert [source_set.build_task(entry).touches for entry in source_set.entries] == [("src/api.ts",), ("src/api.ts",)]
