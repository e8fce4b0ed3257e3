"""`plait plan --prompt`: the exact prompt of a task's first attempt."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from difflib import get_close_matches

from plait.agents.prompts import PromptRules, build_prompt
from plait.cli.commands.run_options import SHELL_AGENT
from plait.cli.output import OK, print_json, print_note
from plait.client.agent_specs import load_prompt_template
from plait.client.planning.plan_preview import PlanPreview
from plait.client.planning.submission_checks import resolve_isolation
from plait.core.errors import UserError
from plait.core.settings import Isolation
from plait.core.task import Task

WORKSPACE_PLACEHOLDER = "<workspace>"  # the worktree's name depends on the batch, which doesn't exist yet
_MAX_CANDIDATES = 5


def print_prompt(found: PlanPreview, name: str, *, as_json: bool) -> int:
    seen = found.survey
    task = _find_task(name, [entry.task for entry in seen.pile.entries if not entry.parts])
    settings = resolve_isolation(found.settings, seen.config, seen.place)
    isolated = settings.isolation is Isolation.WORKTREE
    rules = PromptRules(isolated, task.verify or settings.verify)
    workspace = WORKSPACE_PLACEHOLDER if isolated else str(seen.place.top)
    text = build_prompt(task, rules, workspace=workspace, template=load_prompt_template(seen.place, seen.config))
    # Only names: loading an agent may run the repository's code.
    agents = [task.agent] if task.agent else [SHELL_AGENT] if task.run else list(settings.agents)
    if as_json:
        print_json({"taskId": task.id, "agents": agents, "prompt": text, "run": task.run})
        return OK
    _print_input(task, agents, text)
    return OK


def _print_input(task: Task, agents: Sequence[str], text: str) -> None:
    """Only the agent's input goes to standard output."""
    if agents == [SHELL_AGENT] and task.run:
        print_note(f"{task.id} is a script: a shell is given its `run:`, and no prompt")
        text = task.run if task.run.endswith("\n") else f"{task.run}\n"
    sys.stdout.write(text)


def _find_task(name: str, tasks: Sequence[Task]) -> Task:
    """Find a task by its id or a unique prefix."""
    exact = [task for task in tasks if task.id == name]
    found = exact or [task for task in tasks if task.id.lower().startswith(name.lower())]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(task.id for task in found[:_MAX_CANDIDATES])
        raise UserError(f"{name} could be {names}", hint="Write more of it.")
    ids = [task.id for task in tasks]
    near = (
        get_close_matches(name, ids, n=1, cutoff=0.5)
        or [each for each in ids if name and name.lower() in each.lower()][:1]
    )
    hint = f"Did you mean {near[0]}?" if near else "plait plan lists the tasks."
    raise UserError(f"there is no task {name}", hint=hint)
