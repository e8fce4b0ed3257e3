"""The settings of agents, and of the agent that is a model behind a server."""

from __future__ import annotations

from enum import StrEnum
from urllib.parse import urlsplit

from plait.config import value_types
from plait.config.key import ConfigTable, Key
from plait.core.settings import SandboxMode

LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})


class PromptDelivery(StrEnum):
    """How a command gets the prompt: on standard input, or from the file that {prompt_file} names.

    AUTO occurs only as a setting: FILE if the command names a file, else STDIN.
    """

    AUTO = "auto"
    STDIN = "stdin"
    FILE = "file"


class Permission(StrEnum):
    """What a tool may do without asking: everything, change files only, or what its own settings say."""

    FULL = "full"
    EDITS = "edits"
    OWN = "own"


def is_dotted_path(name: str) -> bool:
    """Whether an agent's name is a module to import, which runs its code."""
    return "." in name or ":" in name


def server_url() -> value_types.ValueType[str]:
    """Make the type of a server's address, without credentials: settings are read by many, variables by few."""

    def read(value: object) -> str:
        url = value_types.required_text("").read(value).rstrip("/")
        parts = value_types.split_http_url(url)
        if parts.username is not None or parts.password is not None:
            raise value_types.InvalidValueError("A key goes into a variable, which model.key names.")
        if parts.query or parts.fragment:
            raise value_types.InvalidValueError
        return url

    return value_types.ValueType('the address of a server, such as "http://localhost:11434/v1"', read)


class AgentsConfig(ConfigTable, name="agents", about="How agents are called, by name."):
    models = Key(value_types.text_table("agents", "a model"), (), "model of each agent, for tasks that name none")
    args = Key(value_types.args_table("agents"), (), "extra arguments for each agent", runs_code=bool)
    programs = Key(
        value_types.text_table("agents", "a program"),
        (),
        "program to run for each agent, instead of its usual one",
        runs_code=bool,
    )
    permissions = Key(
        value_types.choice_table("agents", Permission),
        (),
        "what each agent may do without asking: everything (full), change files only (edits), or what its own settings "
        "allow (own)",
        runs_code=lambda _: True,  # any value replaces what a person allowed
    )
    sandboxes = Key(
        value_types.choice_table("agents", SandboxMode),
        (),
        "what confines each agent, where it differs from run.sandbox",
        runs_code=lambda _: True,  # as above
    )
    accounts = Key(
        value_types.text_table("agents", "an account's name"),
        (),
        "account whose rate limits an agent shares; agents of one account wait together",
    )
    prices = Key(value_types.price_table(), (), "prices of models, by name pattern, for agents that report only tokens")
    replies = Key(
        value_types.text_list("an agent's name or a list of names", split=True),
        (),
        "agents that write no files themselves: plait applies their answers (FILE: path, and a fence)",
    )

    @property
    def configured_agents(self) -> tuple[str, ...]:
        """The agents that have any setting."""
        tables = (self.models, self.args, self.programs, self.permissions, self.sandboxes, self.accounts)
        return tuple(dict.fromkeys([name for table in tables for name, _ in table] + list(self.replies)))


class ModelConfig(ConfigTable, name="model", about="The `model` agent: a model behind Ollama or a compatible server."):
    base_url = Key(
        server_url(),
        "http://localhost:11434/v1",
        "server: Ollama or any OpenAI-compatible one, including its /v1",
        # The content of files, and perhaps a key, leave this machine for an address of the repository's choosing.
        runs_code=lambda url: urlsplit(url).hostname not in LOCAL_HOSTS,
    )
    name = Key(
        value_types.optional_text("a model's name"),
        None,
        "model for jobs that name none; empty: that of [agents.models] or run.model",
        json_name="modelName",
    )
    key = Key(
        value_types.optional_text("a variable's name"),
        None,
        "environment variable with the server's API key; empty: the server needs none",
        json_name="modelKey",
        runs_code=bool,  # it decides which secret leaves the machine
    )
    context_tokens = Key(
        value_types.whole_number(),
        16_000,
        "limit of the files in a prompt, in tokens (estimated); files beyond it are left out",
    )
    context_lines = Key(value_types.whole_number(), 1000, "limit of the files in a job's context, in lines")
    output_lines = Key(value_types.whole_number(), 900, "limit of a file written by a model, in lines")
    stall_timeout = Key(value_types.duration(), 300.0, "how long the server may send nothing; loading a model counts")
    verify_replies = Key(
        value_types.boolean(), default=True, about="review the result with a second prompt, unless a job says otherwise"
    )
    verify_model = Key(
        value_types.optional_text("a model's name"), None, "model for that review; empty: the one that wrote the result"
    )
    checks = Key(
        value_types.text_list("a command or a list of commands"),
        (),
        "build, test and lint commands that must pass on the result, in this order",
        json_name="modelChecks",
        runs_code=bool,
    )
    fixes = Key(value_types.whole_number(), 2, "repair rounds after a failed check")
    temperature = Key(
        value_types.optional_number(maximum=2.0), None, "sampling temperature; empty: the server's default"
    )
    start_ollama = Key(value_types.boolean(), default=True, about="start Ollama if it is installed and not running")
    prompts = Key(
        value_types.optional_text("a folder"),
        None,
        "folder with system prompts (_systemprompt_create.md …) to use instead of plait's own; empty: those beside the "
        "jobs",
    )
