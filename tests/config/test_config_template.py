"""A rendered plait.toml says what it was given, is short, and is read back as the same."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings, strategies as st

from plait.config import toml_file
from plait.config.config import Config, Layer
from plait.config.keys import KEYS, KEYS_BY_NAME
from plait.config.loading import ConfigDocument, merge_layers, read_document
from plait.config.reference import render_config_template
from plait.core.errors import UserError

USUAL = ("run.agent", "run.verify", "sources.paths", "workspace.setup")


def loaded(text: str) -> Config:
    return merge_layers(
        [read_document(ConfigDocument("plait.toml", toml_file.parse_toml(text, "plait.toml")), Layer.REPOSITORY)]
    )


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1).filter(str.strip)
WORDS = TEXT.filter(lambda said: "," not in said)
COUNT = st.integers(0, 1_000_000)
BY_KIND: dict[str, st.SearchStrategy[object]] = {
    "run.agent": st.lists(WORDS, max_size=3),
    "run.max_parallel": COUNT | st.just("auto"),
    "run.verify": st.just("") | TEXT,
    "run.timeout": st.floats(0.001, 1e9) | st.integers(1, 10**9) | st.just("1h30m"),
    "run.phase_gate": st.floats(0, 1),
    "run.auto_approve": st.booleans(),
    "run.retries": COUNT,
    "run.budget": st.sampled_from(["", "20usd", "2mtok", "$0.01 5tok"]),
    "run.on_conflict": st.sampled_from(["skip", "fail", "repair"]),
    "sources.paths": st.lists(TEXT, max_size=3),
    "sources.tag": TEXT,
    "engine.agent_limits": st.dictionaries(WORDS.map(str.strip), COUNT, max_size=3),
}


@settings(max_examples=50)
@given(st.fixed_dictionaries({}, optional=BY_KIND))
def test_a_template_with_values_is_read_back_with_the_other_defaults(values: dict[str, object]) -> None:
    config = loaded(render_config_template(values))
    for key in KEYS:
        expected = key.value_type.read(values[key.name]) if key.name in values else key.default
        assert (key.name, config.value(key)) == (key.name, expected)
        assert config.origins[key.name].layer is (Layer.REPOSITORY if key.name in values else Layer.DEFAULT)


def test_commented_lines_of_the_template_have_the_defaults() -> None:
    text, count = re.subn(r"(?m)^#(?=\w+ = )", "", render_config_template({}))
    assert count == len(USUAL)
    config = loaded(text)
    for name in USUAL:
        assert (name, config.value(KEYS_BY_NAME[name])) == (name, KEYS_BY_NAME[name].default)
        assert config.origins[name].layer is Layer.REPOSITORY


def test_the_template_is_short_and_explains_what_is_missing() -> None:
    text = render_config_template({"run.verify": "make test"})
    assert len(text.splitlines()) <= 12
    assert '\nverify = "make test"\n' in text
    assert f'#setup = ""  # {KEYS_BY_NAME["workspace.setup"].about}\n' in text


@pytest.mark.parametrize(("name", "said"), [("run.nope", 1), ("run.retries", "many"), ("run.mode", None)])
def test_a_value_that_no_file_could_have_is_refused(name: str, said: object) -> None:
    with pytest.raises(UserError, match=re.escape(name)):
        render_config_template({name: said})


@given(st.text())
def test_a_formatted_value_has_no_terminal_escapes(said: str) -> None:
    assert toml_file.format_toml(said).isprintable()


def test_a_key_that_needs_quotes_gets_them() -> None:
    assert toml_file.format_toml({"a-b": 1, "c d": [1.5, True]}) == '{ a-b = 1, "c d" = [1.5, true] }'
    assert KEYS_BY_NAME["engine.agent_limits"].value_type.read({"c d": 1}) == (("c d", 1),)
