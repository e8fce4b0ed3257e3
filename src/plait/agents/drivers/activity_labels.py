"""One line for people about what an agent is doing, by the tool it uses; all agents share the same few kinds."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping

from plait.agents.interface import ActivityKind, AgentEvent
from plait.agents.output_parser import Json, get_text, make_activity

_MAX_COMMAND_CHARS = 2000
_PATH_TAIL_PARTS = 3  # shown of a path if the workspace is unknown
_NOT_A_LETTER = re.compile(r"[^a-z]")
_SHELL_WRAPPER = re.compile(r"(?:\S*/)?(?:ba|z|da|)sh -l?c (?=\S)")

# Names without case and underscores.
_KIND_BY_TOOL: Mapping[str, ActivityKind] = {
    name: kind
    for kind, names in {
        ActivityKind.READS: "read readfile readmanyfiles view listdirectory ls list notebookread getfile",
        ActivityKind.EDITS: (
            "write writefile edit multiedit editfile replace notebookedit applypatch strreplaceeditor createfile create patch"
        ),
        ActivityKind.RUNS: "bash shell shellcommand execcommand runshellcommand executecommand runcommand powershell",
        ActivityKind.SEARCHES: (
            "grep glob grepsearch searchfilecontent ripgrep codesearch search websearch googlewebsearch webfetch fetch"
        ),
        ActivityKind.THINKS: "think todowrite writetodos taskcreate taskupdate tasklist updateplan savememory",
    }.items()
    for name in names.split()
}
_VERB_BY_KIND: Mapping[ActivityKind, str] = {
    ActivityKind.READS: "reading",
    ActivityKind.EDITS: "editing",
    ActivityKind.RUNS: "running",
    ActivityKind.SEARCHES: "searching for",
    ActivityKind.THINKS: "planning",
}
_DETAIL_FIELDS: Mapping[ActivityKind, tuple[str, ...]] = {
    ActivityKind.READS: ("file_path", "path", "absolute_path", "dir_path", "filePath", "notebook_path", "paths"),
    ActivityKind.EDITS: ("file_path", "path", "absolute_path", "filePath", "notebook_path"),
    ActivityKind.RUNS: ("command", "cmd", "description"),
    ActivityKind.SEARCHES: ("pattern", "query", "url", "prompt"),
    ActivityKind.THINKS: (),
    ActivityKind.USES: ("description", "subject", "title", "skill"),
}
_CHANGING_KINDS = frozenset({ActivityKind.EDITS, ActivityKind.RUNS})
_QUESTION_TOOLS = frozenset({"askuserquestion", "askuser", "askfollowupquestion"})


def changes_files(name: object) -> bool:
    """Whether a tool of this name may change the workspace."""
    return classify_tool(name) in _CHANGING_KINDS


def classify_tool(name: object) -> ActivityKind:
    """Return the kind of activity of a tool with this name."""
    return _KIND_BY_TOOL.get(_normalize_name(name), ActivityKind.USES)


def is_question_tool(name: object) -> bool:
    """Whether the tool asks a person."""
    return _normalize_name(name) in _QUESTION_TOOLS


def format_question(given: Json) -> str:
    """Format the question with its choices."""
    several = given.get("questions")
    asked = [one for one in several if isinstance(one, dict)] if isinstance(several, list) else [given]
    return "\n".join(filter(None, map(_format_one_question, asked))) or "it asks a question without a text"


def describe_tool_use(name: object, given: Json, workspace: str = "") -> Iterator[AgentEvent]:
    """Describe a tool use for people: `editing src/app.py`, `running pytest -q`."""
    kind = classify_tool(name)
    about = get_text(given, *_DETAIL_FIELDS[kind])
    if kind is ActivityKind.USES:
        return make_activity(f"using {name}" + (":" if about else ""), kind, about)
    if kind in {ActivityKind.READS, ActivityKind.EDITS}:
        about = shorten_path(about, workspace)
    elif kind is ActivityKind.RUNS:
        about = strip_shell(about)
    return make_activity(_VERB_BY_KIND[kind], kind, about)


def shorten_path(path: str, workspace: str = "") -> str:
    """Return a path relative to the workspace; if that is unknown, its last parts."""
    inside = path.removeprefix(f"{workspace}/") if workspace else path
    parts = inside.split("/")
    far = not workspace and inside.startswith("/") and len(parts) > _PATH_TAIL_PARTS + 1
    return "/".join(("\N{HORIZONTAL ELLIPSIS}", *parts[-_PATH_TAIL_PARTS:])) if far else inside


def strip_shell(command: str) -> str:
    """Return the first line of a command, without the shell that tools put around it."""
    text = command[:_MAX_COMMAND_CHARS].strip()
    match = _SHELL_WRAPPER.match(text)
    if match:
        try:
            text = (shlex.split(text[match.end() :]) or [""])[0].strip()
        except ValueError:  # cut off, or quoted differently
            text = text[match.end() :].lstrip("'\"")
    return text.split("\n", 1)[0]


def _format_one_question(asked: Json) -> str:
    text = get_text(asked, "question", "prompt", "text").strip()
    offered = asked.get("options")
    choices = ", ".join(filter(None, map(_option_label, offered if isinstance(offered, list) else ())))
    return f"{text} ({choices})" if text and choices else text


def _option_label(option: object) -> str:
    text = option.get("label") if isinstance(option, Mapping) else option
    return text if isinstance(text, str) else ""


def _normalize_name(name: object) -> str:
    return _NOT_A_LETTER.sub("", name.lower()) if isinstance(name, str) else ""
