from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from plait.core.errors import UserError
from plait.sources.formats import FORMATS, Confidence, Format, detect_format, load_format
from plait.sources.source_model import Document, SourceFiles
from plait.testing.contracts.source_format import mangled_texts

LOOK_ALIKES = {
    ("plan", "notes/work.md"): "# Plan\n\n## Phase 1: Ground\n\n- [ ] 1.1 Dig\n- [x] 1.2 Pour\n",
    ("todo", "notes/work.md"): "# TODO\n\n### 7. Dig\n**Status**: [NOT STARTED]\n",
    ("todo", "TODO.md"): "### 7. Dig ✅\n\n### 8. Pour\n- **Status**: done\n- [ ] acceptance\n",
    ("speckit", "notes/work.md"): "# Tasks\n\n## Phase 1: Setup\n\n- [ ] T001 [P] Dig in src/a.py\n",
    ("speckit", "specs/001-x/tasks.md"): "- [ ] T001 Dig\n- [ ] T002 Pour\n",
    (
        "kiro",
        "notes/work.md",
    ): "# Plan\n\n- [ ] 1. Dig\n  - [ ] 1.1 Deeper\n    - _Requirements: 1.1_\n- [ ]* 2. Rest\n",
    ("checklist", "notes/plan.md"): "# Plan\n\n- [ ] 1. Dig\n  - [ ] 1.1 Deeper\n- [ ] 2. Rest\n",
    ("kiro", ".kiro/specs/x/tasks.md"): "- [x] 1. Dig\n",
    ("openspec", "notes/work.md"): "## 1. Ground\n\n- [ ] 1.1 Dig\n\n## 2. House\n\n* [x] 2.1 Build\n",
    ("openspec", "openspec/changes/x/tasks.md"): "## 1. Ground\n- [ ] 1.1 Dig\n",
    ("checklist", "TODO.md"): "# To do\n\n- [ ] Dig\n- [x] Pour\n",
    ("checklist", "notes/work.md"): "1. [ ] Dig\n2. [v] Pour\n",
    ("folder", "tasks/01-dig.md"): "# Task 01: Dig\n\n**Files:** src/a.py\n\n- [ ] acceptance\n",
    ("taskmaster", ".taskmaster/tasks/tasks.json"): '{"master": {"tasks": [{"id": 1, "title": "Dig"}]}}',
    ("beads", ".beads/issues.jsonl"): '{"id": "a-1", "title": "Dig", "status": "open"}\n',
    ("prd", "prd.json"): '{"userStories": [{"id": "US-1", "title": "Dig", "passes": false}]}',
    (
        "backlog",
        "backlog/tasks/back-1.md",
    ): "---\nid: BACK-1\ntitle: Dig\nstatus: To Do\n---\n\n- [ ] acceptance\n",
    (
        "ccpm",
        ".claude/epics/x/001.md",
    ): "---\nname: Dig\nstatus: open\nparallel: true\nconflicts_with: []\n---\n",
    ("jobs", "jobs/dig.md"): "---\noutput_dir: src\noutput_file: a.rs\n---\nDig.\n",
}


def make_source_files(path: str, text: str) -> SourceFiles:
    return SourceFiles(path, (Document(path, text),))


@pytest.mark.parametrize(("expected", "path"), LOOK_ALIKES)
def test_each_format_is_detected_by_name_or_content(expected: str, path: str) -> None:
    assert detect_format(make_source_files(path, LOOK_ALIKES[expected, path]))[0] == expected


@pytest.mark.parametrize(("expected", "path"), LOOK_ALIKES)
def test_line_ends_and_a_byte_order_mark_change_nothing(expected: str, path: str) -> None:
    text = "\ufeff" + LOOK_ALIKES[expected, path].replace("\n", "\r\n")
    assert detect_format(make_source_files(path, text))[0] == expected


def test_an_unknown_file_is_an_error_that_lists_the_formats() -> None:
    with pytest.raises(UserError, match=r"notes.md: unknown format, no tasks read") as caught:
        detect_format(make_source_files("notes.md", "# Notes\n\n- milk\n- eggs\n"))
    assert "plain bullets are not tasks" in caught.value.hint
    assert all(name in caught.value.hint for name in FORMATS)


@pytest.mark.parametrize(("path", "text"), [("tasks.json", "{"), ("notes.md", "Only prose.\n")])
def test_the_hint_about_bullets_needs_bullets(path: str, text: str) -> None:
    with pytest.raises(UserError) as caught:
        detect_format(make_source_files(path, text))
    assert "bullets" not in caught.value.hint


def test_a_file_that_is_not_json_is_reported_with_its_line() -> None:
    with pytest.raises(UserError) as caught:
        detect_format(make_source_files("tasks.json", '{"master": {"tasks": [\n  {"id": 1,}\n]}}'))
    assert caught.value.hint.startswith("It is not JSON: line 2, column ")


def test_a_file_of_two_possible_formats_is_an_error_that_names_them() -> None:
    text = "## 1. Ground\n\n- [ ] 1.1 Dig\n\n### 7. Dig\n**Status**: [NOT STARTED]\n"
    with pytest.raises(UserError, match=r"work.md: the format could be .* or ") as caught:
        detect_format(make_source_files("work.md", text))
    assert "--source-format" in caught.value.hint


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name": "x", "scripts": {}}', "null", "\0"])
def test_other_json_files_hold_no_tasks(text: str) -> None:
    with pytest.raises(UserError):
        detect_format(make_source_files("package.json", text))


@given(st.sampled_from(sorted(LOOK_ALIKES)).flatmap(lambda key: mangled_texts(st.just(LOOK_ALIKES[key]))))
def test_a_text_without_the_hint_of_a_format_is_never_detected_as_it(text: str) -> None:
    """The signs only spare work: what they rule out, the format itself would refuse."""
    for name, row in FORMATS.items():
        for path in ("work.md", "TODO.md", "01-x.md", "specs/a/tasks.md", "openspec/changes/a/tasks.md"):
            asked = make_source_files(path, text)
            if load_format(name).detect(asked) is not Confidence.NO:
                assert row.may_match(asked.document), f"{name} would want this text"


def test_every_format_loads_and_every_other_name_is_refused() -> None:
    for name in FORMATS:
        assert isinstance(load_format(name), Format)
    with pytest.raises(UserError, match="unknown format: tood") as caught:
        load_format("tood")
    assert "Did you mean todo?" in caught.value.hint
    with pytest.raises(UserError, match=r"can't load the format no.such.module"):
        load_format("no.such.module")
    with pytest.raises(UserError, match=r"can't load the format json.tool: the module has no FORMAT"):
        load_format("json.tool")
