"""The tools that look at what there is to do, and by which settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plait.front.refusals import UnknownError
from plait.server.acts.settings import shown
from plait.server.acts.tasks import listed
from plait.server.mcp.looking import paged
from plait.server.mcp.told_sources import Given, ListTold, SettingsTold
from plait.server.mcp.tool import Call
from plait.server.mcp.wanted import ListWanted, SettingsWanted
from plait.sources.model import Mark

PROBLEMS = 50
_CLOSED = frozenset(mark.value for mark in Mark if mark.closed)


async def list_tasks(call: Call, wanted: ListWanted) -> ListTold:
    """Groups are not listed: they are not run themselves."""
    found = await listed(call.office)
    tasks, problems = found["tasks"], found["problems"]
    assert isinstance(tasks, list)
    assert isinstance(problems, list)
    fitting = [task for task in tasks if _fits(task, wanted)]
    here, more = paged(fitting, wanted.skip, wanted.limit)
    return ListTold.model_validate(
        {"tasks": here, "total": len(fitting), "more": more, "problems": problems[:PROBLEMS]}
    )


def _fits(task: Mapping[str, object], wanted: ListWanted) -> bool:
    if task["parts"] or (task["status"] in _CLOSED and not wanted.complete):
        return False
    said = f"{task['id']} {task['title']}".lower()
    return wanted.words is None or wanted.words.lower() in said


async def settings(call: Call, wanted: SettingsWanted) -> SettingsTold:
    found = await shown(call.office)
    given = found.pop("given")
    assert isinstance(given, Mapping)
    names = _known(wanted.names or (), list(found)) or list(found)
    return SettingsTold(
        settings={name: found[name] for name in names},
        given={
            name: Given.model_validate(given[name]) for name in names if given[name]["layer"] != "default"
        },
    )


def _known(names: Sequence[str], there: Sequence[str]) -> Sequence[str]:
    for name in names:
        if name not in there:
            raise UnknownError(f"there is no setting {name[:80]}", hint=f"There are {', '.join(there)}.")
    return names
