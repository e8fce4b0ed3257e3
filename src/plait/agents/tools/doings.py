"""What an agent does, by the tool it uses: one line for people, of the same few kinds with every agent."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping

from plait.agents.model import Asked, Doing, Signal
from plait.agents.tools.events import Events, Json, doing, relative, sub
from plait.core.settings import NO_SPEND, Spend

_LONGEST = 2000  # characters of a command that are looked at
_FAR = 3  # so many parts of a path say enough, where nobody knows the workspace
_OTHER = re.compile(r"[^a-z]")
_SHELL = re.compile(r"(?:\S*/)?(?:ba|z|da|)sh -l?c (?=\S)")

# Names without case and underscores: `Write` and `write_file` are near enough.
_KINDS: Mapping[str, Doing] = {
    name: kind
    for kind, names in {
        Doing.READS: "read readfile readmanyfiles view listdirectory ls list notebookread getfile",
        Doing.EDITS: (
            "write writefile edit multiedit editfile replace notebookedit applypatch strreplaceeditor createfile create patch"
        ),
        Doing.RUNS: "bash shell shellcommand execcommand runshellcommand executecommand runcommand powershell",
        Doing.SEARCHES: (
            "grep glob grepsearch searchfilecontent ripgrep codesearch search websearch googlewebsearch webfetch fetch"
        ),
        Doing.THINKS: "think todowrite writetodos taskcreate taskupdate tasklist updateplan savememory",
    }.items()
    for name in names.split()
}
_WORDS: Mapping[Doing, str] = {
    Doing.READS: "reading",
    Doing.EDITS: "editing",
    Doing.RUNS: "running",
    Doing.SEARCHES: "searching for",
    Doing.THINKS: "planning",
}
_ABOUT: Mapping[Doing, tuple[str, ...]] = {
    Doing.READS: ("file_path", "path", "absolute_path", "dir_path", "filePath", "notebook_path", "paths"),
    Doing.EDITS: ("file_path", "path", "absolute_path", "filePath", "notebook_path"),
    Doing.RUNS: ("command", "cmd", "description"),
    Doing.SEARCHES: ("pattern", "query", "url", "prompt"),
    Doing.THINKS: (),
    Doing.USES: ("description", "subject", "title", "skill"),
}
_ASKS = frozenset({"askuserquestion", "askuser", "askfollowupquestion"})


class Uses(Events):
    """A listener to a tool that tells what it uses by name, so that it is known what it did."""

    def __init__(self, before: Spend = NO_SPEND, may: str = "") -> None:
        super().__init__(before, may)
        self.deeds = 0

    def part(self, part: Json) -> Iterator[Signal]:
        """A piece of a message, in the shape that several tools have in common."""
        match part.get("type"):
            case "text":
                self.said = str(part.get("text") or "")
                yield from doing(self.said, Doing.SAYS)
            case "thinking":
                yield from doing(part.get("thinking") or "thinking", Doing.THINKS)
            case "tool_use":
                yield from self.use(part.get("name"), sub(part, "input"))
            case _:
                pass

    def use(self, name: object, given: Json) -> Iterator[Signal]:
        if asks(name):
            self.question = question(given)
            yield Asked(self.question)
        elif kind(name) in {Doing.EDITS, Doing.RUNS}:
            self.did()
        yield from using(name, given, self.workspace)
        todos = given.get("todos")
        items = [sub(one) for one in todos] if isinstance(todos, list) else []
        current = next((one for one in items if one.get("status") == "in_progress"), {})
        yield from self.stage(
            current.get("activeForm") or current.get("content") or current.get("description")
        )


def kind(name: object) -> Doing:
    """What a tool of this name is for."""
    return _KINDS.get(_plain(name), Doing.USES)


def asks(name: object) -> bool:
    """It asks a person."""
    return _plain(name) in _ASKS


def question(given: Json) -> str:
    """What it asks, with the choices it offers."""
    several = given.get("questions")
    asked = [one for one in several if isinstance(one, dict)] if isinstance(several, list) else [dict(given)]
    return "\n".join(filter(None, map(_question, asked))) or "it asks something, and does not say what"


def using(name: object, given: Json, workspace: str = "") -> Iterator[Signal]:
    """`editing src/app.py`, `running pytest -q`: what a tool is used for."""
    sort = kind(name)
    about = _first(given, _ABOUT[sort])
    match sort:
        case Doing.READS | Doing.EDITS:
            about = near(about, workspace)
        case Doing.RUNS:
            about = bare(about)
        case _:
            pass
    if sort is Doing.USES:
        return doing(f"using {name}" + (":" if about else ""), sort, about)
    return doing(_WORDS[sort], sort, about)


def near(path: str, workspace: str = "") -> str:
    """A file as people call it; where the workspace is not known, by the end of its path."""
    inside = relative(path, workspace)
    parts = inside.split("/")
    far = not workspace and inside.startswith("/") and len(parts) > _FAR + 1
    return "/".join(("\N{HORIZONTAL ELLIPSIS}", *parts[-_FAR:])) if far else inside


def bare(command: str) -> str:
    """A command without the shell that tools put around it; of several lines, the first."""
    said = command[:_LONGEST].strip()
    found = _SHELL.match(said)
    if found:
        try:
            said = (shlex.split(said[found.end() :]) or [""])[0].strip()
        except ValueError:  # it was cut, or is quoted in a way of its own
            said = said[found.end() :].lstrip("'\"")
    return said.split("\n", 1)[0]


def _first(given: Json, names: Iterable[str]) -> str:
    said = (given.get(name) for name in names)
    return next((value for value in said if value and isinstance(value, str)), "")


def _question(asked: Mapping[str, object]) -> str:
    said = asked.get("question") or asked.get("prompt") or asked.get("text")
    if not isinstance(said, str):
        return ""
    offered = asked.get("options")
    labels = [_label(option) for option in offered] if isinstance(offered, list) else []
    choices = ", ".join(filter(None, labels))
    return f"{said.strip()} ({choices})" if choices else said.strip()


def _label(option: object) -> str:
    said = option.get("label") if isinstance(option, Mapping) else option
    return said if isinstance(said, str) else ""


def _plain(name: object) -> str:
    return _OTHER.sub("", name.lower()) if isinstance(name, str) else ""
