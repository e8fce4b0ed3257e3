"""How agents are called, by what the settings say."""

from __future__ import annotations

import pytest

from plait.config import outside, toml
from plait.config.document import Document, hear
from plait.config.layers import Heard, merge
from plait.config.model import Layer
from plait.wiring.agents import specs

OWN = '[agents.models]\nclaude = "opus"\n[model]\nname = "qwen"\n'


def layer(text: str, kind: Layer = Layer.REPOSITORY) -> Heard:
    return hear(Document("plait.toml", toml.parse(text, "plait.toml")), kind)


def models(*layers: Heard) -> dict[str, str]:
    return {spec.name: spec.model for spec in specs(merge(layers))}


@pytest.mark.parametrize(
    ("layers", "claude", "codex", "model"),
    [
        ([layer(OWN)], "opus", None, "qwen"),
        ([layer(f'[run]\nmodel = "any"\n{OWN}')], "opus", "any", "qwen"),
        ([layer(OWN), outside.flags({"run.model": "said"})], "said", "said", "said"),
        ([layer('[run]\nmodel = "any"', Layer.USER), layer(OWN)], "opus", "any", "qwen"),
        ([layer(OWN, Layer.USER), layer('[run]\nmodel = "any"')], "any", "any", "any"),
    ],
)
def test_an_agents_own_model_counts_first_unless_a_stronger_layer_says_one_for_all(
    layers: list[Heard], claude: str, codex: str | None, model: str
) -> None:
    found = models(*layers)
    assert (found["claude"], found.get("codex"), found["model"]) == (claude, codex, model)
