"""How agents are called: the settings, as the agents know them.

The agents' programs: which are on this PATH. None is run.

The template of prompts that the settings name.
"""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

from plait.agents import templates
from plait.agents.interface import AgentSpec, Price
from plait.agents.table import AGENTS
from plait.config.agent_keys import ModelConfig, Permission
from plait.config.config import COMMAND_AGENT, Config, Layer
from plait.core.errors import ConfigError
from plait.git.location import RepoLocation

MODEL_AGENT = "model"


def build_agent_specs(config: Config) -> tuple[AgentSpec, ...]:
    """Of every agent that something is set for; raises ConfigError."""
    names = dict.fromkeys((*config.agents.configured_agents, *config.default_agents, *config.run.fallback))
    if config.run.model or config.agents.prices:  # whoever a task names may need them
        names |= dict.fromkeys(AGENTS)
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
        permission=dict(own.permissions).get(name, Permission.FULL),
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
    from plait.agents.model_jobs.job_spec import encode_options  # each agent is imported when it is used

    return encode_options(model)


def _build_command_spec(config: Config) -> AgentSpec:
    from plait.agents.drivers.command import build_command_spec  # only where there is a command

    assert config.run.agent_command is not None
    return build_command_spec(config.run.agent_command, shell=config.run.agent_shell, prompt_by=config.run.prompt_by)


def find_default_agent(config: Config) -> tuple[str, ...]:
    """Who serves where no setting names anybody: the first of the known agents whose program is here, if there is one."""
    programs = dict(config.agents.programs)
    for known in AGENTS.values():
        if known.tested and known.program and shutil.which(programs.get(known.name, known.program)):
            return (known.name,)
    return ()


def explain_missing(spec: AgentSpec) -> tuple[str, str] | None:
    """Why an agent can't be run, and the way out; None: its program is here, or nobody can tell."""
    known = AGENTS.get(spec.name)
    if known is not None and spec.name == MODEL_AGENT and find_spec("openai") is None:
        return (
            "the agent model needs the openai client, which is not installed here",
            f"Install it: {known.install}.",
        )
    program = spec.program or (known.program if known else "")
    if spec.command or not program or shutil.which(program):
        return None
    if spec.program:
        return (
            f"{program}, which is set for the agent {spec.name}, is not here",
            "Look at [agents.programs] in the settings, and at the PATH.",
        )
    install = f"Install it ({known.install}), or say" if known and known.install else "Put it on the PATH, or say"
    return (
        f"the agent {spec.name} is not installed here",
        f"{install} who else works it: --agent; plait agents lists them.",
    )


_MAX_TEMPLATE_BYTES = 1 << 20  # bytes


def load_prompt_template(place: RepoLocation, config: Config) -> str:
    """Its text; "" where plait's own will do. Raises ConfigError."""
    named, given = config.run.prompt, config.origins["run.prompt"]
    if not named:
        return ""
    path = place.top / Path(named).expanduser()
    inside = path.resolve().is_relative_to(place.top.resolve())
    if given.layer is Layer.REPOSITORY and not inside:  # what it is read for, a stranger's model sees
        raise ConfigError(
            f"{given}: the template of prompts {named} lies outside of the repository",
            hint="A repository's own settings name files of its own; yours may name any.",
        )
    try:
        text = _read_template(path)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ConfigError(
            f"{given}: the template of prompts {named} can't be read: {why}",
            hint="Put a text with {task} in it there, or take run.prompt out of the settings.",
        ) from error
    templates.check_template(text, named)
    return text


def _read_template(path: Path) -> str:
    if not path.is_file():  # a device would never end
        raise FileNotFoundError(2, "there is no such file")
    if path.stat().st_size > _MAX_TEMPLATE_BYTES:
        raise ValueError(f"it has more than {_MAX_TEMPLATE_BYTES >> 20} MB")
    return path.read_bytes().decode("utf-8-sig")


def load_agent_specs(config: Config) -> tuple[AgentSpec, ...]:
    """How agents are called where their names alone do not say; raises ConfigError."""
    return build_agent_specs(config)
