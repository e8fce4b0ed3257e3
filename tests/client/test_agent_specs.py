"""How agents are called, by what the settings say."""

from __future__ import annotations

import pytest

from plait.client.agent_specs import build_agent_specs
from plait.config import loading, toml_file
from plait.config.config import Layer
from plait.config.loading import ConfigDocument, LayerValues, merge_layers, read_document

OWN = '[agents.models]\nclaude = "opus"\n[model]\nname = "qwen"\n'


def layer(text: str, kind: Layer = Layer.REPOSITORY) -> LayerValues:
    return read_document(ConfigDocument("plait.toml", toml_file.parse_toml(text, "plait.toml")), kind)


def models(*layers: LayerValues) -> dict[str, str]:
    return {spec.name: spec.model for spec in build_agent_specs(merge_layers(layers))}


@pytest.mark.parametrize(
    ("layers", "claude", "codex", "model"),
    [
        ([layer(OWN)], "opus", None, "qwen"),
        ([layer(f'[run]\nmodel = "any"\n{OWN}')], "opus", "any", "qwen"),
        ([layer(OWN), loading.read_flags({"run.model": "said"})], "said", "said", "said"),
        ([layer('[run]\nmodel = "any"', Layer.USER), layer(OWN)], "opus", "any", "qwen"),
        ([layer(OWN, Layer.USER), layer('[run]\nmodel = "any"')], "any", "any", "any"),
    ],
)
def test_an_agents_own_model_wins_unless_a_stronger_layer_sets_one_for_all(
    layers: list[LayerValues], claude: str, codex: str | None, model: str
) -> None:
    found = models(*layers)
    assert (found["claude"], found.get("codex"), found["model"]) == (claude, codex, model)
