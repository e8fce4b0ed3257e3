"""What tools tell of the sources, of a plan and of the settings: what there is to do, and how it would be done."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from plait.server.mcp.told import Need, Problem, Title
from plait.server.mcp.tool import Told


class InBatch(Told):
    batch_id: str
    task_id: str
    status: str
    shipped: Annotated[bool, Field(description="The batch branch was published.")]


class SourceTask(Told):
    id: str
    title: Title
    status: Annotated[str, Field(description="As its source calls it: the file in the checkout.")]
    source: str | None = None
    batch: Annotated[InBatch | None, Field(description="Where it stands in the newest batch that has it.")]


class ListTold(Told):
    tasks: list[SourceTask]
    total: int
    more: int
    problems: list[Problem]


class PlanTask(Told):
    id: str
    title: Title
    wave: int
    needs: list[Need]
    touches: list[str]
    agent: str | None = None


class Shared(Told):
    file: str
    tasks: list[str]


class PlanTold(Told):
    ready: Annotated[bool, Field(description="It can be run as it is. If not, the problems say why.")]
    tasks: list[PlanTask]
    more: int
    waves: Annotated[int, Field(description="How many there are; the tasks of one can run at the same time.")]
    conflicts: Annotated[list[Shared], Field(description="Files that keep tasks apart.")]
    critical_path: list[str]
    eta: Annotated[float | None, Field(description="Seconds, where history knows.")]
    problems: list[Problem]


class Given(Told):
    layer: str
    at: str | None = None


class SettingsTold(Told):
    settings: Annotated[dict[str, object], Field(description="Times in seconds, sizes in bytes.")]
    given: Annotated[dict[str, Given], Field(description="Who gave those that are not the defaults.")]
