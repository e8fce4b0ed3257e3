"""The settings of agents.

The settings of the `model` agent: a model that writes by itself, through a server.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from plait.config import value_types
from plait.config.key import AnyKey, Key, PermissionChoice
from plait.config.value_types import InvalidValue, ValueType

AGENTS_KEYS: tuple[AnyKey, ...] = (
    Key(
        "agents.models",
        value_types.text_table("agents", "a model"),
        (),
        "the model that each agent uses, for tasks that name none",
    ),
    Key(
        "agents.args",
        value_types.args_table("agents"),
        (),
        "further words for each agent's command line",
        runs_code=bool,
    ),
    Key(
        "agents.programs",
        value_types.text_table("agents", "a program"),
        (),
        "what is run for each agent, in the place of its usual program",
        runs_code=bool,
    ),
    Key(
        "agents.permissions",
        value_types.choice_table("agents", PermissionChoice),
        (),
        "what each agent may do unasked: everything (full), change files only (edits), what its own settings say (own)",
        runs_code=lambda _: True,  # whatever it says, it takes the place of what a person allowed
    ),
    Key(
        "agents.accounts",
        value_types.text_table("agents", "an account's name"),
        (),
        "whose rate limits each agent runs into; agents with the same account are held back together",
    ),
    Key(
        "agents.prices",
        value_types.price_table(),
        (),
        "what models cost, by pattern of their names, for agents that tell only their tokens",
    ),
    Key(
        "agents.replies",
        value_types.text_list("an agent's name or a list of names", split=True),
        (),
        "agents that write no files themselves: plait applies what they answer (FILE: path, and a fence)",
    ),
)


DEFAULT_MODEL_URL = "http://localhost:11434/v1"


_LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})


_MAX_TEMPERATURE = 2.0


def server_url() -> ValueType[str]:
    """Where a server is. A key has no place in it: settings are read by many, variables by few."""

    def read(said: object) -> str:
        url = value_types.required_text("").read(said).rstrip("/")
        try:
            parts = urlsplit(url)
            sound = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        except ValueError:
            raise InvalidValue from None
        if parts.username is not None or parts.password is not None:
            raise InvalidValue("A key goes into a variable, which model.key names.")
        if not sound or parts.query or parts.fragment or not url.isprintable() or " " in url:
            raise InvalidValue
        return url

    return ValueType('the address of a server, such as "http://localhost:11434/v1"', read, lambda value: value)


def temperature() -> ValueType[float | None]:
    def read(said: object) -> float | None:
        if said is None or said == "":
            return None
        if isinstance(said, bool) or not isinstance(said, int | float) or not 0 <= said <= _MAX_TEMPERATURE:
            raise InvalidValue
        return float(said)

    def hear(said: str) -> object:
        try:
            return float(said)
        except ValueError:
            return said

    allowed = f'a number from 0 to {_MAX_TEMPERATURE:g}, or "" for none'
    return ValueType(allowed, read, lambda value: value, hear, lambda value: "" if value is None else value)


def _is_remote(url: str) -> bool:
    """What the tasks' files hold, and perhaps a key, leaves this machine for where the repository says."""
    return urlsplit(url).hostname not in _LOCAL_HOSTS


MODEL_KEYS: tuple[AnyKey, ...] = (
    Key(
        "model.base_url",
        server_url(),
        DEFAULT_MODEL_URL,
        "the server: Ollama's, or any that speaks as OpenAI's does, up to and with its /v1",
        runs_code=_is_remote,
    ),
    Key(
        "model.name",
        value_types.optional_text("a model's name"),
        None,
        "the model, for jobs that name none; none: what [agents.models] or run.model say",
        page="modelName",
    ),
    Key(
        "model.key",
        value_types.optional_text("a variable's name"),
        None,
        "the environment variable that holds the server's key; none: the server asks for none",
        page="modelKey",
        runs_code=bool,  # it decides which secret leaves the machine
    ),
    Key(
        "model.context_tokens",
        value_types.whole_number(),
        16_000,
        "the most that a prompt's files take, in tokens, as far as that can be told; what does not fit is left out",
    ),
    Key(
        "model.context_lines",
        value_types.whole_number(),
        1000,
        "the most lines of files that a job's context may have",
    ),
    Key(
        "model.output_lines",
        value_types.whole_number(),
        900,
        "the most lines that a file written by a model may have",
    ),
    Key(
        "model.stall_timeout",
        value_types.duration(),
        300.0,
        "how long a server may send nothing at all; loading a model counts",
    ),
    Key(
        "model.verify_replies",
        value_types.boolean(),
        default=True,
        about="have a second prompt judge what was written, where a job does not say otherwise",
    ),
    Key(
        "model.verify_model",
        value_types.optional_text("a model's name"),
        None,
        "the model that judges; none: the one that wrote",
    ),
    Key(
        "model.checks",
        value_types.text_list("a command or a list of commands"),
        (),
        "build, test and lint commands that must pass on what was written, one after another",
        page="modelChecks",
        runs_code=bool,
    ),
    Key(
        "model.fixes",
        value_types.whole_number(),
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
        value_types.boolean(),
        default=True,
        about="start Ollama where it is installed and does not run",
    ),
    Key(
        "model.prompts",
        value_types.optional_text("a folder"),
        None,
        "the folder with system prompts (_systemprompt_create.md …) in the place of plait's own; none: those beside the jobs",
    ),
)
