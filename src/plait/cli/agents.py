"""`plait agents`: the agents plait knows, which of them are here, and which are logged in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from plait.agents.model import Permission
from plait.cli.say import OK, Page, write_json
from plait.front.agents_shape import agent_json
from plait.wiring.agency import Here, LoggedIn, agency
from plait.wiring.sources import settings

_STYLES = {LoggedIn.YES: "green", LoggedIn.NO: "yellow", LoggedIn.UNKNOWN: "dim"}


def agents_command(where: Path, *, as_json: bool) -> int:
    found = agency(settings(where))
    if as_json:
        write_json(list(map(agent_json, found)))
    else:
        _show(found)
    return OK


def _show(found: Sequence[Here]) -> None:
    page = Page()
    here = [each for each in found if each.available]
    width = max(len(each.known.name) for each in found)
    versions = max((len(_version(each)) for each in here), default=0)
    for each in here:
        _row(page, each, width, versions)
    missing = [each for each in found if not each.available]
    if missing:
        page.line()
        page.line(("not here", "bold"))
    for each in missing:
        _missing(page, each, width, max(len(_about(each)) for each in missing))
    page.line()
    page.line(("Any other tool: plait run --agent-command 'tool {task_file}'.", "dim"))
    page.show()


def _row(page: Page, each: Here, width: int, versions: int) -> None:
    known, state = each.known, each.login.logged_in
    mark = ("*", "bold") if each.default else " "
    about = " · ".join([_about(each), *_notes(each)])
    page.line(
        mark, f" {known.name:{width}}  {_version(each):{versions}}  {about}", (_login(each), _STYLES[state])
    )


def _missing(page: Page, each: Here, width: int, abouts: int) -> None:
    install = each.known.install
    about = f"{_about(each):{abouts}}" if install else _about(each)
    page.line(f"  {each.known.name:{width}}  {about}", (f"  {install}" if install else "", "dim"))


def _about(each: Here) -> str:
    return f"{each.known.about}{'' if each.known.tested else ' (untested)'}"


def _version(each: Here) -> str:
    return (each.program.version or "?") if each.program else ""


def _login(each: Here) -> str:
    if each.program is None:
        return ""
    seen = each.login
    match seen.logged_in:
        case LoggedIn.YES:
            return f" · logged in ({seen.by})"
        case LoggedIn.NO:
            return f" · not logged in: {seen.how}"
        case LoggedIn.UNKNOWN:
            return f" · can't tell whether it is logged in{f': {seen.how}' if seen.how else ''}"


def _notes(each: Here) -> Iterator[str]:
    if each.default:
        yield "the default here"
    if each.program is not None and each.program.trouble:
        yield each.program.trouble
    if each.spec.model:
        yield f"model {each.spec.model}"
    if each.spec.permission is not Permission.FULL:
        yield f"permission {each.spec.permission.value}"
    if each.spec.account:
        yield f"account {each.spec.account}"
