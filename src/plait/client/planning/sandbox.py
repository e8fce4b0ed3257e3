"""Resolve the sandbox that a batch gets on this machine: for all its attempts, for single agents, and for single tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from plait.agents.interface import AgentSpec
from plait.client.planning.plan_preview import PlanPreview
from plait.config.config import Config
from plait.core.errors import UserError
from plait.core.plan import Problem, Severity
from plait.core.settings import SandboxMode, Settings
from plait.core.task import Task
from plait.store.batch_files import SandboxOptions

_FILTER_HINT = "podman filters it (apt-get install podman), and docker if you run it yourself. So does strict."
_NO_SANDBOX_HINT = "Agents can reach whatever you can; plait doctor says what to install."


def resolve_sandbox(preview: PlanPreview) -> PlanPreview:
    """Return the plan with the sandboxes that it gets here; a problem instead of it if one doesn't work here."""
    plan, wanted = preview.planned.plan, preview.settings.sandbox
    tasks = plan.tasks if plan else ()
    modes = (wanted, *(mode for _, mode in preview.loaded.config.agents.sandboxes))
    if plan is None or (all(mode is SandboxMode.OFF for mode in modes) and not any(task.sandbox for task in tasks)):
        return preview
    from plait.runtime.sandbox.detection import resolve_mode  # only where there are sandboxes

    try:
        check_hosts(preview.loaded.config)
        image = preview.loaded.config.sandbox.image or ""
        resolved = resolve_mode(wanted, image)
        tasks = tuple(_resolve_task(task, image) for task in tasks)
        used = [resolve_mode(mode, image) for mode in (*modes, *(SandboxMode(each) for each in _list_modes(tasks)))]
    except UserError as error:
        problem = Problem(Severity.ERROR, error.message, hint=error.hint)
        planned = replace(preview.planned, plan=None, problems=(*preview.planned.problems, problem))
        return replace(preview, planned=planned)
    notes: tuple[Problem, ...] = ()
    if wanted is SandboxMode.AUTO and resolved.mode is SandboxMode.OFF:
        message = f"there is no sandbox on this machine, so agents run without one: {resolved.note}"
        notes = (Problem(Severity.WARNING, message, hint=_NO_SANDBOX_HINT),)
    for lacking in dict.fromkeys(each.warning for each in used if each.warning):
        notes += (Problem(Severity.WARNING, f"agents in containers can reach any host: {lacking}", hint=_FILTER_HINT),)
    return replace(
        preview,
        settings=replace(preview.settings, sandbox=resolved.mode),
        planned=replace(preview.planned, plan=replace(plan, tasks=tasks), problems=(*preview.planned.problems, *notes)),
    )


def describe_sandboxes(preview: PlanPreview) -> str:
    """Describe the batch's sandbox, and those of agents that differ from it; without those of tasks."""
    config, own = preview.loaded.config, preview.settings.sandbox
    if not config.agents.sandboxes:
        return own.value
    from plait.runtime.sandbox.detection import resolve_mode  # only where there are sandboxes

    image = config.sandbox.image or ""
    others = {name: resolve_mode(mode, image).mode for name, mode in config.agents.sandboxes}
    differing = ", ".join(f"{name}: {mode}" for name, mode in others.items() if mode is not own)
    return f"{own} ({differing})" if differing else own.value


def _list_modes(tasks: Sequence[Task]) -> dict[str, None]:
    return dict.fromkeys(task.sandbox for task in tasks if task.sandbox)


def check_hosts(config: Config) -> None:
    """Raise UserError for an invalid host."""
    from plait.runtime.sandbox.hosts import parse_host_rule  # only where there are sandboxes

    for host in config.sandbox.hosts:
        try:
            parse_host_rule(host)
        except ValueError as error:
            origin = config.origins["sandbox.hosts"]
            raise UserError(f"{origin}: sandbox.hosts: {error}") from error


def resolve_settings(settings: Settings, config: Config) -> Settings:
    """Return the settings with the sandbox that works here. Raises UserError."""
    if settings.sandbox is SandboxMode.OFF:
        return settings
    from plait.runtime.sandbox.detection import resolve_mode  # only where there are sandboxes

    return replace(settings, sandbox=resolve_mode(settings.sandbox, config.sandbox.image or "").mode)


def resolve_agent_sandboxes(agents: Sequence[AgentSpec], config: Config) -> tuple[AgentSpec, ...]:
    """Return the agents with the sandboxes that work here. Raises UserError."""
    if not any(spec.sandbox for spec in agents):
        return tuple(agents)
    from plait.runtime.sandbox.detection import resolve_mode  # only where there are sandboxes

    return tuple(
        replace(spec, sandbox=resolve_mode(spec.sandbox, config.sandbox.image or "").mode) if spec.sandbox else spec
        for spec in agents
    )


def build_sandbox_options(config: Config) -> SandboxOptions:
    table = config.sandbox
    return SandboxOptions(
        table.readable,
        table.writable,
        table.variables,
        table.include_checks,
        table.hosts,
        table.memory,
        table.processes,
        table.disk,
        table.image or "",
    )


def _resolve_task(task: Task, image: str) -> Task:
    if not task.sandbox:
        return task
    from plait.runtime.sandbox.detection import resolve_mode

    return replace(task, sandbox=resolve_mode(SandboxMode(task.sandbox), image).mode.value)
