"""Using the tools that a client offers, whatever they are called there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from shlex import quote

from tests.support.model_server.messages import Json, OfferedTool, ReceivedRequest, ScriptedToolCall, ToolForm

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
    return call_shell(
        request, f"mkdir -p \"$(dirname {quote(path)})\" && printf '%s\\n' {quote(text)} > {quote(path)}"
    )


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
    offered = {
        _normalize(offer.name): offer for offer in request.parsed.offers if offer.form is ToolForm.FUNCTION
    }
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
