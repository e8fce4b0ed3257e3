"""Using the tools that a client offers, whatever they are called there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from shlex import quote

from tests.support.model_server.messages import Call, Form, Json, Offer, Request

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


def write(request: Request, path: str, text: str) -> Call | None:
    """A call that writes a file: with the tool for it if there is one and the client says where it works, else in a shell."""
    offer, folder = _find(request, _WRITERS), request.folder()
    if offer is not None and folder is not None:
        named = {_named(offer, _PATHS): f"{folder}/{path}", _named(offer, _CONTENTS): f"{text}\n"}
        return Call(offer, complete(offer.schema, named))
    return shell(
        request, f"mkdir -p \"$(dirname {quote(path)})\" && printf '%s\\n' {quote(text)} > {quote(path)}"
    )


def shell(request: Request, command: str) -> Call | None:
    """A call that runs a command; None: the client offers no shell."""
    offer = _find(request, _SHELLS)
    if offer is None:
        return None
    name = _named(offer, _COMMANDS)
    listed = _type(_properties(offer.schema).get(name)) == "array"
    words: object = ["bash", "-c", command] if listed else command
    return Call(offer, complete(offer.schema, {name: words}))


def complete(schema: Json, given: Mapping[str, object]) -> dict[str, object]:
    """The arguments, and something for whatever else the schema asks for."""
    required = schema.get("required")
    missing = [name for name in required if name not in given] if isinstance(required, list) else []
    return {**given, **{name: specimen(_properties(schema).get(name)) for name in missing}}


def specimen(schema: object, depth: int = 0) -> object:
    """The least that a JSON schema accepts."""
    if not isinstance(schema, dict) or depth > 8:
        return "scripted"
    if isinstance(chosen := schema.get("enum"), list) and chosen:
        return chosen[0]
    for either in ("anyOf", "oneOf", "allOf"):
        if isinstance(options := schema.get(either), list) and options:
            return specimen(options[0], depth + 1)
    match _type(schema):
        case "object":
            required = schema.get("required", ())
            return {name: specimen(_properties(schema).get(name), depth + 1) for name in required}
        case "array":
            return []
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return False
        case _:
            return "scripted"


def _find(request: Request, names: tuple[str, ...]) -> Offer | None:
    offered = {_plain(offer.name): offer for offer in request.heard.offers if offer.form is Form.FUNCTION}
    return next((offered[name] for name in names if name in offered), None)


def _plain(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


def _named(offer: Offer, names: tuple[str, ...]) -> str:
    return next((name for name in names if name in _properties(offer.schema)), names[0])


def _properties(schema: Json) -> Json:
    found = schema.get("properties")
    return found if isinstance(found, dict) else {}


def _type(schema: object) -> str:
    """Some write types in capitals, some give several."""
    told = schema.get("type") if isinstance(schema, dict) else ""
    first = told[0] if isinstance(told, list) and told else told
    return str(first or "").lower()
