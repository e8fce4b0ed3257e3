"""A scripted model server: speaks the protocols of the providers, on this machine only.

    with ModelServer() as server:
        server.queue_replies("first", Reply("second", usage=Usage(900, 40)))  # in this order, to any client
        server.queue_replies("only for job-7", of="job-7")                    # a client's tag, or its API key
        server.set_faults("429:2", of="sk-bad")                               # refuse twice, then answer
        base = server.client_url("job-7", "401")                              # an address with a tag and faults
        server.url + "/v1"       the base URL for OpenAI's clients (chat completions, responses, models)
        server.url               for Anthropic's, Gemini's and Ollama's (/api/chat, /api/generate, /api/tags)
        server.requests          all requests in order: protocol, key, tag, model, system, turns, body, fault
        server.requests_from("job-7")   those of one client
        server.wait_until(lambda: len(server.requests_from("job-7")) == 2)

A client is known by the tag in its address (`client_url`) and by its API key. Requests without a queued reply are answered
by the script, by default `directives`: the lines SCRIPTED-WRITE path text, SCRIPTED-SH command and SCRIPTED-SAY text of
the newest message that has one. `ModelServer(script=function)` takes any function from a ReceivedRequest to a Reply or a
text. Faults are in `faults`: `KIND[:TIMES][;after=SECONDS]`, several in a row with a comma between.
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
