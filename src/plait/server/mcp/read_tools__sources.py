"""The tools that look at what there is to do, and by which settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plait.client.api_errors__refusals import NotFoundError
from plait.server.mcp.params import ListParams, SettingsParams
from plait.server.mcp.read_tools__looking import paginate
from plait.server.mcp.results__told_sources import GivenResult, ListResult, SettingsResult
from plait.server.mcp.tool import ToolCall
from plait.server.service.settings import read_project_settings
from plait.server.service.tasks import list_source_tasks
from plait.sources.source_model import SourceStatus

MAX_PROBLEMS = 50
_CLOSED_STATUSES = frozenset(mark.value for mark in SourceStatus if mark.is_closed)


async def list_tasks(call: ToolCall, params: ListParams) -> ListResult:
    """Groups are not listed: they are not run themselves."""
    found = await list_source_tasks(call.session)
    tasks, problems = found["tasks"], found["problems"]
    assert isinstance(tasks, list)
    assert isinstance(problems, list)
    fitting = [task for task in tasks if _matches(task, params)]
    here, more = paginate(fitting, params.skip, params.limit)
    return ListResult.model_validate(
        {"tasks": here, "total": len(fitting), "more": more, "problems": problems[:MAX_PROBLEMS]}
    )


def _matches(task: Mapping[str, object], params: ListParams) -> bool:
    if task["parts"] or (task["status"] in _CLOSED_STATUSES and not params.complete):
        return False
    said = f"{task['id']} {task['title']}".lower()
    return params.words is None or params.words.lower() in said


async def settings(call: ToolCall, params: SettingsParams) -> SettingsResult:
    found = await read_project_settings(call.session)
    given = found.pop("given")
    assert isinstance(given, Mapping)
    names = _check_names(params.names or (), list(found)) or list(found)
    return SettingsResult(
        settings={name: found[name] for name in names},
        given={
            name: GivenResult.model_validate(given[name])
            for name in names
            if given[name]["layer"] != "default"
        },
    )


def _check_names(names: Sequence[str], there: Sequence[str]) -> Sequence[str]:
    for name in names:
        if name not in there:
            raise NotFoundError(f"there is no setting {name[:80]}", hint=f"There are {', '.join(there)}.")
    return names
