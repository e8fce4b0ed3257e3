from __future__ import annotations

from dataclasses import replace

import pytest

from plait.core.fast_dataclass import dataclass
from plait.sources.formats import FORMATS, load_format
from plait.sources.source_model import SourceStatus
from plait.sources.status_restore import restore_statuses
from plait.testing.contracts.source_format import FormatUnderTest


@dataclass(frozen=True, slots=True)
class Sample:
    """A text of a format, and an edit of it that is no status: words that are replaced."""

    path: str
    text: str
    edit: tuple[str, str]

    def edited(self, text: str) -> str:
        assert self.edit[0] in text
        return text.replace(*self.edit)


SAMPLES = {
    "plan": Sample(
        "docs/plans/site.md",
        "# Plan\n\n## Phase 1: Ground\n- [ ] 1.1 Dig in `a.py`\n  - with care\n- [X] 1.2 Pour\n- [x] 1.3 Set\n",
        ("with care", "with great care"),
    ),
    "todo": Sample(
        "TODO.md",
        "# TODO\n\n### 1. One\n- **Effort**: 2h\n- **Status**: [NOT STARTED]\n\nText of one.\n\n"
        "### 2. Two \u2705\n- **Status**: [COMPLETED] (Started: 2026-01-02)\n- **Completed**: 2026-01-03\n\nText of two.\n\n"
        "### 3. Three\n- **Status**: [IN PROGRESS]\n- **Started**: 2026-02-01\n\nText of three.\n",
        ("Text of three", "More text of three"),
    ),
    "speckit": Sample(
        "specs/001-site/tasks.md",
        "# Tasks\n\n## Phase 1: Setup\n\n- [ ] T001 Make src/a.py\n- [x] T002 [P] Make src/b.py\n\nA note.\n",
        ("A note", "Another note"),
    ),
    "kiro": Sample(
        ".kiro/specs/site/tasks.md",
        "# Plan\n\n- [ ] 1. First\n  - [ ] 1.1 Part\n    - _Requirements: 1.1_\n  - [x] 1.2 Other part\n- [-] 2. Second\n",
        ("1.1_", "1.2_"),
    ),
    "openspec": Sample(
        "openspec/changes/site/tasks.md",
        "## 1. Section\n- [ ] 1.1 One\n- [X] 1.2 Two\n\nwords\n\n## 2. Other\n* [ ] 2.1 Three\n",
        ("words", "many words"),
    ),
    "checklist": Sample(
        "NOTES.md",
        "# Things\n\n- [ ] Buy bread\n- [v] Bake cake\n- [x] Eat it\n  by the sea\n\nThe end.\n",
        ("The end", "Not the end"),
    ),
    "taskmaster": Sample(
        ".taskmaster/tasks/tasks.json",
        '{"master": {"tasks": [{"id": 1, "title": "One", "status": "pending", "details": "here"},\n'
        ' {"id": "2", "title": "Two", "status": "review", "subtasks": [{"id": 1, "title": "Part", "status": "done"}]}]},\n'
        ' "other": {"tasks": [{"id": 1, "title": "One", "status": "pending"}]}}\n',
        ('"here"', '"there"'),
    ),
    "beads": Sample(
        ".beads/issues.jsonl",
        '{"id":"b-1","title":"One","description":"first","status":"open","updated_at":"2026-01-01T00:00:00Z"}\n'
        '{"id":"b-2","title":"Two","status":"closed","updated_at":"2026-01-02T00:00:00Z","closed_at":"2026-01-02T00:00:00Z"}\n',
        ('"first"', '"the first"'),
    ),
    "backlog": Sample(
        "backlog/tasks/task-1 - One.md",
        "---\nid: task-1\ntitle: One\nstatus: To Do\nlabels: []\n---\n\n## Acceptance\n- [ ] It works\n",
        ("It works", "It works well"),
    ),
    "ccpm": Sample(
        ".claude/epics/site/001.md",
        "---\nname: One\nstatus: open\nupdated: 2026-01-01T00:00:00Z\n---\n\n# Task: One\n\nText.\n",
        ("Text.", "More text."),
    ),
    "prd": Sample(
        "prd.json",
        '{"userStories": [{"id": "US-1", "title": "One", "passes": false, "notes": "n"},\n'
        '  {"id": "US-2", "title": "Two", "passes": true}]}\n',
        ('"n"', '"m"'),
    ),
}
MARKS = (
    SourceStatus.TODO,
    SourceStatus.DOING,
    SourceStatus.DONE,
    SourceStatus.FAILED,
    SourceStatus.BLOCKED,
    SourceStatus.SKIPPED,
)


def write_statuses(name: str, text: str, mark: SourceStatus) -> str:
    """The text with every task's status set by the format's own writer."""
    subject = FormatUnderTest(name, SAMPLES[name].path)
    tag = "master" if load_format(name).list_tags else ""
    changes = [replace(subject.change(entry, mark), tag=tag) for entry in subject.read(text).entries]
    return subject.write(text, changes)


def test_every_format_that_writes_statuses_has_a_sample() -> None:
    assert set(FORMATS) - set(SAMPLES) == {"folder", "jobs"}
    for name, sample in SAMPLES.items():
        assert write_statuses(name, sample.text, SourceStatus.DONE) != sample.text


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("name", SAMPLES)
def test_status_edits_are_undone(name: str, mark: SourceStatus) -> None:
    sample = SAMPLES[name]
    assert restore_statuses(name, sample.path, sample.text, write_statuses(name, sample.text, mark)) == sample.text


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("name", SAMPLES)
def test_other_edits_stay(name: str, mark: SourceStatus) -> None:
    sample = SAMPLES[name]
    new = sample.edited(write_statuses(name, sample.text, mark))
    assert restore_statuses(name, sample.path, sample.text, new) == sample.edited(sample.text)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_text_without_other_statuses_stays_as_it_is(name: str) -> None:
    sample = SAMPLES[name]
    edited = sample.edited(sample.text)
    assert restore_statuses(name, sample.path, sample.text, edited) == edited


@pytest.mark.parametrize("name", SAMPLES)
def test_line_ends_and_strange_bytes_survive(name: str) -> None:
    sample = SAMPLES[name]
    base = "\ufeff" + sample.text.replace("\n", "\r\n") if name not in {"prd", "taskmaster"} else sample.text
    new = sample.edited(write_statuses(name, base, SourceStatus.DONE))
    assert restore_statuses(name, sample.path, base, new) == sample.edited(base)


def test_a_tick_in_another_spelling_is_undone() -> None:
    base = "# Things\n\n- [ ] Buy bread\n- [v] Bake cake\n"
    assert restore_statuses("checklist", "TODO.md", base, base.replace("[ ]", "[X]").replace("[v]", "[ ]")) == base


def test_a_status_and_a_title_on_one_line_are_separated() -> None:
    base = "## Phase 1: Ground\n- [ ] 1.1 Dig\n- [X] 1.2 Pour\n"
    new = "## Phase 1: Ground\n- [x] 1.1 Dig deep\n- [ ] 1.2 Pour it all\n"
    wanted = "## Phase 1: Ground\n- [ ] 1.1 Dig deep\n- [X] 1.2 Pour it all\n"
    assert restore_statuses("plan", "plan.md", base, new) == wanted


def test_a_new_task_keeps_its_status() -> None:
    base = "## Phase 1: Ground\n- [ ] 1.1 Dig\n"
    new = "## Phase 1: Ground\n- [x] 1.1 Dig\n- [x] 1.2 Found while digging\n"
    assert restore_statuses("plan", "plan.md", base, new) == base + "- [x] 1.2 Found while digging\n"


def test_tasks_that_were_renumbered_keep_their_own_statuses() -> None:
    base = "### 1. One\n**Status**: [COMPLETED]\n\n### 2. Two\n**Status**: [NOT STARTED]\n"
    new = "### 1. Zero\n**Status**: [NOT STARTED]\n\n### 2. One\n**Status**: [COMPLETED]\n\n### 3. Two\n**Status**: [COMPLETED]\n"
    wanted = new.replace("### 3. Two\n**Status**: [COMPLETED]", "### 3. Two\n**Status**: [NOT STARTED]")
    assert restore_statuses("todo", "TODO.md", base, new) == wanted


def test_every_list_of_a_file_with_tags_is_restored() -> None:
    sample = SAMPLES["taskmaster"]
    new = sample.edited(sample.text.replace('"pending"', '"done"'))
    assert restore_statuses("taskmaster", sample.path, sample.text, new) == sample.edited(sample.text)


@pytest.mark.parametrize(
    ("name", "path"), [("plan", "docs/plan-outputs/site/status.json"), ("jobs", "jobs/_jobstatus.json")]
)
def test_a_file_of_statuses_only_is_restored_whole(name: str, path: str) -> None:
    assert restore_statuses(name, path, '{"tasks": []}', '{"tasks": [1]}') == '{"tasks": []}'


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("text", ["", "\0\udcff", "{", "just words\n", "- [", "---\nstatus"])
def test_a_text_that_cannot_be_read_comes_back_unchanged(name: str, text: str) -> None:
    sample = SAMPLES.get(name, Sample("tasks/01-a.md", "# A\n\nStatus: done\n", ("", "")))
    assert restore_statuses(name, sample.path, sample.text, text) == text
    assert restore_statuses(name, sample.path, text, sample.text) == sample.text
