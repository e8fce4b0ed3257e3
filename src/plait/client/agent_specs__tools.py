"""The agents' programs: which are on this PATH. None is run."""

from __future__ import annotations

import shutil
from importlib.util import find_spec

from plait.agents.interface import AgentSpec
from plait.agents.table__known import AGENTS_BY_NAME, KNOWN_AGENTS
from plait.client.agent_specs import MODEL_AGENT
from plait.config.config import Config


def find_default_agent(config: Config) -> tuple[str, ...]:
    """Who serves where no setting names anybody: the first of the known agents whose program is here, if there is one."""
    programs = dict(config.agents.programs)
    for known in KNOWN_AGENTS:
        if known.tested and known.program and shutil.which(programs.get(known.name, known.program)):
            return (known.name,)
    return ()


def explain_missing(spec: AgentSpec) -> tuple[str, str] | None:
    """Why an agent can't be run, and the way out; None: its program is here, or nobody can tell."""
    known = AGENTS_BY_NAME.get(spec.name)
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
    install = (
        f"Install it ({known.install}), or say" if known and known.install else "Put it on the PATH, or say"
    )
    return (
        f"the agent {spec.name} is not installed here",
        f"{install} who else works it: --agent; plait agents lists them.",
    )
