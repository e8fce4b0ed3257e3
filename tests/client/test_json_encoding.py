from __future__ import annotations

import json

from hypothesis import given, strategies as st

from plait.client.json_encoding import encode_json


@given(st.recursive(st.none() | st.text() | st.integers(-(2**53), 2**53), st.lists, max_leaves=10))
def test_encoded_json_decodes_to_the_same_value(told: object) -> None:
    assert json.loads(encode_json(told)) == told


@given(st.text(st.characters(min_codepoint=0, max_codepoint=0x9F)))
def test_encoded_json_has_no_terminal_controls(text: str) -> None:
    assert all(char.isprintable() for char in encode_json(text).decode())


def test_a_name_that_is_not_utf_8_is_escaped() -> None:
    assert encode_json({"path": "caf\udce9"}) == b'{"path": "caf\\udce9"}'
