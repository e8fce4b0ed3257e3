"""The options that several verbs share, in one place and in the same words."""

from __future__ import annotations

from typing import Annotated

import typer

Sources = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SOURCE...]", help="Folders, files or globs; none: those of plait.toml, else those found."
    ),
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
Resume = Annotated[
    bool, typer.Option("--resume", help="Take up tasks that an earlier run began and did not end.")
]
SourceFormat = Annotated[
    str | None,
    typer.Option(
        "--source-format", metavar="NAME", help="The sources' format, if it should not be detected."
    ),
]
Tag = Annotated[str | None, typer.Option("--tag", metavar="NAME", help="The tag of a Task Master file.")]
Exclude = Annotated[
    list[str] | None,
    typer.Option("--exclude", metavar="GLOB", help="Task files to leave out; may be given several times."),
]
UnknownNeeds = Annotated[
    str | None,
    typer.Option(
        "--unknown-needs", metavar="done|fail", help="What a need on a task that no source knows means."
    ),
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
Json = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
