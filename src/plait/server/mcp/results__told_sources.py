"""What tools tell of the sources, of a plan and of the settings: what there is to do, and how it would be done."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from plait.server.mcp.results import NeedResult, ProblemResult, TitleText
from plait.server.mcp.tool import ToolResult


class InBatchResult(ToolResult):
    batch_id: str
    task_id: str
    status: str
    shipped: Annotated[bool, Field(description="The batch branch was published.")]


class SourceTaskResult(ToolResult):
    id: str
    title: TitleText
    status: Annotated[str, Field(description="As its source calls it: the file in the checkout.")]
    source: str | None = None
    batch: Annotated[
        InBatchResult | None, Field(description="Where it stands in the newest batch that has it.")
    ]


class ListResult(ToolResult):
    tasks: list[SourceTaskResult]
    total: int
    more: int
    problems: list[ProblemResult]


class PlanTaskResult(ToolResult):
    id: str
    title: TitleText
    wave: int
    needs: list[NeedResult]
    touches: list[str]
    agent: str | None = None


class SharedFileResult(ToolResult):
    file: str
    tasks: list[str]


class PlanPreviewResult(ToolResult):
    ready: Annotated[bool, Field(description="It can be run as it is. If not, the problems say why.")]
    tasks: list[PlanTaskResult]
    more: int
    waves: Annotated[int, Field(description="How many there are; the tasks of one can run at the same time.")]
    conflicts: Annotated[list[SharedFileResult], Field(description="Files that keep tasks apart.")]
    critical_path: list[str]
    eta: Annotated[float | None, Field(description="Seconds, where history knows.")]
    problems: list[ProblemResult]


class GivenResult(ToolResult):
    layer: str
    at: str | None = None


class SettingsResult(ToolResult):
    settings: Annotated[dict[str, object], Field(description="Times in seconds, sizes in bytes.")]
    given: Annotated[dict[str, GivenResult], Field(description="Who gave those that are not the defaults.")]
