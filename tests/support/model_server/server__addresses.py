"""What is at which address. A client's own begins with its tag and its faults: `/as/TAG/with/FAULTS/v1/…`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote, unquote, urlsplit

from tests.support.model_server.faults import Fault, parse_faults

from plait.core.fast_dataclass import dataclass

_CLIENT_PREFIX = re.compile(r"/as/(?P<tag>[^/]+)(?:/with/(?P<faults>[^/]+))?(?P<rest>/.*|)")


@dataclass(frozen=True, slots=True)
class Address:
    tag: str
    faults: tuple[Fault, ...]
    path: str


def parse_address(asked: str) -> Address:
    """Raises ValueError for a fault that there is not."""
    path = urlsplit(asked).path.rstrip("/")
    found = _CLIENT_PREFIX.fullmatch(path)
    if found is None:
        return Address("", (), path)
    faults = parse_faults(unquote(found["faults"])) if found["faults"] else ()
    return Address(unquote(found["tag"]), faults, found["rest"])


def client_prefix(tag: str, faults: str) -> str:
    """The first part of a client's own address."""
    parse_faults(faults)
    return f"/as/{quote(tag, safe='')}" + (f"/with/{quote(faults, safe=':,;=')}" if faults else "")


def describe_provider(path: str, models: Sequence[str], size: int = 0) -> dict[str, object] | str | None:
    """What a provider says of itself, without any model being asked. `size` is that of a text whose tokens are counted."""
    match re.sub(r"^/v1(?=/)", "", path):
        case "":
            return "Ollama is running"
        case "/models":
            return {"object": "list", "data": [_model_entry(model) for model in models], "has_more": False}
        case "/v1beta/models":
            return {"models": [{"name": f"models/{model}"} for model in models]}
        case "/api/tags":
            return {"models": [{"name": model, "model": model, "size": 1, "details": {}} for model in models]}
        case "/api/version":
            return {"version": "0.12.0"}
        case "/api/ps":
            return {"models": []}
        case "/api/show":
            return {
                "details": {"family": "scripted"},
                "model_info": {},
                "capabilities": ["completion", "tools"],
            }
        case "/messages/count_tokens":
            return {"input_tokens": size // 4 + 1}
        case other if other.endswith(":countTokens"):
            return {"totalTokens": size // 4 + 1}
        case _:
            return None


def _model_entry(model: str) -> dict[str, object]:
    return {
        "id": model,
        "object": "model",
        "type": "model",
        "display_name": model,
        "created": 1_767_225_600,
        "owned_by": "plait",
    }
