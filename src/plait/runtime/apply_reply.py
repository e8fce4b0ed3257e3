"""Applies the reply of an agent that doesn't write files itself: the files in its last message are written, either all
or none.

`python -m plait.runtime.apply_reply SPEC -- COMMAND…` runs the tool as its child, passes its output through, and parses
it as the engine does. When the tool has finished, it writes the files that the last message contains.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import msgspec

from plait.agents.interface import AgentSpec
from plait.agents.model_jobs.answer import parse_reply_files
from plait.agents.model_jobs.edit_blocks import format_errors
from plait.agents.plain_text import to_plain_text
from plait.agents.table import load_agent
from plait.core.errors import PlaitError
from plait.core.fast_dataclass import dataclass
from plait.core.status import Category
from plait.runtime.agent_process import run_tool, run_until_signal, write_stdout
from plait.runtime.atomic_apply import StagedWrites
from plait.system.decoders import decode_json

REPLY_SPEC_FILE = "replying.json"
_FAILED = 1
_NOT_FOUND, _NOT_RUN = 127, 126  # as in shells
_MAX_OUTPUT_BYTES = 8 << 20  # bytes kept of a tool that prints plain text
_MAX_ANSWER_LINES = 20_000  # that one answer may write


@dataclass(frozen=True, slots=True)
class ReplySpec:
    agent: AgentSpec
    workspace: str


def encode_reply_spec(spec: ReplySpec) -> str:
    """Encode the spec as JSON; it contains no secrets."""
    return msgspec.json.encode({"agent": spec.agent, "workspace": spec.workspace}).decode()


def wrap_with_reply(argv: Sequence[str], spec_file: Path) -> tuple[str, ...]:
    """Return a command that runs this one and applies its reply."""
    return (sys.executable, "-E", "-P", "-m", "plait.runtime.apply_reply", str(spec_file), "--", *argv)


def main(argv: list[str]) -> NoReturn:
    sys.exit(run_until_signal(lambda: _run(argv)))


def _run(argv: list[str]) -> int:
    try:
        return _run_and_apply(argv)
    except (PlaitError, OSError, msgspec.DecodeError) as error:
        _print_message(f"can't apply the agent's answer: {error}")
        return _FAILED


def _run_and_apply(argv: list[str]) -> int:
    if len(argv) < 3 or argv[1] != "--":
        _print_message("usage: python -m plait.runtime.apply_reply SPEC -- COMMAND…")
        return _FAILED
    spec = decode_json(Path(argv[0]).read_bytes(), ReplySpec)
    parser = load_agent(spec.agent).create_parser()
    try:
        tool = subprocess.Popen(argv[2:], stdout=subprocess.PIPE, bufsize=0)  # the agent's own words
    except (FileNotFoundError, PermissionError) as error:
        _print_message(f"{argv[2]} can't be run: {error.strerror}")
        return _NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_RUN
    result = run_tool(tool, parser, max_bytes=_MAX_OUTPUT_BYTES, on_output=write_stdout)
    if result.code or result.outcome.category not in {Category.OK, Category.EMPTY}:
        return result.code
    return _apply(Path(spec.workspace), result.output if result.message is None else result.message)


def _apply(workspace: Path, text: str) -> int:
    with StagedWrites(workspace) as staging:
        answer = parse_reply_files(text, staging.read_or_none, max_lines=_MAX_ANSWER_LINES)
        if answer.errors or not answer.files:
            why = format_errors(answer.errors) or "it names no file (FILE: path, and a fence)"
            _print_message(f"can't apply the agent's answer: {why}")
            return _FAILED
        staging.apply(answer.files)
        staging.keep()
    for path in answer.files:
        _print_message(f"wrote {path}")
    return 0


def _print_message(text: str) -> None:
    write_stdout(f"plait: {to_plain_text(' '.join(text.split()))}\n".encode("utf-8", "replace"))


if __name__ == "__main__":
    main(sys.argv[1:])
