"""The settings of `[model]`, and how they get to the process."""

from __future__ import annotations

import pytest

from plait.agents.model_jobs.job_spec import (
    ModelJobSpec,
    decode_settings,
    decode_spec,
    encode_options,
    encode_spec,
)
from plait.client.agent_specs import build_agent_specs
from plait.config import toml_file
from plait.config.agent_keys import ModelConfig
from plait.config.config import Config, Layer, find_repository_commands
from plait.config.loading import ConfigDocument, SettingsError, merge_layers, read_document
from plait.core.errors import ConfigError
from plait.core.task import ModelJob, ModelJobMode


def configured(text: str) -> Config:
    return merge_layers(
        [read_document(ConfigDocument("plait.toml", toml_file.parse_toml(text, "plait.toml")), Layer.REPOSITORY)]
    )


def test_settings_that_differ_from_the_defaults_round_trip() -> None:
    asked = ModelConfig(base_url="http://127.0.0.1:1/v1", key="K", checks=("make", "a 'b'"), fixes=0, temperature=0.5)
    carried = encode_options(asked)
    assert {name for name, _ in carried} == {"base_url", "key", "checks", "fixes", "temperature"}
    assert decode_settings(carried) == asked
    assert encode_options(ModelConfig()) == ()


def test_unknown_settings_are_ignored_and_invalid_ones_reported() -> None:
    assert decode_settings([("unheard_of", "1"), ("fixes", "3")]) == ModelConfig(fixes=3)
    with pytest.raises(ConfigError, match="can't be read"):
        decode_settings([("fixes", "{")])


def test_a_spec_round_trips() -> None:
    job = ModelJob("out/a.py", ModelJobMode.SPLIT, ("b.py",), ("c.py",), ("d.py",), "t.py", sequential=True)
    spec = ModelJobSpec("j", "T", "do \u2028 it", "m", "/w", "/f", "again", job, ("x",), "jobs/j.md")
    assert decode_spec(encode_spec(spec)) == spec
    with pytest.raises(ValueError, match="touches"):
        decode_spec("{}")


def test_the_settings_reach_the_agent_of_the_jobs() -> None:
    config = configured('[run]\nagent = "claude"\n[model]\nname = "coder"\nfixes = 5\n')
    (spec,) = [spec for spec in build_agent_specs(config) if spec.name == "model"]
    assert (spec.model, decode_settings(spec.options).fixes) == ("coder", 5)


def test_a_batch_without_settings_stores_none() -> None:
    assert build_agent_specs(merge_layers([])) == ()


def test_an_agents_model_has_precedence_over_the_general_one() -> None:
    text = '[run]\nmodel = "any"\n[model]\nname = "coder"\n'
    (spec,) = [spec for spec in build_agent_specs(configured(text)) if spec.name == "model"]
    assert spec.model == "coder"
    (spec,) = [
        spec
        for spec in build_agent_specs(configured(f'{text}[agents]\nmodels = {{model = "own"}}\n'))
        if spec.name == "model"
    ]
    assert spec.model == "own"


@pytest.mark.parametrize(
    ("line", "asks"),
    [
        ('base_url = "http://localhost:1234/v1"', False),
        ('base_url = "http://[::1]:1234/v1"', False),
        ('base_url = "https://api.example.org/v1"', True),
        ('base_url = "http://localhost.example.org/v1"', True),
        ('key = "AWS_SECRET_ACCESS_KEY"', True),
        ('checks = ["make test"]', True),
        ("fixes = 1", False),
    ],
)
def test_settings_that_send_secrets_or_run_commands_need_trust(line: str, asks: bool) -> None:  # noqa: FBT001
    assert bool(find_repository_commands(configured(f"[model]\n{line}\n"))) is asks


@pytest.mark.parametrize(
    "said",
    [
        "ftp://x/v1",
        "localhost:11434",
        "http://",
        "http://x:99999/v1",
        "http://u:sk-1@x/v1",
        "http://x/?key=1",
        "http://x y",
    ],
)
def test_a_base_url_must_be_a_server_address_without_a_key(said: str) -> None:
    with pytest.raises(SettingsError, match="must be the address of a server"):
        configured(f'[model]\nbase_url = "{said}"\n')


@pytest.mark.parametrize("said", ["-1", "2.1", '"warm"', "true", "nan"])
def test_a_temperature_out_of_range_is_refused(said: str) -> None:
    with pytest.raises(SettingsError, match="must be a number from 0 to 2"):
        configured(f"[model]\ntemperature = {said}\n")
