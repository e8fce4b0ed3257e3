"""How agents are called: the settings, as the agents know them."""

from __future__ import annotations

from dataclasses import asdict

from plait.agents.interface import AgentSpec, Permission, Price, PromptDelivery
from plait.agents.table__known import KNOWN_AGENTS
from plait.config.config import COMMAND_AGENT, Config, ModelConfig
from plait.config.key__choices import PromptDeliveryChoice as Asked

MODEL_AGENT = "model"


def build_agent_specs(config: Config) -> tuple[AgentSpec, ...]:
    """Of every agent that something is set for; raises ConfigError."""
    names = dict.fromkeys((*config.agents.configured_agents, *config.default_agents, *config.run.fallback))
    if config.run.model or config.agents.prices:  # whoever a task names may need them
        names |= dict.fromkeys(known.name for known in KNOWN_AGENTS)
    if config.run.agent_command is not None:
        names[COMMAND_AGENT] = None
    names[MODEL_AGENT] = None  # jobs name it, whoever serves
    made = [_build_spec(config, name) for name in names]
    return tuple(spec for spec in made if spec != AgentSpec(spec.name))


def _build_spec(config: Config, name: str) -> AgentSpec:
    """What the settings say of one agent."""
    own = config.agents
    plain = (
        _build_command_spec(config)
        if name == COMMAND_AGENT and config.run.agent_command is not None
        else AgentSpec(name)
    )
    return AgentSpec(
        name,
        plain.command,
        plain.shell,
        plain.prompt_by,
        model=_choose_model(config, name),
        args=dict(own.args).get(name, ()),
        permission=Permission(dict(own.permissions).get(name, Permission.FULL).value),
        program=dict(own.programs).get(name, ""),
        account=dict(own.accounts).get(name, ""),
        prices=tuple(Price(model, *amounts) for model, amounts in own.prices),
        options=_build_model_options(config.model) if name == MODEL_AGENT else (),
        replies=name in own.replies,
    )


def _choose_model(config: Config, name: str) -> str:
    """Its own before everybody's, unless everybody's was said by a stronger layer: a flag counts over any file."""
    own = [("agents.models", dict(config.agents.models).get(name))]
    if name == MODEL_AGENT:
        own.append(("model.name", config.model.name))
    all_of_them = config.origins["run.model"].strength if config.run.model else -1
    said = (value for key, value in own if value and config.origins[key].strength >= all_of_them)
    return next(said, config.run.model or "")


def _build_model_options(model: ModelConfig) -> tuple[tuple[str, str], ...]:
    from plait.agents.model_jobs.job_spec import encode_options  # noqa: PLC0415 - each agent is imported when it is used

    return encode_options(asdict(model))


def _build_command_spec(config: Config) -> AgentSpec:
    from plait.agents.drivers.command import build_command_spec  # noqa: PLC0415 - only where there is a command

    by = None if config.run.prompt_by is Asked.AUTO else PromptDelivery(config.run.prompt_by.value)
    assert config.run.agent_command is not None
    return build_command_spec(config.run.agent_command, shell=config.run.agent_shell, prompt_by=by)
