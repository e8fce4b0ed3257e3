"""The usual script: a prompt says itself what the model does.

The newest message of a person that has such lines counts, from top to bottom; each is a step of its own:

    SCRIPTED-WRITE path text     a file is written, with the client's own tool
    SCRIPTED-SH command          a command is run, with the client's own shell
    SCRIPTED-SAY text            nothing is done; this is the answer

How many steps were taken is told by the conversation, by what tools have answered, so that nothing is remembered here:
repeated requests, resumed sessions and many clients at once just work. A client whose prompt is only the name of a file
is made to read it first; what it says then counts.

Using the tools that a client offers, whatever they are called there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from json import dumps, loads
from shlex import quote

from plait.core.fast_dataclass import dataclass
from tests.support.model_server.messages import (
    Json,
    OfferedTool,
    ReceivedRequest,
    Reply,
    Role,
    ScriptedToolCall,
    ToolForm,
    Turn,
)

DONE = "Done."


_LINE = re.compile(r"^[ \t]*SCRIPTED-(WRITE|SH|SAY)[ \t]+(\S[^\n]*?)[ \t]*$", re.MULTILINE)


_READ = re.compile(r"Read the file (\S+)")


_FORMS = {
    "SEARCH/REPLACE": "{path}\n```\n<<<<<<< SEARCH\n=======\n{text}\n>>>>>>> REPLACE\n```",
    "file listing": "{path}\n```\n{text}\n```",
}


_SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"  # by which one client knows that the work is done


@dataclass(frozen=True, slots=True)
class DirectiveStep:
    verb: str
    rest: str


def follow_directives(request: ReceivedRequest) -> Reply:
    """The reply that the newest directives ask for."""
    if request.parsed.schema is not None:
        return Reply(dumps(minimal_value(request.parsed.schema)))
    steps, taken = _find_steps(request)
    if not request.parsed.offers and (form := _find_file_format(request)):
        return Reply(_format_files(steps, form))
    if taken < len(steps):
        return _make_reply(request, steps[taken])
    submit = call_shell(request, _SUBMIT) if _SUBMIT in request.text else None
    return Reply(DONE, (submit,) if submit else ())


def _find_steps(request: ReceivedRequest) -> tuple[list[DirectiveStep], int]:
    """The steps, and how many were taken since they were told."""
    for role in (Role.USER, Role.TOOL):
        for index in range(len(request.turns) - 1, -1, -1):
            turn = request.turns[index]
            if turn.role is role and (found := _LINE.findall(_turn_text(turn))):
                return [DirectiveStep(verb, rest) for verb, rest in found], _count_tool_answers(
                    request.turns[index + 1 :]
                )
    named = _READ.search(request.last_user_text)
    return [DirectiveStep("SH", f"cat {quote(named[1])}")] if named else [], _count_tool_answers(request.turns)


def _turn_text(turn: Turn) -> str:
    """Some clients wrap what a tool answered into an object."""
    if turn.role is not Role.TOOL or not turn.text.startswith("{"):
        return turn.text
    with suppress(ValueError):
        return "\n".join(value for value in loads(turn.text).values() if isinstance(value, str))
    return turn.text


def _count_tool_answers(turns: Sequence[Turn]) -> int:
    """How many times tools have answered; several answers in a row are one."""
    roles = [turn.role for turn in turns]
    return sum(now is Role.TOOL and before is not Role.TOOL for before, now in pairwise([Role.USER, *roles]))


def _make_reply(request: ReceivedRequest, step: DirectiveStep) -> Reply:
    if step.verb == "SAY":
        return Reply(step.rest)
    call = _make_call(request, step)
    return Reply(f"I take a step: {step.rest}", (call,)) if call else Reply(DONE)


def _make_call(request: ReceivedRequest, step: DirectiveStep) -> ScriptedToolCall | None:
    if step.verb == "SH":
        return call_shell(request, step.rest)
    path, _, text = step.rest.partition(" ")
    return call_write(request, path, text)


def _find_file_format(request: ReceivedRequest) -> str | None:
    """How a client without tools wants files to be written."""
    return next((form for told, form in _FORMS.items() if told in request.parsed.system), None)


def _format_files(steps: list[DirectiveStep], form: str) -> str:
    """Every file at once: such a client asks only once."""
    said = [step.rest for step in steps if step.verb == "SAY"]
    written = (step.rest.partition(" ") for step in steps if step.verb == "WRITE")
    return "\n\n".join([*said, *(form.format(path=path, text=text) for path, _, text in written)]) or DONE


# Letters only, in small: Write, write_file, writeFile and run_shell_command, exec_command, Bash are all there is.
_WRITERS = ("write", "writefile", "writetofile", "createfile")


_SHELLS = (
    "bash",
    "shell",
    "shellcommand",
    "execcommand",
    "runshellcommand",
    "executecommand",
    "runterminalcommand",
)


_PATHS = ("file_path", "filePath", "filepath", "path", "absolute_path")


_CONTENTS = ("content", "contents", "file_text", "text")


_COMMANDS = ("command", "cmd", "script")


def call_write(request: ReceivedRequest, path: str, text: str) -> ScriptedToolCall | None:
    """A call that writes a file: with the tool for it if there is one and the client says where it works, else in a shell."""
    offer, folder = _find_tool(request, _WRITERS), request.find_working_directory()
    if offer is not None and folder is not None:
        named = {
            _find_argument(offer, _PATHS): f"{folder}/{path}",
            _find_argument(offer, _CONTENTS): f"{text}\n",
        }
        return ScriptedToolCall(offer, complete_arguments(offer.schema, named))
    return call_shell(request, f"mkdir -p \"$(dirname {quote(path)})\" && printf '%s\\n' {quote(text)} > {quote(path)}")


def call_shell(request: ReceivedRequest, command: str) -> ScriptedToolCall | None:
    """A call that runs a command; None: the client offers no shell."""
    offer = _find_tool(request, _SHELLS)
    if offer is None:
        return None
    name = _find_argument(offer, _COMMANDS)
    listed = _schema_type(_properties(offer.schema).get(name)) == "array"
    words: object = ["bash", "-c", command] if listed else command
    return ScriptedToolCall(offer, complete_arguments(offer.schema, {name: words}))


def complete_arguments(schema: Json, given: Mapping[str, object]) -> dict[str, object]:
    """The arguments, and something for whatever else the schema asks for."""
    required = schema.get("required")
    missing = [name for name in required if name not in given] if isinstance(required, list) else []
    return {**given, **{name: minimal_value(_properties(schema).get(name)) for name in missing}}


def minimal_value(schema: object, depth: int = 0) -> object:
    """The least that a JSON schema accepts."""
    if not isinstance(schema, dict) or depth > 8:
        return "scripted"
    if isinstance(chosen := schema.get("enum"), list) and chosen:
        return chosen[0]
    for either in ("anyOf", "oneOf", "allOf"):
        if isinstance(options := schema.get(either), list) and options:
            return minimal_value(options[0], depth + 1)
    match _schema_type(schema):
        case "object":
            required = schema.get("required", ())
            return {name: minimal_value(_properties(schema).get(name), depth + 1) for name in required}
        case "array":
            return []
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return False
        case _:
            return "scripted"


def _find_tool(request: ReceivedRequest, names: tuple[str, ...]) -> OfferedTool | None:
    offered = {_normalize(offer.name): offer for offer in request.parsed.offers if offer.form is ToolForm.FUNCTION}
    return next((offered[name] for name in names if name in offered), None)


def _normalize(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


def _find_argument(offer: OfferedTool, names: tuple[str, ...]) -> str:
    return next((name for name in names if name in _properties(offer.schema)), names[0])


def _properties(schema: Json) -> Json:
    found = schema.get("properties")
    return found if isinstance(found, dict) else {}


def _schema_type(schema: object) -> str:
    """Some write types in capitals, some give several."""
    told = schema.get("type") if isinstance(schema, dict) else ""
    first = told[0] if isinstance(told, list) and told else told
    return str(first or "").lower()
