"""The settings of the `model` agent: a model that writes by itself, through a server."""

from __future__ import annotations

from urllib.parse import urlsplit

from plait.config import kinds
from plait.config.key import AnyKey, Key
from plait.config.kinds import Kind, Unfit

OLLAMA = "http://localhost:11434/v1"
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})
_HOTTEST = 2.0


def address() -> Kind[str]:
    """Where a server is. A key has no place in it: settings are read by many, variables by few."""

    def read(said: object) -> str:
        url = kinds.name("").read(said).rstrip("/")
        try:
            parts = urlsplit(url)
            sound = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        except ValueError:
            raise Unfit from None
        if parts.username is not None or parts.password is not None:
            raise Unfit("A key goes into a variable, which model.key names.")
        if not sound or parts.query or parts.fragment or not url.isprintable() or " " in url:
            raise Unfit
        return url

    return Kind('the address of a server, such as "http://localhost:11434/v1"', read, lambda value: value)


def temperature() -> Kind[float | None]:
    def read(said: object) -> float | None:
        if said is None or said == "":
            return None
        if isinstance(said, bool) or not isinstance(said, int | float) or not 0 <= said <= _HOTTEST:
            raise Unfit
        return float(said)

    def hear(said: str) -> object:
        try:
            return float(said)
        except ValueError:
            return said

    allowed = f'a number from 0 to {_HOTTEST:g}, or "" for none'
    return Kind(allowed, read, lambda value: value, hear, lambda value: "" if value is None else value)


def _elsewhere(url: str) -> bool:
    """What the tasks' files hold, and perhaps a key, leaves this machine for where the repository says."""
    return urlsplit(url).hostname not in _HERE


MODEL: tuple[AnyKey, ...] = (
    Key(
        "model.base_url",
        address(),
        OLLAMA,
        "the server: Ollama's, or any that speaks as OpenAI's does, up to and with its /v1",
        runs=_elsewhere,
    ),
    Key(
        "model.name",
        kinds.text("a model's name"),
        None,
        "the model, for jobs that name none; none: what [agents.models] or run.model say",
        page="modelName",
    ),
    Key(
        "model.key",
        kinds.text("a variable's name"),
        None,
        "the environment variable that holds the server's key; none: the server asks for none",
        page="modelKey",
        runs=bool,  # it decides which secret leaves the machine
    ),
    Key(
        "model.context_tokens",
        kinds.whole(),
        16_000,
        "the most that a prompt's files take, in tokens, as far as that can be told; what does not fit is left out",
    ),
    Key(
        "model.context_lines",
        kinds.whole(),
        1000,
        "the most lines of files that a job's context may have",
    ),
    Key("model.output_lines", kinds.whole(), 900, "the most lines that a file written by a model may have"),
    Key(
        "model.stall_timeout",
        kinds.duration(),
        300.0,
        "how long a server may send nothing at all; loading a model counts",
    ),
    Key(
        "model.verify_replies",
        kinds.switch(),
        default=True,
        about="have a second prompt judge what was written, where a job does not say otherwise",
    ),
    Key(
        "model.verify_model",
        kinds.text("a model's name"),
        None,
        "the model that judges; none: the one that wrote",
    ),
    Key(
        "model.checks",
        kinds.texts("a command or a list of commands"),
        (),
        "build, test and lint commands that must pass on what was written, one after another",
        page="modelChecks",
        runs=bool,
    ),
    Key(
        "model.fixes",
        kinds.whole(),
        2,
        "how often a model may put right what these commands complain of",
    ),
    Key(
        "model.temperature",
        temperature(),
        None,
        "how freely the model writes; none: the server's own",
    ),
    Key(
        "model.start_ollama",
        kinds.switch(),
        default=True,
        about="start Ollama where it is installed and does not run",
    ),
    Key(
        "model.prompts",
        kinds.text("a folder"),
        None,
        "the folder with system prompts (_systemprompt_create.md …) in the place of plait's own; none: those beside the jobs",
    ),
)
