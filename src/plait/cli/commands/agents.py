"""`plait agents`: the agents plait knows, which are installed, and which are logged in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from plait.cli import options as opt
from plait.cli.output import OK, Page, print_json
from plait.client.installed_agents import InstalledAgent, LoggedIn, describe_permissions, list_agents
from plait.client.project_state import load_project_config
from plait.config.agent_keys import Permission

_STYLES = {LoggedIn.YES: "green", LoggedIn.NO: "yellow", LoggedIn.UNKNOWN: "dim"}


def agents_command(where: Path, *, as_json: opt.Json = False) -> int:
    agents = list_agents(load_project_config(where))
    if as_json:
        print_json(agents)
    else:
        _print_agents(agents)
    return OK


def _print_agents(agents: Sequence[InstalledAgent]) -> None:
    page = Page()
    installed = [agent for agent in agents if agent.available]
    missing = [agent for agent in agents if not agent.available]
    width = max(len(agent.name) for agent in agents)
    version_width = max((len(_get_version(agent)) for agent in installed), default=0)
    for agent in installed:
        about = " · ".join([_describe_agent(agent), *_collect_notes(agent)])
        page.add_line(
            ("*", "bold") if agent.default else " ",
            f" {agent.name:{width}}  {_get_version(agent):{version_width}}  {about}",
            (_describe_login(agent), _STYLES[agent.login.logged_in]),
        )
    permissions = describe_permissions(installed)
    if permissions:
        page.add_line()
        page.add_line((permissions, "yellow"))
    if missing:
        page.add_line()
        page.add_line(("not installed", "bold"))
    description_width = max((len(_describe_agent(agent)) for agent in missing), default=0)
    for agent in missing:
        about = f"{_describe_agent(agent):{description_width}}" if agent.install else _describe_agent(agent)
        page.add_line(f"  {agent.name:{width}}  {about}", (f"  {agent.install}" if agent.install else "", "dim"))
    page.add_line()
    page.add_line(("Any other tool: plait run --agent-command 'tool {task_file}'.", "dim"))
    page.show()


def _describe_agent(agent: InstalledAgent) -> str:
    return f"{agent.description}{'' if agent.tested else ' (untested)'}"


def _get_version(agent: InstalledAgent) -> str:
    return (agent.version or "?") if agent.path else ""


def _describe_login(agent: InstalledAgent) -> str:
    if agent.path is None:
        return ""
    login = agent.login
    match login.logged_in:
        case LoggedIn.YES:
            return f" · logged in ({login.by})"
        case LoggedIn.NO:
            return f" · not logged in: {login.how}"
        case LoggedIn.UNKNOWN:
            return f" · login unknown{f': {login.how}' if login.how else ''}"


def _collect_notes(agent: InstalledAgent) -> Iterator[str]:
    if agent.default:
        yield "default"
    if agent.problem:
        yield agent.problem
    if agent.model:
        yield f"model {agent.model}"
    if agent.permission is not Permission.FULL:
        yield f"permission {agent.permission.value}"
    if agent.account:
        yield f"account {agent.account}"
