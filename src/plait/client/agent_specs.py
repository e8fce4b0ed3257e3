"""Agents as the settings describe them: how each is called, whether its program is installed, and the prompt template."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from plait.agents import templates
from plait.agents.interface import AgentSpec, Price
from plait.agents.table import AGENTS
from plait.client.programs import find_missing_program, is_installed
from plait.config.agent_keys import ModelConfig, Permission
from plait.config.config import COMMAND_AGENT, SHARED_LAYERS, Config
from plait.core.errors import ConfigError
from plait.git.location import RepoLocation
from plait.store.file_access import FileAccess

MODEL_AGENT = "model"


def build_agent_specs(config: Config) -> tuple[AgentSpec, ...]:
    """Build the specs of the agents that differ from their defaults; raises ConfigError."""
    names = dict.fromkeys((*config.agents.configured_agents, *config.default_agents, *config.run.fallback))
    if config.run.model or config.agents.prices:  # a task may name any of them
        names |= dict.fromkeys(AGENTS)
    if config.run.agent_command is not None:
        names[COMMAND_AGENT] = None
    names[MODEL_AGENT] = None  # jobs name it, whatever the default agent is
    specs = [_build_spec(config, name) for name in names]
    return tuple(spec for spec in specs if spec != AgentSpec(spec.name))


def _build_spec(config: Config, name: str) -> AgentSpec:
    agents, base = config.agents, AgentSpec(name)
    if name == COMMAND_AGENT and config.run.agent_command is not None:
        from plait.agents.drivers.command import build_command_spec  # only where there is a command

        run = config.run
        base = build_command_spec(config.run.agent_command, shell=run.agent_shell, prompt_by=run.prompt_by)
    return replace(
        base,
        model=choose_model(config, name),
        args=dict(agents.args).get(name, ()),
        permission=dict(agents.permissions).get(name, Permission.FULL),
        program=dict(agents.programs).get(name, ""),
        account=dict(agents.accounts).get(name, ""),
        prices=tuple(Price(model, *amounts) for model, amounts in agents.prices),
        options=_build_model_options(config.model) if name == MODEL_AGENT else (),
        replies=name in agents.replies,
        sandbox=dict(agents.sandboxes).get(name),
    )


def choose_model(config: Config, name: str) -> str:
    """Return the agent's own model before that of all agents, unless the latter is set by a stronger layer."""
    candidates = [("agents.models", dict(config.agents.models).get(name))]
    if name == MODEL_AGENT:
        candidates.append(("model.name", config.model.name))
    strength = config.origins["run.model"].strength if config.run.model else -1
    return next(
        (value for key, value in candidates if value and config.origins[key].strength >= strength),
        config.run.model or "",
    )


def _build_model_options(model: ModelConfig) -> tuple[tuple[str, str], ...]:
    from plait.agents.model_jobs.job_spec import encode_options  # each agent is imported when it is used

    return encode_options(model)


def find_default_agent(config: Config) -> tuple[str, ...]:
    """Return the agent to use if no setting names one: the first tested one whose program is installed."""
    programs = dict(config.agents.programs)
    for info in AGENTS.values():
        if info.tested and info.program and shutil.which(programs.get(info.name, info.program)):
            return (info.name,)
    return ()


def explain_missing(spec: AgentSpec, flag: str = "--agent") -> tuple[str, str] | None:
    """Say why an agent can't be run, and what to do; None if its program is installed, or none is known.

    `flag` is the one that chose it.
    """
    info = AGENTS.get(spec.name)
    if info is not None and spec.name == MODEL_AGENT and find_spec("openai") is None:
        return (
            "the agent model needs the openai client, which is not installed",
            f"Install it: {info.install}.",
        )
    if spec.command:
        return _explain_missing_command(spec)
    program = spec.program or (info.program if info else "")
    if not program or shutil.which(program):
        return None
    if spec.program:
        return (
            f"{program}, the program of the agent {spec.name}, was not found",
            "Check [agents.programs] in the settings, and the PATH.",
        )
    install = f"Install it ({info.install}), or choose" if info and info.install else "Put it on the PATH, or choose"
    return (
        f"the agent {spec.name} is not installed here",
        f"{install} another agent: {flag}; plait agents lists them.",
    )


def _explain_missing_command(spec: AgentSpec) -> tuple[str, str] | None:
    """Explain a missing program of a command. A shell's line may name several; a program in the workspace or from a
    placeholder is not known yet.
    """
    first, *_ = spec.command
    is_known = spec.shell or "{" not in first
    missing = (
        (find_missing_program(first) if spec.shell else None if is_installed(first) else first) if is_known else None
    )
    if missing is None:
        return None
    return (
        f"{missing} is not installed, and the agent's command runs it",
        "Install it, put it on the PATH, or change --agent-command.",
    )


_MAX_TEMPLATE_BYTES = 1 << 20  # bytes


def load_prompt_template(location: RepoLocation, config: Config) -> str:
    """Return the text of the configured template, or "" for plait's own. Raises ConfigError."""
    template, origin = config.run.prompt, config.origins["run.prompt"]
    if not template:
        return ""
    path = location.top / Path(template).expanduser()
    access = FileAccess(location, () if origin.layer in SHARED_LAYERS else (os.path.realpath(path),))
    if not access.allows(path):  # a model of the repository's choosing would see the file
        raise ConfigError(
            f"{origin}: the prompt template {template} is outside the repository",
            hint="A repository's settings can only name its own files; yours can name any.",
        )
    try:
        text = _read_template(access, path)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ConfigError(
            f"{origin}: the prompt template {template} can't be read: {why}",
            hint="Put a text with {task} there, or remove run.prompt from the settings.",
        ) from error
    templates.check_template(text, template)
    return text


def _read_template(access: FileAccess, path: Path) -> str:
    if not path.is_file():  # a device may never end
        raise FileNotFoundError(2, "there is no such file")
    with os.fdopen(access.open(path), "rb") as file:
        data = file.read(_MAX_TEMPLATE_BYTES + 1)
    if len(data) > _MAX_TEMPLATE_BYTES:
        raise ValueError(f"it has more than {_MAX_TEMPLATE_BYTES >> 20} MB")
    return data.decode("utf-8-sig")
