"""Preflight: checks before the first agent starts. Setup, verify and gate must pass on the unmodified base.

On a cluster, a node must have the program of each agent, too. The checks are run by preflight_run.py; a model server
and a signature are tried here.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import astuple

from plait.agents.interface import AgentSpec
from plait.client.agent_specs import MODEL_AGENT, choose_model
from plait.client.planning.plan_preview import PlanPreview
from plait.client.planning.sandbox import build_sandbox_options
from plait.client.session import Submission
from plait.config.config import Config
from plait.core.errors import UserError, WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.settings import ExecutorKind, Isolation, SandboxMode, Settings
from plait.core.state import BatchState
from plait.core.task import Task
from plait.engine.attempt_inputs import list_agent_programs
from plait.engine.confinement import list_hosts
from plait.git.command import CommandControl, control_commands
from plait.git.interfaces import WorkspaceSetup
from plait.git.location import RepoLocation
from plait.git.worktrees.signing import SigningError, are_commits_signed, sign_test_commit
from plait.runtime.sandbox.spec import SandboxLimits, SandboxSpec
from plait.store.batch_files import BatchInputs

SKIP_HINT = "Fix it, or use --no-preflight if the tasks are meant to fix it."
SETUP, VERIFY, _GATE = "setup", "verify", "gate"


@dataclass(frozen=True, slots=True)
class BaseCheck:
    """A check on the base. `agent`: the agent that this check looks for a node for; "": none."""

    name: str
    command: str
    timeout: float
    agent: str = ""
    programs: tuple[str, ...] = ()
    sandbox: SandboxSpec | None = None


@dataclass(frozen=True, slots=True)
class Preflight:
    """What to check on the commit `base`. `agents` are those of the batch's tasks."""

    location: RepoLocation
    config: Config
    settings: Settings
    base: str
    setup: WorkspaceSetup
    agents: tuple[AgentSpec, ...] = ()

    @property
    def checks(self) -> list[BaseCheck]:
        settings, sandbox = self.settings, self.build_sandbox(self.settings.sandbox, is_check=True)
        checks = (
            BaseCheck(SETUP, self.setup.setup or "", settings.timeout, sandbox=sandbox),
            BaseCheck(VERIFY, settings.verify or "", settings.verify_timeout, sandbox=sandbox),
            BaseCheck(_GATE, settings.gate or "", settings.gate_timeout, sandbox=sandbox),
        )
        return [*self._list_agent_checks(), *(check for check in checks if check.command)]

    def _list_agent_checks(self) -> list[BaseCheck]:
        """List one check for each agent, on a cluster. On this machine, planning has looked for the programs."""
        if not is_remote(self.settings):
            return []
        return [
            BaseCheck(
                f"agent {agent.name}",
                "true",
                self.settings.timeout,
                agent.name,
                list_agent_programs(agent),
                self.build_sandbox(agent.sandbox or self.settings.sandbox),
            )
            for agent in self.agents
        ]

    def build_sandbox(self, mode: SandboxMode, *, is_check: bool = False) -> SandboxSpec | None:
        table = self.config.sandbox
        if mode is SandboxMode.OFF or (is_check and not table.include_checks):
            return None
        options = build_sandbox_options(self.config)
        return SandboxSpec(
            mode,
            table.readable,
            table.writable,
            hosts=list_hosts(options, (), {}, AgentSpec("")) if mode is not SandboxMode.WORKTREE else (),
            limits=SandboxLimits(options.memory, options.processes, options.disk),
            image=options.image,
        )

    @property
    def key(self) -> str:
        """A hash of everything that the result depends on."""
        content = [2, self.base, astuple(self.setup), self.settings.verify, self.settings.gate, self.settings.sandbox]
        if is_remote(self.settings):
            agents = [(check.agent, check.programs, check.sandbox and check.sandbox.mode) for check in self.checks]
            content += [self.settings.executor, self.config.ray.address, os.environ.get("RAY_ADDRESS", ""), agents]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:40]


def plan_preflight(location: RepoLocation, preview: PlanPreview, submission: Submission) -> Preflight | None:
    """Plan the preflight; None if it is off, there is nothing to check, or no unmodified base (in place)."""
    if submission.options is None or not preview.loaded.config.run.preflight:
        return None
    setup, agents = (
        submission.options.setup,
        _select_agents(submission.plan.tasks, submission.agents, submission.settings),
    )
    preflight = Preflight(location, preview.loaded.config, submission.settings, submission.base, setup, agents)
    return preflight if preflight.checks else None


def plan_batch_preflight(
    location: RepoLocation, config: Config, settings: Settings, batch: BatchState, inputs: BatchInputs
) -> Preflight | None:
    """Plan the preflight of a batch that gets these `settings` after it was submitted; as `plan_preflight`."""
    if settings.isolation is not Isolation.WORKTREE or not config.run.preflight:
        return None
    agents = _select_agents(inputs.tasks, inputs.agents, settings)
    preflight = Preflight(location, config, settings, batch.base, inputs.options.setup, agents)
    return preflight if preflight.checks else None


def _select_agents(tasks: Sequence[Task], agents: Sequence[AgentSpec], settings: Settings) -> tuple[AgentSpec, ...]:
    names = {task.agent or next(iter(settings.agents), "") for task in tasks}
    return tuple(agent for agent in agents if agent.name in names)


def is_remote(settings: Settings) -> bool:
    return settings.executor is not ExecutorKind.LOCAL


def require_cluster(preview: PlanPreview) -> None:
    """Raise UserError if the batch is for a cluster that can't be reached, before anything is started."""
    if not is_remote(preview.settings):
        return
    from plait.runtime.ray.cluster import Cluster  # only where there is one

    try:
        Cluster(preview.loaded.config.ray.address).close()
    except WorldError as error:
        raise UserError(error.message, hint=error.hint) from error


def check_model_server(preview: PlanPreview, submission: Submission) -> None:
    """Check it once, before anything else starts, if a task's first agent is the model. Raises UserError."""
    config, settings = preview.loaded.config, submission.settings
    default = settings.agents[0] if settings.agents else ""
    tasks = [task for task in submission.plan.tasks if not task.run and (task.agent or default) == MODEL_AGENT]
    if not tasks or not config.run.preflight or is_remote(settings):
        return
    from plait.runtime.model_job.ollama import find_server_problem  # few batches have model jobs

    models = dict.fromkeys(task.model or choose_model(config, MODEL_AGENT) for task in tasks)
    problem = find_server_problem(config.model, [model for model in models if model])
    if problem:
        raise UserError(f"no job was started: {problem}", hint="--no-preflight starts them anyway.")


def check_signing(
    location: RepoLocation,
    preview: PlanPreview,
    submission: Submission,
    on_wait: Callable[[str], None] = lambda _: None,
) -> None:
    """Make a test signature if the batch's commits are signed. Raises UserError.

    `on_wait` gets the name of a signer that takes long, which may ask for a passphrase, and "" when it has signed.
    """
    is_isolated = submission.settings.isolation is Isolation.WORKTREE
    if not is_isolated or not preview.loaded.config.run.preflight or not are_commits_signed(location.git_dir):
        return
    try:
        with control_commands(CommandControl(on_wait)):
            sign_test_commit(location.git_dir)
    except SigningError as error:
        raise UserError(
            f"no agent was started: results could not be committed, because {error.message}",
            hint=f"{error.hint} --no-preflight starts them anyway.",
        ) from error
