"""A plan as text, JSON, Mermaid or DOT, and the prompt of one of its tasks."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches

from plait.cli import output
from plait.cli.format import MAX_NAMES, format_rough_duration, pluralize
from plait.client.planning.plan_preview import PlanPreview, describe_plan
from plait.core.errors import UserError
from plait.core.graph import find_critical_path, find_file_conflicts, group_waves, list_edges
from plait.core.phases import is_held_by_phase
from plait.core.plan import Plan
from plait.core.settings import ExecutorKind, SandboxMode, Settings
from plait.core.task import Need, NeedKind, Phase, Task
from plait.core.text import join_names, shorten
from plait.sources.planning import PlanResult
from plait.sources.source_model import SourceEntry, SourceStatus
from plait.sources.source_set import SourceSet


def print_preview(preview: PlanPreview, output_format: str) -> None:
    plan = preview.planned.plan
    if output_format == "json":
        print_plan_json(preview)
    elif plan is None:
        print_no_plan(preview.planned)
    elif output_format == "text":
        print_plan(preview, plan)
    else:
        output.print_problems(preview.planned.problems)
        sys.stdout.write(render_mermaid(plan) if output_format == "mermaid" else render_dot(plan))


def print_plan_json(preview: PlanPreview) -> None:
    output.print_json(describe_plan(preview, preview.planned.problems))


def print_no_plan(planned: PlanResult) -> None:
    output.print_problems(planned.problems)
    if planned.complete:
        output.print_line(planned.describe_complete())


def print_plan(preview: PlanPreview, plan: Plan) -> None:
    out = output.make_console()
    make_plan_page(preview, plan, out.width).show(out)


def describe_parallel_limit(settings: Settings) -> str:
    if settings.max_parallel:
        return f"{settings.max_parallel} at once"
    return "no limit" if settings.executor is ExecutorKind.LOCAL else "as many at once as the cluster has slots"


_MAX_ID_WIDTH = 32
_MAX_SOURCES = 3
_MAX_SHARED_FILES = 20


def make_plan_page(preview: PlanPreview, plan: Plan, width: int) -> output.Page:
    """Make the page of a plan. Titles are cut to `width`; reasons and problems are not."""
    page, source_set = output.Page(), preview.loaded.source_set
    levels = group_waves(plan)
    page.add_line((_make_headline(plan, source_set, len(levels)), "bold"))
    needs_by_task: dict[str, list[Need]] = {}
    for task, need in list_edges(plan):
        needs_by_task.setdefault(task.id, []).append(need)
    tasks = {task.id: task for task in plan.tasks}
    phase_by_key = {phase.key: phase for phase in plan.phases}
    described: set[str] = set()  # phases: how far the earlier ones are is said once
    column = min(_MAX_ID_WIDTH, width // 3, max(len(task.id) for task in plan.tasks))
    for number, ids in enumerate(levels, 1):
        page.add_line()
        page.add_line((f"wave {number} of {len(levels)} · {pluralize(len(ids), 'task')}", "bold"))
        for name in ids:
            page.add_line(_format_task(tasks[name], source_set.by_id[tasks[name].entrant or name], column, width))
            reasons = _describe_needs(needs_by_task.get(name, ()))
            phase = phase_by_key.get(tasks[name].phase or "")
            if phase is not None and is_held_by_phase(tasks[name], phase):
                gate = None if phase.key in described else preview.settings.phase_gate
                reasons += _describe_phase(phase, phase_by_key, gate)
                described.add(phase.key)
            for why in reasons:
                page.add_line((f"  {'':{column}}  {why}", "dim"))
    _add_shared_files(page, plan)
    _add_longest_path(page, preview, plan)
    if preview.settings.sandbox is not SandboxMode.OFF or preview.loaded.config.agents.sandboxes:
        from plait.client.planning.sandbox import describe_sandboxes  # most plans have none

        page.add_line(("sandbox", "bold"), f"       {describe_sandboxes(preview)}")
    if preview.planned.problems:
        page.add_line()
        page.add_problems(preview.planned.problems)
    return page


def _make_headline(plan: Plan, source_set: SourceSet, levels: int) -> str:
    entrants = sum(task.entrant is not None for task in plan.tasks)
    parts = [pluralize(len(plan.tasks) - entrants, "task"), pluralize(levels, "wave")]
    parts[1:1] = [pluralize(entrants, "entrant")] if entrants else []
    return f"{' · '.join(parts)} · from {join_names([source.path for source in source_set.sources], _MAX_SOURCES)}"


def _format_task(task: Task, entry: SourceEntry, column: int, width: int) -> str:
    notes = [] if entry.status is SourceStatus.TODO else [entry.status.value.replace("_", " ")]
    notes += [f"agent {task.agent}"] if task.agent else []
    notes += [f"sandbox {task.sandbox}"] if task.sandbox else []
    notes += [f"{task.slots} slots"] if task.slots > 1 else []
    note = f"  ({', '.join(notes)})" if notes else ""
    title_width = max(20, width - max(column, len(task.id)) - 4 - len(note))
    return f"  {task.id:{column}}  {shorten(task.title, title_width)}{note}"


def _describe_needs(needs: Sequence[Need]) -> list[str]:
    """Describe what the task waits for, one line for each kind."""
    lines = []
    plain = [need for need in needs if need.kind is NeedKind.NEED]
    chains = [need for need in needs if need.kind is NeedKind.CHAIN]
    if plain:
        origin = f" ({plain[0].at})" if plain[0].at else ""
        lines.append(f"needs {join_names([need.on for need in plain], MAX_NAMES)}{origin}")
    entrants = [need.on for need in needs if need.kind is NeedKind.ENTRANT]
    if entrants:
        lines.append(f"chosen from {join_names(entrants, MAX_NAMES)}")
    if chains:
        why = f" ({chains[0].reason})" if chains[0].reason else ""
        lines.append(f"follows {join_names([need.on for need in chains], MAX_NAMES)}{why}")
    return lines


def _describe_phase(phase: Phase, phases: Mapping[str, Phase], gate: float | None) -> list[str]:
    """Describe what holds a phase, with its progress if the required share is given; nothing for an open phase."""
    if phase.opens_with:
        return [f"phase {phase.key} opens with {phase.opens_with}"]
    held_by = [phases[key] for key in phase.after if key in phases and phases[key].settled < phases[key].total]
    if not held_by:
        return []
    last = held_by[-1]
    earlier = f" and {len(held_by) - 1} earlier" if len(held_by) > 1 else ""
    reason = f"phase {phase.key} waits for phase {last.key}{earlier}"
    if gate is None:
        return [reason]
    return [f"{reason} ({last.settled} of {last.total} done, {gate if phase.gate is None else phase.gate:.0%} needed)"]


def _add_shared_files(page: output.Page, plan: Plan) -> None:
    shared_files = find_file_conflicts(plan)
    if not shared_files:
        return
    page.add_line()
    page.add_line(("shared files · their tasks run one after another", "bold"))
    column = min(40, max(len(shared.file) for shared in shared_files[:_MAX_SHARED_FILES]))
    for shared in shared_files[:_MAX_SHARED_FILES]:
        page.add_line(f"  {shared.file:{column}}  {join_names(shared.tasks, MAX_NAMES)}")
    if len(shared_files) > _MAX_SHARED_FILES:
        page.add_line((f"  and {len(shared_files) - _MAX_SHARED_FILES} more files (--json has them all)", "dim"))


def _add_longest_path(page: output.Page, preview: PlanPreview, plan: Plan) -> None:
    path = find_critical_path(plan)
    shown = path if len(path) <= 8 else [*path[:4], f"… {len(path) - 7} more …", *path[-3:]]
    page.add_line()
    basis = preview.eta_basis
    work = (
        f" · {format_rough_duration(max(plan.ranks))} of work{f', {basis}' if preview.eta is None else ''}"
        if basis
        else ""
    )
    page.add_line(("longest path", "bold"), f"  {' → '.join(shown)}{work}")
    if preview.eta is not None:
        limit = describe_parallel_limit(preview.settings)
        page.add_line(("ETA", "bold"), f"           {format_rough_duration(preview.eta)} with {limit}, {basis}")


_MAX_TITLE_CHARS = 60  # characters of a title


def render_mermaid(plan: Plan) -> str:
    """Render a graph: needs as arrows, sequences as thick ones, shared files as dotted lines, phases as boxes."""
    node_ids = {task.id: f"t{number}" for number, task in enumerate(plan.tasks)}
    lines = ["flowchart TD"]
    for title, tasks in _group_by_phase(plan):
        indent = "  "
        if title is not None:
            lines.append(f"  subgraph p{len(lines)}[{_quote_mermaid(title)}]")
            indent = "    "
        lines += [f"{indent}{node_ids[task.id]}[{_quote_mermaid(_format_label(task))}]" for task in tasks]
        lines += ["  end"] if title is not None else []
    for task, need in list_edges(plan):
        arrow = "==>" if need.kind is NeedKind.CHAIN else "-->"
        lines.append(f"  {node_ids[need.on]} {arrow} {node_ids[task.id]}")
    lines += [
        f"  {node_ids[first]} -.-|{_quote_mermaid(file)}| {node_ids[second]}"
        for file, first, second in _pair_shared_files(plan)
    ]
    return "\n".join(lines) + "\n"


def render_dot(plan: Plan) -> str:
    node_ids = {task.id: f"t{number}" for number, task in enumerate(plan.tasks)}
    lines = ["digraph plan {", "  rankdir=LR;", "  node [shape=box];"]
    for number, (title, tasks) in enumerate(_group_by_phase(plan)):
        nodes = [f"{node_ids[task.id]} [label={_quote_dot(_format_label(task))}];" for task in tasks]
        if title is None:
            lines += [f"  {node}" for node in nodes]
            continue
        lines.append(f"  subgraph cluster_{number} {{")
        lines += [f"    {line}" for line in (f"label={_quote_dot(title)};", *nodes)]
        lines.append("  }")
    for task, need in list_edges(plan):
        style = " [style=bold]" if need.kind is NeedKind.CHAIN else ""
        lines.append(f"  {node_ids[need.on]} -> {node_ids[task.id]}{style};")
    lines += [
        f"  {node_ids[first]} -> {node_ids[second]} [dir=none, style=dotted, label={_quote_dot(file)}, constraint=false];"
        for file, first, second in _pair_shared_files(plan)
    ]
    return "\n".join([*lines, "}"]) + "\n"


def _group_by_phase(plan: Plan) -> Iterator[tuple[str | None, list[Task]]]:
    """Yield the tasks of no phase, then each phase's."""
    by_phase: dict[str | None, list[Task]] = {None: []}
    for task in plan.tasks:
        by_phase.setdefault(task.phase, []).append(task)
    if by_phase[None]:
        yield None, by_phase[None]
    for phase in plan.phases:
        if phase.key in by_phase:
            yield f"{phase.key}: {phase.title}" if phase.title else phase.key, by_phase[phase.key]


def _pair_shared_files(plan: Plan) -> Iterator[tuple[str, str, str]]:
    """Yield the tasks that share a file, joined in a row: a line between any two of them would hide the graph."""
    for shared in find_file_conflicts(plan):
        for first, second in zip(shared.tasks, shared.tasks[1:], strict=False):
            yield shared.file, first, second


def _format_label(task: Task) -> str:
    title = shorten(task.title, _MAX_TITLE_CHARS)
    return f"{task.id} {title}" if title and title != task.id else task.id


def _flatten(text: str) -> str:
    return output.replace_control_chars(re.sub(r"\s+", " ", text))


def _quote_mermaid(text: str) -> str:
    """Quote a text: Mermaid reads HTML entities written with #, and everything that could end the quotes becomes one."""
    plain = _flatten(text)
    return '"' + re.sub(r'[#"<>&`\\;]', lambda match: f"#{ord(match[0])};", plain) + '"'


def _quote_dot(text: str) -> str:
    plain = _flatten(text)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


_MAX_CANDIDATES = 5


def print_prompt(preview: PlanPreview, name: str, *, as_json: bool) -> int:
    """Print what a task's first attempt would be sent; nothing else goes to standard output."""
    from plait.client.planning.prompt_preview import build_prompt_preview  # a plan needs no agents

    task = _find_task(name, [entry.task for entry in preview.loaded.source_set.entries if not entry.parts])
    prompt = build_prompt_preview(preview, task)
    if as_json:
        messages = [{"role": message.role.value, "content": message.text} for message in prompt.messages]
        sent = {"messages": messages} if messages else {}
        output.print_json(
            {"taskId": task.id, "agents": list(prompt.agents), "prompt": prompt.text, "run": task.run, **sent}
        )
        return output.OK
    if prompt.agents == ("shell",) and task.run:
        output.print_note(f"{task.id} is a script: the shell gets its `run:` instead of a prompt")
        sys.stdout.write(task.run if task.run.endswith("\n") else f"{task.run}\n")
        return output.OK
    if prompt.note:
        output.print_note(prompt.note)
    sys.stdout.write(prompt.text)
    return output.OK


def _find_task(name: str, tasks: Sequence[Task]) -> Task:
    """Find a task by its id or a unique prefix."""
    exact = [task for task in tasks if task.id == name]
    matches = exact or [task for task in tasks if task.id.lower().startswith(name.lower())]
    if len(matches) == 1:
        return matches[0]
    if matches:
        names = ", ".join(task.id for task in matches[:_MAX_CANDIDATES])
        raise UserError(f"{name} could be {names}", hint="Write more of it.")
    ids = [task.id for task in tasks]
    close = (
        get_close_matches(name, ids, n=1, cutoff=0.5)
        or [task_id for task_id in ids if name and name.lower() in task_id.lower()][:1]
    )
    hint = f"Did you mean {close[0]}?" if close else "plait plan lists the tasks."
    raise UserError(f"there is no task {name}", hint=hint)
