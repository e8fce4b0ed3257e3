"""The usual script: a prompt says itself what the model does.

The newest message of a person that has such lines counts, from top to bottom; each is a step of its own:

    SCRIPTED-WRITE path text     a file is written, with the client's own tool
    SCRIPTED-SH command          a command is run, with the client's own shell
    SCRIPTED-SAY text            nothing is done; this is the answer

How many steps were taken is told by the conversation, by what tools have answered, so that nothing is remembered here:
repeated requests, resumed sessions and many clients at once just work. A client whose prompt is only the name of a file
is made to read it first; what it says then counts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from json import dumps, loads
from shlex import quote

from tests.support.model_server.directives__tools import call_shell, call_write, minimal_value
from tests.support.model_server.messages import ReceivedRequest, Reply, Role, ScriptedToolCall, Turn

from plait.core.fast_dataclass import dataclass

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
    return [DirectiveStep("SH", f"cat {quote(named[1])}")] if named else [], _count_tool_answers(
        request.turns
    )


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
