"""JSON with positions: what is read is what the standard reader reads, and an edit touches nothing else."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, strategies as st

from plait.sources.json_text import (
    MAX_DEPTH,
    JsonNode,
    JsonSyntaxError,
    insert_key,
    parse_json,
    remove_key,
    replace_value,
)
from plait.sources.text import apply_edits, to_printable
from plait.testing.contracts.source_format import mangled_texts

TEXTS = st.text(max_size=8) | st.sampled_from(['a "quoted" {b}', "\\", "\U0001f600", "]", "é\n"])
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS
# Any: what json reads and writes has no type of its own.
VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
OBJECTS: st.SearchStrategy[dict[str, Any]] = st.dictionaries(TEXTS, VALUES, max_size=4)


@st.composite
def styled(draw: st.DrawFn, values: st.SearchStrategy[Any] = VALUES) -> str:
    """A value as some program or person writes it."""
    text = json.dumps(
        draw(values),
        indent=draw(st.sampled_from([None, 0, 2, "\t"])),
        separators=draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,  ", " : ")])),
        ensure_ascii=draw(st.booleans()),
    )
    text = to_printable(text).replace("\n", draw(st.sampled_from(["\n", "\r\n", "\r"])))
    space = draw(st.sampled_from(["", "\n", " \t"]))
    return draw(st.sampled_from(["", "\ufeff"])) + space + text + space


def shown(value: Any) -> Any:
    """A value with what can't be shown replaced."""
    match value:
        case str():
            return to_printable(value)
        case list():
            return [shown(item) for item in value]
        case dict():
            return {shown(key): shown(item) for key, item in value.items()}
        case _:
            return value


def nodes(node: JsonNode) -> list[JsonNode]:
    inner = [*node.items, *(member.node for member in node.ordered_members)]
    return [node, *(deeper for child in inner for deeper in nodes(child))]


@given(styled())
def test_parse_json_reads_what_the_standard_decoder_reads(text: str) -> None:
    assert parse_json(text).value == shown(json.loads(text.removeprefix("\ufeff")))


@given(styled())
def test_every_value_has_its_position(text: str) -> None:
    for node in nodes(parse_json(text)):
        assert json.loads(node.source) == node.value
        if isinstance(node.value, dict):
            assert {member.key: member.node.value for member in node.ordered_members} == node.value
        if isinstance(node.value, list):
            assert [item.value for item in node.items] == node.value
        for member in node.ordered_members:
            assert json.loads(node.text[member.start : member.stop]) == member.key


@given(mangled_texts(styled()) | st.text())
def test_every_text_is_read_or_refused_with_a_position(text: str) -> None:
    text = to_printable(text)
    flaw = None
    try:
        nodes(parse_json(text))
    except JsonSyntaxError as refused:
        flaw = refused
    if flaw is not None:
        assert 1 <= flaw.line <= len(re.findall(r"\r\n|\r|\n", text)) + 1
        assert flaw.column >= 1
        assert flaw.message


@given(styled(OBJECTS), st.data())
def test_a_replaced_value_leaves_every_other_byte(text: str, data: st.DataObject) -> None:
    node = data.draw(st.sampled_from(nodes(parse_json(text))))
    edit = replace_value(node, "new")
    assert (edit.start, edit.stop) == (node.start, node.stop)
    written = apply_edits(text, [edit])
    assert written == text[: node.start] + '"new"' + text[node.stop :]
    parse_json(written)


@given(styled(OBJECTS), st.data())
def test_inserting_and_removing_a_key_restores_the_text(text: str, data: st.DataObject) -> None:
    root = parse_json(text)
    after = data.draw(st.sampled_from([(), *((key,) for key in root.members)]))
    written = apply_edits(text, [insert_key(root, "the key", value=True, after=after)])
    grown = parse_json(written)
    assert grown.value == {**{key: root.get(key) for key in root.members}, "the key": True}
    assert apply_edits(written, [remove_key(grown, "the key")]) == text


@given(styled(OBJECTS.filter(bool)), st.data())
def test_removing_a_key_loses_nothing_else(text: str, data: st.DataObject) -> None:
    root = parse_json(text)
    key = data.draw(st.sampled_from(sorted(root.members)))
    left = parse_json(apply_edits(text, [remove_key(root, key)]))
    assert {name: left.get(name) for name in left.members} == {
        name: root.get(name) for name in root.members if name != key
    }


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"id": 1, "b": 2}', '{"id": 1, "status": "done", "b": 2}'),
        ('{"id":1,"b":2}', '{"id":1,"status":"done","b":2}'),
        ('{"id": 1}', '{"id": 1, "status": "done"}'),
        ('{"id":1}', '{"id":1,"status":"done"}'),
        ('{\r\n\t"id": 1\r\n}', '{\r\n\t"id": 1,\r\n\t"status": "done"\r\n}'),
        ('{ "id" : 1 , "b" : 2 }', '{ "id" : 1, "status" : "done" , "b" : 2 }'),
        ("{}", '{"status": "done"}'),
    ],
)
def test_a_new_key_is_written_as_its_neighbours_are(before: str, after: str) -> None:
    assert apply_edits(before, [insert_key(parse_json(before), "status", "done", after=("title", "id"))]) == after


def test_of_a_key_that_is_written_twice_the_last_one_counts() -> None:
    root = parse_json('{"a": 1, "b": 2, "a": 3}')
    assert root.get("a") == 3
    assert root["a"].source == "3"
    assert apply_edits(root.text, [remove_key(root, "a")]) == '{"a": 1, "b": 2}'


@pytest.mark.parametrize("bracket", ["[", '{"a":', '[{"a":'])
def test_a_text_nested_too_deep_is_refused_with_the_position(bracket: str) -> None:
    with pytest.raises(JsonSyntaxError, match="nested more than") as refused:
        parse_json("\n" + bracket * 100_000)
    assert refused.value.line == 2
    assert refused.value.column <= MAX_DEPTH * len(bracket) + 1


def test_brackets_inside_strings_are_not_nesting() -> None:
    text = json.dumps(["[" * 300, '\\"' + "{" * 300, []])
    assert len(parse_json(text).items) == 3


def test_any_number_of_brackets_side_by_side_is_allowed() -> None:
    assert len(parse_json("[" + "[], " * 1000 + "{}]").items) == 1001


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"\ud83d\ude00"', "\U0001f600"),
        (r'"\ud83d"', "\ufffd"),
        (r'"\ude00\ud83d\ude00"', "\ufffd\U0001f600"),
        (r'"\\ud83d"', r"\ud83d"),
        (r'"\\\ud83d"', "\\\ufffd"),
        (r'"a\u0000b"', "a\ufffdb"),
        ("1" * 20, 11111111111111111111),
        ("9" * 5000, float("inf")),
        ("1e999", float("inf")),
        ("-0", 0),
    ],
)
def test_values_can_be_shown_and_stored(text: str, value: object) -> None:
    assert parse_json(text).value == value


def test_a_lone_surrogate_in_a_key_is_replaced() -> None:
    assert parse_json(r'{"\ud83d": 1}').members.keys() == {"\ufffd"}


def test_nan_is_read_as_a_number() -> None:
    assert str(parse_json("[NaN]").value) == "[nan]"


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("", 1, 1, "there is nothing in it"),
        ("\ufeff\n", 1, 1, "there is nothing in it"),
        ('{\n  "a": 1\n  "b": 2\n}', 3, 3, 'a comma or the closing bracket is expected here, not "'),
        ('{\r\n"a": }', 2, 6, "a value is expected here, not }"),
        ('{\r"a" 1}', 2, 5, "a colon is expected here, not 1"),
        ("{a: 1}", 1, 2, "a name in double quotes is expected here, not a"),
        ('["a]', 1, 2, "the text that starts here has no closing quote"),
        ('["a\n", 1]', 1, 4, "the end of the line inside a text"),
        ('"\\x"', 1, 2, "an escape that JSON does not know"),
        ("[1", 1, 3, "not the end of the file"),
        ("[]\n\n[]", 3, 1, "the JSON ended before this: ["),
        ("[\u200b]", 1, 2, "not U+200B"),
    ],
)
def test_a_syntax_error_has_its_line_and_column(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(JsonSyntaxError) as refused:
        parse_json(text)
    assert (refused.value.line, refused.value.column) == (line, column)
    assert message in refused.value.message
