"""The options that several verbs share, in one place and in the same words.

What a shell offers after Tab: the ids of batches and of the newest one's tasks.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

Sources = Annotated[
    list[str] | None,
    typer.Argument(metavar="[SOURCE...]", help="Folders, files or globs; none: those of plait.toml, else those found."),
]


Select = Annotated[
    str | None,
    typer.Option(
        "--select",
        "-s",
        metavar="TEXT",
        help='Which tasks: "63, 65-67", "1.1 1.2", "phase:1", ids, globs, words.',
    ),
]


WithNeeds = Annotated[bool, typer.Option("--with-needs", help="Pull in what the selected tasks need.")]


IgnoreNeeds = Annotated[bool, typer.Option("--ignore-needs", help="Go without needs that are not selected.")]


Resume = Annotated[bool, typer.Option("--resume", help="Take up tasks that an earlier run began and did not end.")]


SourceFormat = Annotated[
    str | None,
    typer.Option("--source-format", metavar="NAME", help="The sources' format, if it should not be detected."),
]


Tag = Annotated[str | None, typer.Option("--tag", metavar="NAME", help="The tag of a Task Master file.")]


Exclude = Annotated[
    list[str] | None,
    typer.Option("--exclude", metavar="GLOB", help="Task files to leave out; may be given several times."),
]


UnknownNeeds = Annotated[
    str | None,
    typer.Option("--unknown-needs", metavar="done|fail", help="What a need on a task that no source knows means."),
]


FileConflicts = Annotated[
    str | None,
    typer.Option("--file-conflicts", metavar="inferred|declared|off", help="Which files keep tasks apart."),
]


MaxParallel = Annotated[
    str | None, typer.Option("--max-parallel", "-p", metavar="N|auto", help="Attempts at once in the batch.")
]


PhaseGate = Annotated[
    str | None,
    typer.Option("--phase-gate", metavar="SHARE", help="How much of the earlier phases opens a phase."),
]


Agent = Annotated[
    str | None, typer.Option("--agent", "-a", metavar="NAME,...", help="The agents for tasks that name none.")
]


Contest = Annotated[
    str | None,
    typer.Option(
        "--contest", metavar="NAME,...", help="Every task by each of these agents: the best result is merged."
    ),
]


Times = Annotated[
    int, typer.Option("--times", "-n", metavar="N", help="Every task so often by each agent, as a contest.")
]


Judge = Annotated[str | None, typer.Option("--judge", metavar="NAME", help="The agent that decides a contest.")]


Score = Annotated[
    str | None,
    typer.Option("--score", metavar="COMMAND", help="Decides a contest: prints a number, and the highest wins."),
]


Mode = Annotated[
    str | None,
    typer.Option("--mode", metavar="parallel|queue", help="Many at a time, or one by one after approval."),
]


AutoApprove = Annotated[
    bool | None, typer.Option("--auto-approve", help="In a queue, start the next task without approval.")
]


AgentCommand = Annotated[
    str | None,
    typer.Option(
        "--agent-command",
        metavar="COMMAND",
        help="Any command as the agent: 'tool {task_file}'. Also {prompt_file}, {task_id}, {title}, {workspace}, {batch}.",
    ),
]


AgentShell = Annotated[
    bool | None,
    typer.Option("--agent-shell", help="Have a shell run the agent's command: pipes and redirections work."),
]


Verify = Annotated[str | None, typer.Option("--verify", metavar="COMMAND", help="Must pass before a task counts.")]


Timeout = Annotated[str | None, typer.Option("--timeout", metavar="SPAN", help="How long an attempt may take: 60m.")]


IdleTimeout = Annotated[
    str | None,
    typer.Option("--idle-timeout", metavar="SPAN", help="How long it may show no sign of life: 30m."),
]


Retries = Annotated[str | None, typer.Option("--retries", metavar="N", help="How often a failed task is tried again.")]


Budget = Annotated[
    str | None,
    typer.Option("--budget", metavar="AMOUNT", help="Start nothing that could cost more: 20usd, 500ktok."),
]


TaskBudget = Annotated[
    str | None,
    typer.Option("--task-budget", metavar="AMOUNT", help="Ask before one task could cost more: 2usd, 100ktok."),
]


Fallback = Annotated[
    str | None,
    typer.Option(
        "--fallback",
        metavar="NAME,...",
        help="Who takes over while the provider of a task's own agent refuses.",
    ),
]


Model = Annotated[
    str | None, typer.Option("--model", "-m", metavar="NAME", help="The model, for tasks that name none.")
]


StopOnFail = Annotated[bool | None, typer.Option("--stop-on-fail", help="Start nothing more once a task has failed.")]


Order = Annotated[
    str | None,
    typer.Option("--order", metavar="critical-path|quick-first|fifo", help="Which ready task goes first."),
]


Isolation = Annotated[
    str | None,
    typer.Option("--isolation", metavar="worktree|in-place", help="A worktree for each task, or all in the checkout."),
]


Base = Annotated[
    str | None,
    typer.Option("--base", metavar="REF", help="The commit to start from; none: the one checked out."),
]


Gate = Annotated[str | None, typer.Option("--gate", metavar="COMMAND", help="Must pass on the merged result.")]


OnConflict = Annotated[
    str | None,
    typer.Option(
        "--on-conflict",
        metavar="skip|fail|repair",
        help="What a merge conflict means: leave the task out, stop, or have an agent repair it.",
    ),
]


Repo = Annotated[
    str | None,
    typer.Option("--repo", metavar="URL", help="Work on another repository, from a mirror that plait keeps."),
]


Pr = Annotated[bool | None, typer.Option("--pr/--no-pr", help="Push the result and open a pull request; or do not.")]


Draft = Annotated[bool, typer.Option("--draft", help="Open the pull request as a draft.")]


Push = Annotated[bool, typer.Option("--push", help="Push the result, without a pull request.")]


Title = Annotated[
    str | None,
    typer.Option("--title", metavar="TEXT", help="The pull request's title, now and from now on."),
]


BodyFile = Annotated[
    str | None,
    typer.Option("--body-file", metavar="FILE", help="Its text, in markdown; - reads the standard input."),
]


Executor = Annotated[str, typer.Option("--executor", metavar="local", help="Where attempts run.")]


ResumeBatch = Annotated[bool, typer.Option("--resume", help="Go on with the newest unfinished batch of these sources.")]


DryRun = Annotated[bool, typer.Option("--dry-run", help="Show the plan, and start nothing.")]


Detach = Annotated[bool, typer.Option("--detach", help="Start it, and leave it to itself.")]


Web = Annotated[bool, typer.Option("--web", help="Serve the page meanwhile, and print a link to it.")]


Yes = Annotated[bool, typer.Option("--yes", "-y", "--autonomous", help="Ask nothing.")]


Json = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]


def complete_batches(context: typer.Context, incomplete: str) -> list[str]:
    return [name for name in _find_names(context, tasks=False) if name.startswith(incomplete)]


def complete_batches_and_tasks(context: typer.Context, incomplete: str) -> list[str]:
    return [name for name in _find_names(context, tasks=True) if name.startswith(incomplete)]


def _find_names(context: typer.Context, *, tasks: bool) -> list[str]:
    """Whatever is wrong is told when the command runs; here there is nothing to offer."""
    from plait.core.errors import PlaitError  # only while somebody types

    try:
        return list(_read_names(_get_directory(context), tasks=tasks))
    except (PlaitError, OSError):
        return []


def _read_names(where: Path, *, tasks: bool) -> Iterator[str]:
    from plait.cli.commands.status import sort_newest_first
    from plait.client.session import open_session
    from plait.git.location import find_repo

    with open_session(find_repo(where)) as desk:
        found = sort_newest_first(desk.state)
    for number, batch in enumerate(found):
        yield batch.id
        if tasks and not number:
            yield from (task.task.id for task in batch.tasks)


def _get_directory(context: typer.Context) -> Path:
    """The folder that -C names: while somebody types, no command runs that would have told."""
    given = context.parent.params.get("where") if context.parent is not None else None
    return Path(*given or ())
