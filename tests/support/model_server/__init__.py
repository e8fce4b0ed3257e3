"""A scripted model server: speaks what providers speak, on this machine only, and does what a test says.

    with ModelServer() as server:
        server.answer("first reply", Reply("second", usage=Usage(900, 40)))   # in this order, to whoever asks
        server.answer("only for job-7", of="job-7")                           # a client's tag, or its API key
        server.upset("429:2", of="sk-bad")                                    # twice refused, then all is well
        base = server.at("job-7", "401")                                      # the same, said by the address
        server.url + "/v1"       the base of OpenAI's clients (chat completions, responses, models)
        server.url               that of Anthropic's, Gemini's and Ollama's (/api/chat, /api/generate, /api/tags)
        server.requests          everything that was asked, in order: protocol, key, tag, model, system, turns, body, fault
        server.of("job-7")       those of one client; server.until(lambda: len(server.of("job-7")) == 2) waits

A client is known by the tag in its address (`server.at(tag)`) and by its API key. What nobody queued an answer for is
answered by the script: by default the lines SCRIPTED-WRITE path text, SCRIPTED-SH command and SCRIPTED-SAY text of the
newest message that has one (see `script`). `ModelServer(script=function)` takes any function from a Request to a Reply or
a text. Faults are in `faults`: `KIND[:TIMES][;after=SECONDS]`, several in a row with a comma between.
"""

from __future__ import annotations

from tests.support.model_server.directives import follow_directives
from tests.support.model_server.faults import Fault, FaultKind
from tests.support.model_server.messages import (
    OfferedTool,
    ReceivedRequest,
    Reply,
    Role,
    ScriptedToolCall,
    Turn,
    Usage,
)
from tests.support.model_server.server import ModelServer

__all__ = [
    "Fault",
    "FaultKind",
    "ModelServer",
    "OfferedTool",
    "ReceivedRequest",
    "Reply",
    "Role",
    "ScriptedToolCall",
    "Turn",
    "Usage",
    "follow_directives",
]
