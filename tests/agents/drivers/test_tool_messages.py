"""What tools say, out of what it is wrapped in."""

from __future__ import annotations

from json import dumps, loads

import pytest
from hypothesis import given, strategies as st

from plait.agents.drivers.provider_errors import extract_api_error, unwrap_error
from plait.agents.output_parser import last_nonempty_line, repair_json, strip_events


@given(st.text(), st.data())
def test_a_json_object_that_was_cut_off_can_be_repaired(text: str, data: st.DataObject) -> None:
    head, tail = '{"type":"result","deep":[{"result":', dumps(text)
    end = data.draw(st.integers(1, len(tail)))
    read = loads(repair_json(head + tail[:end]))["deep"][0]["result"]
    whole = read.encode("utf-16", "surrogatepass").decode("utf-16", "replace").rstrip("\N{REPLACEMENT CHARACTER}")
    assert text.startswith(whole) or "\\u" in tail


@given(st.text(alphabet='{}[]",:\\u0a '))
def test_repairing_json_never_raises(line: str) -> None:
    repair_json(line)


@pytest.mark.parametrize(
    ("said", "inside"),
    [
        ("[API Error: 429 slow down]", "API Error: 429 slow down"),
        ("I write it.[API Error: terminated]", "API Error: terminated"),
        ('[API Error: {"error":{"code":401,"message":"no","status":"X"}}]', "API Error: no (401 X)"),
        ("[API Error: slow]\nPlease wait and try again later.", "API Error: slow"),
        ("it said [API Error: slow] and went on", None),
        ("API Error: slow", None),
        ("", None),
    ],
)
def test_the_content_of_an_api_error_is_extracted(said: str, inside: str | None) -> None:
    assert extract_api_error(said) == inside


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ('{"error": {"message": "too long", "code": "c", "type": "t"}}', "too long (c t)"),
        ('_ApiError: {"error":{"error":{"message":"no"}}}', "no"),
        ('{"error": "no"}', '{"error": "no"}'),
        ("{broken", "{broken"),
        ("plain", "plain"),
        ("[" * 10_000 + "{" * 10_000, "[" * 10_000 + "{" * 10_000),
    ],
)
def test_the_message_is_extracted_from_a_providers_answer(said: str, shown: str) -> None:
    assert unwrap_error(said) == shown


def test_only_error_events_are_part_of_the_detail() -> None:
    tail = 'words\n{"type":"init"}\n{"type":"error","message":"429 Too Many Requests"}\n{ not'
    assert strip_events(tail).split("\n") == [
        "words",
        '{"type":"error","message":"429 Too Many Requests"}',
        "{ not",
    ]


def test_an_error_event_followed_by_others_is_over() -> None:
    tail = '{"type":"error","message":"Reconnecting... (429 Too Many Requests)"}\n{"type":"item.completed"}\nwords'
    assert strip_events(tail) == "words"


def test_the_last_line_is_the_last_meaningful_one() -> None:
    assert last_nonempty_line("a\n\n b \n\n") == "b"
    assert last_nonempty_line("\n") == ""
