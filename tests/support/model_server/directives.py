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

from tests.support.model_server.directives__tools import shell, specimen, write
from tests.support.model_server.messages import Call, Reply, Request, Role, Turn

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
class Step:
    verb: str
    rest: str


def directives(request: Request) -> Reply:
    """The reply that the newest directives ask for."""
    if request.heard.schema is not None:
        return Reply(dumps(specimen(request.heard.schema)))
    steps, taken = _script(request)
    if not request.heard.offers and (form := _form(request)):
        return Reply(_blocks(steps, form))
    if taken < len(steps):
        return _reply(request, steps[taken])
    submit = shell(request, _SUBMIT) if _SUBMIT in request.text else None
    return Reply(DONE, (submit,) if submit else ())


def _script(request: Request) -> tuple[list[Step], int]:
    """The steps, and how many were taken since they were told."""
    for role in (Role.USER, Role.TOOL):
        for index in range(len(request.turns) - 1, -1, -1):
            turn = request.turns[index]
            if turn.role is role and (found := _LINE.findall(_words(turn))):
                return [Step(verb, rest) for verb, rest in found], _answers(request.turns[index + 1 :])
    named = _READ.search(request.said)
    return [Step("SH", f"cat {quote(named[1])}")] if named else [], _answers(request.turns)


def _words(turn: Turn) -> str:
    """Some clients wrap what a tool answered into an object."""
    if turn.role is not Role.TOOL or not turn.text.startswith("{"):
        return turn.text
    with suppress(ValueError):
        return "\n".join(value for value in loads(turn.text).values() if isinstance(value, str))
    return turn.text


def _answers(turns: Sequence[Turn]) -> int:
    """How many times tools have answered; several answers in a row are one."""
    roles = [turn.role for turn in turns]
    return sum(now is Role.TOOL and before is not Role.TOOL for before, now in pairwise([Role.USER, *roles]))


def _reply(request: Request, step: Step) -> Reply:
    if step.verb == "SAY":
        return Reply(step.rest)
    call = _call(request, step)
    return Reply(f"I take a step: {step.rest}", (call,)) if call else Reply(DONE)


def _call(request: Request, step: Step) -> Call | None:
    if step.verb == "SH":
        return shell(request, step.rest)
    path, _, text = step.rest.partition(" ")
    return write(request, path, text)


def _form(request: Request) -> str | None:
    """How a client without tools wants files to be written."""
    return next((form for told, form in _FORMS.items() if told in request.heard.system), None)


def _blocks(steps: list[Step], form: str) -> str:
    """Every file at once: such a client asks only once."""
    said = [step.rest for step in steps if step.verb == "SAY"]
    written = (step.rest.partition(" ") for step in steps if step.verb == "WRITE")
    return "\n\n".join([*said, *(form.format(path=path, text=text) for path, _, text in written)]) or DONE
