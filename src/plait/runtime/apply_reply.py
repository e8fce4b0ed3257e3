"""Replies: an agent that doesn't write files itself. plait applies its last message for it, completely or not at all.

`python -m plait.runtime.apply_reply SPEC -- COMMAND…` runs the tool as its child, passes its output through, and parses
it as the engine does. When the tool has finished, it writes the files that the last message contains.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NoReturn

import msgspec

from plait.agents.interface import AgentSpec
from plait.agents.model_jobs.answer import parse_reply_files
from plait.agents.model_jobs.edit_blocks import format_errors
from plait.agents.output_parser import JsonLinesParser
from plait.agents.plain_text import to_plain_text
from plait.agents.table import load_agent
from plait.core.errors import PlaitError
from plait.core.fast_dataclass import dataclass
from plait.core.status import Category
from plait.runtime.agent_process import run_until_signal, write_stdout
from plait.runtime.atomic_apply import StagedWrites
from plait.runtime.workspace_files import StagingError

REPLY_SPEC_FILE = "replying.json"
_FAILED = 1
_NOT_FOUND, _NOT_RUN = 127, 126  # as in shells
_CHUNK_BYTES = 64 << 10
_MAX_LINE_BYTES = 8 << 20  # bytes of one line that are parsed: a whole message may be in it
_MAX_OUTPUT_BYTES = 8 << 20  # bytes kept of a tool that prints plain text
_MAX_ANSWER_LINES = 20_000  # that one answer may write
_TAIL_BYTES = 8 << 10  # bytes of output from which an exit is classified


@dataclass(frozen=True, slots=True)
class ReplySpec:
    agent: AgentSpec
    workspace: str


@dataclass(frozen=True, slots=True)
class _ToolResult:
    """A tool's last message and the end of its output; `ok`: both its report and its exit status say success."""

    code: int
    answer: str
    ok: bool


def encode_reply_spec(spec: ReplySpec) -> str:
    """The spec as JSON; it contains no secrets."""
    return msgspec.json.encode({"agent": spec.agent, "workspace": spec.workspace}).decode()


def wrap_with_reply(argv: Sequence[str], spec_file: Path) -> tuple[str, ...]:
    """The command that runs this one and applies its reply."""
    return (sys.executable, "-E", "-P", "-m", "plait.runtime.apply_reply", str(spec_file), "--", *argv)


def main(words: list[str]) -> NoReturn:
    sys.exit(run_until_signal(lambda: _run(words)))


def _run(words: list[str]) -> int:
    try:
        return _run_main(words)
    except (PlaitError, OSError, msgspec.DecodeError) as error:
        _print_message(f"can't apply the agent's answer: {error}")
        return _FAILED


def _run_main(words: list[str]) -> int:
    if len(words) < 3 or words[1] != "--":
        _print_message("usage: python -m plait.runtime.apply_reply SPEC -- COMMAND…")
        return _FAILED
    spec = msgspec.json.decode(Path(words[0]).read_bytes(), type=ReplySpec)
    try:
        heard = _run_tool(spec, words[2:])
    except (FileNotFoundError, PermissionError) as error:
        _print_message(f"{words[2]} can't be run: {error.strerror}")
        return _NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_RUN
    return _apply(Path(spec.workspace), heard.answer) if heard.ok else heard.code


def _run_tool(spec: ReplySpec, argv: list[str]) -> _ToolResult:
    listener = load_agent(spec.agent).create_parser()
    printed: deque[bytes] = deque()
    size = 0
    with subprocess.Popen(argv, stdout=subprocess.PIPE, bufsize=0) as tool:  # the agent's own words
        assert tool.stdout is not None
        try:
            for line in _read_lines(tool.stdout):
                printed.append(line)
                size += len(line)
                while size - len(printed[0]) >= _MAX_OUTPUT_BYTES:
                    size -= len(printed.popleft())
                listener.feed(line.decode("utf-8", "replace").removesuffix("\n"))
        except BaseException:
            tool.terminate()  # a signal to this process is meant for the tool
            raise
    code = 128 - tool.returncode if tool.returncode < 0 else tool.returncode
    text = b"".join(printed).decode("utf-8", "replace")
    ended = listener.finish(code, text[-_TAIL_BYTES:], time.time())
    said = listener.last_message if isinstance(listener, JsonLinesParser) else text
    return _ToolResult(code, said, code == 0 and ended.category in {Category.OK, Category.EMPTY})


def _read_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Each line as it arrives, passed through first; an endless line is cut at the limit."""
    rest = b""
    while piece := stream.read(_CHUNK_BYTES):
        write_stdout(piece)
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line + b"\n"
        rest = rest[:_MAX_LINE_BYTES]
    if rest:
        yield rest


def _apply(workspace: Path, said: str) -> int:
    with StagedWrites(workspace) as staging:

        def read(path: str) -> str | None:
            try:
                return staging.read(path)
            except StagingError:
                return None  # putting it there says why not

        answer = parse_reply_files(said, read, max_lines=_MAX_ANSWER_LINES)
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
