"""`plait agents`: the agents plait knows, which are installed, and which are logged in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from plait.cli import options as opt
from plait.cli.output import OK, Page, print_json
from plait.client.installed_agents import InstalledAgent, LoggedIn, list_agents
from plait.client.project_state import load_project_config
from plait.config.agent_keys import Permission

_STYLES = {LoggedIn.YES: "green", LoggedIn.NO: "yellow", LoggedIn.UNKNOWN: "dim"}


def agents_command(where: Path, *, as_json: opt.Json = False) -> int:
    found = list_agents(load_project_config(where))
    if as_json:
        print_json(found)
    else:
        _print_agents(found)
    return OK


def _print_agents(found: Sequence[InstalledAgent]) -> None:
    page = Page()
    here = [each for each in found if each.available]
    missing = [each for each in found if not each.available]
    width = max(len(each.name) for each in found)
    versions = max((len(_get_version(each)) for each in here), default=0)
    for each in here:
        about = " · ".join([_describe_agent(each), *_collect_notes(each)])
        page.add_line(
            ("*", "bold") if each.default else " ",
            f" {each.name:{width}}  {_get_version(each):{versions}}  {about}",
            (_describe_login(each), _STYLES[each.login.logged_in]),
        )
    if missing:
        page.add_line()
        page.add_line(("not installed", "bold"))
    abouts = max((len(_describe_agent(each)) for each in missing), default=0)
    for each in missing:
        about = f"{_describe_agent(each):{abouts}}" if each.install else _describe_agent(each)
        page.add_line(f"  {each.name:{width}}  {about}", (f"  {each.install}" if each.install else "", "dim"))
    page.add_line()
    page.add_line(("Any other tool: plait run --agent-command 'tool {task_file}'.", "dim"))
    page.show()


def _describe_agent(each: InstalledAgent) -> str:
    return f"{each.description}{'' if each.tested else ' (untested)'}"


def _get_version(each: InstalledAgent) -> str:
    return (each.version or "?") if each.path else ""


def _describe_login(each: InstalledAgent) -> str:
    if each.path is None:
        return ""
    seen = each.login
    match seen.logged_in:
        case LoggedIn.YES:
            return f" · logged in ({seen.by})"
        case LoggedIn.NO:
            return f" · not logged in: {seen.how}"
        case LoggedIn.UNKNOWN:
            return f" · login unknown{f': {seen.how}' if seen.how else ''}"


def _collect_notes(each: InstalledAgent) -> Iterator[str]:
    if each.default:
        yield "default"
    if each.problem:
        yield each.problem
    if each.model:
        yield f"model {each.model}"
    if each.permission is not Permission.FULL:
        yield f"permission {each.permission.value}"
    if each.account:
        yield f"account {each.account}"
