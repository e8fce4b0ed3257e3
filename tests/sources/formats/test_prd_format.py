"""ralph's prd.json: what is read from it, and that only `passes` is written to it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, strategies as st

from plait.core.plan import Severity
from plait.sources.formats import Confidence, prd
from plait.sources.source_model import Document, Reading, SourceEntry, SourceFiles, SourceStatus
from plait.sources.status_changes import StatusChange
from plait.testing.contracts.source_format import (
    NOW,
    FormatUnderTest,
    check_any_text,
    check_lossless,
    check_status_change,
    mangled_texts,
)

PATH = "scripts/ralph/prd.json"
TELLS = {
    SourceStatus.DONE: SourceStatus.DONE,
    SourceStatus.TODO: SourceStatus.TODO,
    SourceStatus.FAILED: SourceStatus.TODO,
    SourceStatus.BLOCKED: SourceStatus.TODO,
}
SUBJECT = FormatUnderTest("prd", PATH, TELLS)

FILE = """\
{
  "project": "Shop",
  "branchName": "ralph/basket",
  "description": "A basket",
  "userStories": [
    {
      "id": "US-001",
      "title": "Keep a basket",
      "description": "As a buyer I want a basket in `src/basket.ts`.",
      "acceptanceCriteria": ["It keeps things", "Typecheck\\npasses"],
      "priority": 1,
      "passes": true,
      "notes": ""
    },
    {
      "id": "US-002",
      "title": "Pay",
      "acceptanceCriteria": ["\\"passes\\": false"],
      "priority": 2,
      "passes": false,
      "dependsOn": ["US-001"],
      "notes": "Carefully."
    },
    {"id": 3, "title": "Look back", "priority": 12, "dependsOn": ["US-002", 4]}
  ]
}
"""


def read(text: str) -> Reading:
    return SUBJECT.read(text)


def by_id(text: str) -> dict[str, SourceEntry]:
    return {entry.task.id: entry for entry in read(text).entries}


def write(text: str, name: str, mark: SourceStatus) -> str:
    return SUBJECT.write(text, [StatusChange(name, mark, NOW, PATH)])


def story(**fields: Any) -> str:
    return json.dumps({"userStories": [{"id": "a", "title": "t"} | fields]})


def test_stories_are_tasks() -> None:
    entries = by_id(FILE)
    assert read(FILE).problems == ()
    assert {name: (entry.task.title, entry.status, str(entry.task.origin)) for name, entry in entries.items()} == {
        "US-001": ("Keep a basket", SourceStatus.DONE, f"{PATH}:6"),
        "US-002": ("Pay", SourceStatus.TODO, f"{PATH}:15"),
        "3": ("Look back", SourceStatus.TODO, f"{PATH}:24"),
    }
    assert entries["US-001"].mentions == ("src/basket.ts",)


def test_the_body_holds_criteria_and_notes() -> None:
    entries = by_id(FILE)
    assert entries["US-001"].task.body == (
        "As a buyer I want a basket in `src/basket.ts`.\n\n"
        "## Acceptance criteria\n\n- It keeps things\n- Typecheck passes"
    )
    assert entries["US-002"].task.body == '## Acceptance criteria\n\n- "passes": false\n\n## Notes\n\nCarefully.'


def test_named_stories_are_needs() -> None:
    entries = by_id(FILE)
    assert [need.on for need in entries["US-002"].task.needs] == ["US-001"]
    assert [need.on for need in entries["3"].task.needs] == ["US-002", "4"]
    need = entries["US-002"].task.needs[0]
    assert (need.reason, str(need.at)) == ("dependsOn: US-001", f"{PATH}:21")
    assert [need.on for need in by_id(story(dependencies=["b"]))["a"].task.needs] == ["b"]


@pytest.mark.parametrize(("raw", "priority"), [(1, 0), (2, 1), (12, 11), (2.5, 1), ("high", 0), (None, 1)])
def test_the_smaller_number_goes_first(raw: object, priority: int) -> None:
    reading = read(story(priority=raw))
    assert reading.entries[0].task.priority == priority
    assert reading.problems == ()


@pytest.mark.parametrize("raw", [True, "soon", [], 10**300, float("nan")])
def test_an_invalid_priority_is_ignored_with_a_warning(raw: object) -> None:
    reading = read(story(priority=raw))
    assert reading.entries[0].task.priority == 1
    assert len(reading.problems) == 1


@pytest.mark.parametrize("raw", ["true", 1, "yes", []])
def test_only_true_passes(raw: object) -> None:
    reading = read(story(passes=raw))
    assert reading.entries[0].status is SourceStatus.TODO
    assert [problem.severity for problem in reading.problems] == [Severity.WARNING]


def test_invalid_values_are_ignored_with_a_line() -> None:
    text = """{"userStories": [
{"title": "no id"},
null,
{"id": "a", "title": "good", "dependsOn": [{}, "b"]},
{"id": "a", "title": "again"},
{"id": "b", "dependsOn": "a"}
]}"""
    reading = read(text)
    assert [(entry.task.id, entry.task.title) for entry in reading.entries] == [("a", "good"), ("b", "b")]
    assert [problem.at.line for problem in reading.problems if problem.at] == [2, 3, 4, 5, 6]
    assert {problem.severity for problem in reading.problems} == {Severity.WARNING}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"userStories": {}}', '{"userStories": ['])
def test_a_file_of_another_shape_is_an_error(text: str) -> None:
    [problem] = read(text).problems
    assert problem.severity is Severity.ERROR
    assert read(text).entries == ()


def test_a_file_without_stories_is_reported() -> None:
    assert [problem.severity for problem in read('{"userStories": []}').problems] == [Severity.INFO]


def test_only_passes_is_written() -> None:
    assert write(FILE, "US-002", SourceStatus.DONE) == FILE.replace('"passes": false,\n', '"passes": true,\n')
    assert write(FILE, "US-001", SourceStatus.FAILED) == FILE.replace('"passes": true', '"passes": false')
    assert write(FILE, "3", SourceStatus.DONE) == FILE.replace('"priority": 12,', '"priority": 12, "passes": true,')


@pytest.mark.parametrize("name", ["US-001", "US-002", "3"])
@pytest.mark.parametrize("mark", [SourceStatus.DOING, SourceStatus.SKIPPED, SourceStatus.PARTIAL, SourceStatus.STUCK])
def test_statuses_that_prd_lacks_change_nothing(name: str, mark: SourceStatus) -> None:
    assert write(FILE, name, mark) == FILE


def test_a_story_without_passes_is_not_written_as_failing() -> None:
    assert write(FILE, "3", SourceStatus.FAILED) == FILE


def test_a_missing_story_is_reported() -> None:
    changes = [StatusChange("US-009", SourceStatus.DONE, NOW, PATH, "Gone")]
    [writer] = prd.FORMAT.writers(PATH, changes)
    assert writer.apply(FILE, changes).text == FILE
    assert len(writer.apply(FILE, changes).problems) == 1
    broken = writer.apply(FILE[:-4], changes)
    assert broken.text == FILE[:-4]
    assert "not valid JSON" in broken.problems[0].message


@pytest.mark.parametrize(
    ("path", "text", "likeness"),
    [
        (PATH, FILE, Confidence.NAME),
        ("prd.json", '{"userStories": [', Confidence.NAME),
        ("prd.json", '[{"category": "ui", "passes": false}]', Confidence.NO),
        ("stories.json", FILE, Confidence.CONTENT),
        ("stories.json", FILE[:-4], Confidence.NO),
        ("stories.json", '{"userStories": [{"id": 1}]}', Confidence.NO),
        ("package.json", '{"name": "x"}', Confidence.NO),
        ("prd.md", FILE, Confidence.NO),
    ],
)
def test_files_of_this_format_are_recognised(path: str, text: str, likeness: Confidence) -> None:
    assert prd.FORMAT.detect(SourceFiles(path, (Document(path, text),))) is likeness


WORDS = st.sampled_from(["", "plain", '"passes": true', "é\u2028\U0001f600", "`src/a.py` {", "- [ ] 1.1 x\n"])
IDS = st.sampled_from(["US-1", "US-2", "US-3", 4, "5"])


@st.composite
def texts(draw: st.DrawFn) -> str:
    stories = []
    for number, name in enumerate(draw(st.lists(IDS, unique_by=str, max_size=5))):
        fields: dict[str, Any] = {"id": name, "title": f"Story {number} {draw(WORDS)}"}
        if draw(st.booleans()):
            fields |= {"priority": number, "acceptanceCriteria": [draw(WORDS)], "unknown": draw(WORDS)}
        if draw(st.booleans()):
            fields["dependsOn"] = draw(st.lists(IDS, max_size=2))
        if draw(st.booleans()):
            fields["passes"] = draw(st.booleans())
        keys = draw(st.permutations(list(fields)))
        stories.append({key: fields[key] for key in keys})
    text = json.dumps(
        {"project": "p", "userStories": stories},
        indent=draw(st.sampled_from([2, None, "\t"])),
        ensure_ascii=draw(st.booleans()),
    ).replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return draw(st.sampled_from(["", "\ufeff"])) + text


JUNK: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=3,
)
KEYS = ("title", "description", "acceptanceCriteria", "priority", "passes", "notes", "dependsOn")


@st.composite
def junk(draw: st.DrawFn) -> str:
    """JSON in which anything may be of another type."""
    a_story = st.fixed_dictionaries({"id": IDS | JUNK}, optional=dict.fromkeys(KEYS, JUNK))
    return json.dumps({"userStories": draw(st.lists(a_story | JUNK, max_size=4))}, indent=1)


def masked(text: str) -> str:
    return re.sub(r'(?<!\\)"passes": (true|false)', '"passes": ?', text)


@given(texts())
def test_writing_nothing_keeps_every_byte(text: str) -> None:
    check_lossless(SUBJECT, text)


@given(texts(), st.integers(0, 20), st.sampled_from(list(SourceStatus)))
def test_one_change_changes_one_story(text: str, index: int, mark: SourceStatus) -> None:
    check_status_change(SUBJECT, text, index, mark)


@given(texts(), st.sampled_from(list(SourceStatus)))
def test_only_passes_changes(text: str, mark: SourceStatus) -> None:
    written = SUBJECT.write(text, [SUBJECT.change(entry, mark) for entry in read(text).entries])
    before, after = (json.loads(each.removeprefix("\ufeff")) for each in (text, written))
    for value in (before, after):
        for each in value["userStories"]:
            each.pop("passes", None)
    assert before == after
    if '"passes"' in text and text.count('"passes":') == written.count('"passes":'):
        assert masked(written) == masked(text)


@given(mangled_texts(texts() | junk()))
def test_no_text_makes_the_format_raise(text: str) -> None:
    check_any_text(SUBJECT, text)


@given(junk())
def test_wrong_types_do_not_raise(text: str) -> None:
    check_any_text(SUBJECT, text)
