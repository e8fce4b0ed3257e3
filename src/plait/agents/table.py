"""The agents that plait knows of: what their programs are called, how to get them, how to log in.

The agents: a name and a factory for each. Any dotted path of a factory works wherever an agent's name does.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from typing import cast

from plait.agents.interface import Agent, AgentSpec
from plait.config.agent_keys import is_dotted_path
from plait.core.contest import REFEREE
from plait.core.errors import ConfigError
from plait.core.fast_dataclass import dataclass
from plait.core.task import Task


@dataclass(frozen=True, slots=True)
class AgentLogin:
    """Where it shows that somebody is logged in: variables with keys, and files below the home folder.

    Neither says that what is there still holds; that only the provider knows, and asking it may cost something.
    """

    variables: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    how: str = ""


@dataclass(frozen=True, slots=True)
class KnownAgent:
    """`tested`: this plait was tried with the tool itself. Without a `program` there is none to be looked for.

    `maker` is whose limits it runs into (none: nobody else's); `routed`: its model's provider's, where it is told.
    """

    name: str
    description: str
    program: str = ""
    install: str = ""
    login: AgentLogin | None = None
    tested: bool = True
    default_provider: str = ""
    multi_provider: bool = False


def _npm(name: str, description: str, package: str, login: AgentLogin, default_provider: str = "") -> KnownAgent:
    return KnownAgent(
        name,
        description,
        name,
        f"npm install -g {package}",
        login,
        default_provider=default_provider,
        multi_provider=not default_provider,
    )


def _pip(name: str, description: str, package: str, login: AgentLogin) -> KnownAgent:
    return KnownAgent(name, description, name, f"pip install {package}", login, multi_provider=True)


_ANY_KEY = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "DEEPSEEK_API_KEY")


# The order is the one in which a default is looked for.
KNOWN_AGENTS = (
    _npm(
        "claude",
        "Claude Code",
        "@anthropic-ai/claude-code",
        AgentLogin(
            ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
            (".claude/.credentials.json",),
            "claude, then /login",
        ),
        "anthropic",
    ),
    _npm(
        "codex",
        "Codex",
        "@openai/codex",
        AgentLogin(("CODEX_API_KEY",), (".codex/auth.json",), "codex login"),
        "openai",
    ),
    _npm(
        "gemini",
        "Gemini CLI",
        "@google/gemini-cli",
        AgentLogin(("GEMINI_API_KEY", "GOOGLE_API_KEY"), (".gemini/oauth_creds.json",), "gemini"),
        "google",
    ),
    _npm(
        "opencode",
        "OpenCode",
        "opencode-ai",
        AgentLogin(_ANY_KEY, (".local/share/opencode/auth.json",), "opencode auth login"),
    ),
    _pip(
        "aider",
        "Aider",
        "aider-chat",
        AgentLogin((*_ANY_KEY, "OLLAMA_API_BASE"), (), "a key in the environment"),
    ),
    _npm(
        "qwen",
        "Qwen Code",
        "@qwen-code/qwen-code",
        AgentLogin(("OPENAI_API_KEY", "DASHSCOPE_API_KEY"), (".qwen/oauth_creds.json",), "qwen"),
        "qwen",
    ),
    _npm(
        "copilot",
        "GitHub Copilot CLI",
        "@github/copilot",
        AgentLogin(
            ("GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"),
            (".copilot/config.json",),
            "copilot, then /login",
        ),
        "github",
    ),
    _pip("mini", "mini-swe-agent", "mini-swe-agent", AgentLogin(_ANY_KEY, (), "a key in the environment")),
    _npm(
        "pi",
        "Pi",
        "@mariozechner/pi-coding-agent",
        AgentLogin(_ANY_KEY, (".pi/agent/auth.json",), "pi, then /login"),
    ),
    _npm(
        "cn",
        "Continue",
        "@continuedev/cli",
        AgentLogin(("CONTINUE_API_KEY",), (".continue/auth.json", ".continue/config.yaml"), "cn login"),
    ),
    _npm("cline", "Cline", "cline", AgentLogin((), (".cline/data/secrets.json",), "cline auth")),
    KnownAgent("cube", "Agent Cube", "cube"),
    KnownAgent("amp", "Amp", "amp", login=AgentLogin(("AMP_API_KEY",), (), "amp login"), tested=False),
    KnownAgent("goose", "Goose", "goose", login=AgentLogin(_ANY_KEY, (), "goose configure"), tested=False),
    KnownAgent(
        "cursor-agent",
        "Cursor Agent",
        "cursor-agent",
        login=AgentLogin(("CURSOR_API_KEY",), (), "cursor-agent login"),
        tested=False,
        default_provider="cursor",
    ),
    KnownAgent(
        "model",
        "a model itself, through Ollama or any OpenAI-compatible server",
        install="pip install 'plait[model]'",
    ),
    KnownAgent("shell", "the command of the task's own `run:`"),
    KnownAgent("command", "any command: --agent-command 'tool {task_file}'"),
)


AGENTS_BY_NAME = {known.name: known for known in KNOWN_AGENTS}


AGENTS = {
    "shell": "plait.agents.drivers.shell:ShellAgent",
    "command": "plait.agents.drivers.command:CommandAgent",
    "claude": "plait.agents.drivers.claude:Claude",
    "codex": "plait.agents.drivers.codex:Codex",
    "gemini": "plait.agents.drivers.gemini:Gemini",
    "opencode": "plait.agents.drivers.opencode:OpenCode",
    "aider": "plait.agents.drivers.aider:Aider",
    "qwen": "plait.agents.drivers.qwen:Qwen",
    "copilot": "plait.agents.drivers.copilot:Copilot",
    "mini": "plait.agents.drivers.mini:Mini",
    "pi": "plait.agents.drivers.pi:Pi",
    "cn": "plait.agents.drivers.cn:Continue",
    "cline": "plait.agents.drivers.cline:Cline",
    "cube": "plait.agents.drivers.plain_text_tools:Cube",
    "model": "plait.agents.drivers.model_agent:ModelAgent",
    "amp": "plait.agents.drivers.plain_text_tools:Amp",
    "goose": "plait.agents.drivers.plain_text_tools:Goose",
    "cursor-agent": "plait.agents.drivers.plain_text_tools:CursorAgent",
}


INTERNAL_AGENTS = {REFEREE: "plait.agents.drivers.referee:Referee"}  # plait gives them tasks; nobody else does


ENTRY_POINT_GROUP = "plait.agents"  # of entry points: how other packages add agents


AgentFactory = Callable[[AgentSpec], Agent]


def load_agent(spec: AgentSpec) -> Agent:
    """Raises ConfigError. Whoever comes with a command is run by it, whatever it is called."""
    path = AGENTS["command"] if spec.command else (AGENTS | INTERNAL_AGENTS).get(spec.name)
    if path is None and not is_dotted_path(spec.name):
        path = _find_plugin(spec.name)
        if path is None:
            raise _unknown_agent_error(spec.name)
    return _import_factory(path or spec.name)(spec)


def find_provider(spec: AgentSpec) -> str:
    """Whose limits it runs into; raises ConfigError. Of the agents that plait knows, none is loaded to find out."""
    known = AGENTS_BY_NAME.get(spec.name)
    if spec.account:
        return spec.account
    if known is None or spec.command:
        return load_agent(spec).provider
    if known.name == "model":
        from plait.agents.model_jobs.job_spec import find_server  # each agent is imported when it is used

        return find_server(spec.options) or known.name
    maker, slash, _ = spec.model.partition("/") if known.multi_provider else (known.default_provider, "/", "")
    return maker if maker and slash else known.name


def explain_unsupported(agent: str, task: Task) -> str | None:
    """Why this agent can't take this task, as far as that is known before it starts; to be put after the task's name.

    It is asked before the agent is loaded: a task file must not choose which module is imported.
    """
    if task.agent == agent and is_dotted_path(agent):
        return f"has a module as its agent ({agent}), which only settings and flags may name"
    if agent == REFEREE:
        return f"has {REFEREE} as its agent, which only a contest gives (--contest)"
    if not (task.model or "").isprintable():
        return "has a model that no command can name: it holds a character that can't be seen"
    if agent != "shell":
        return None
    from plait.agents.drivers.shell import (
        explain_missing_run as shell_why_not,
    )  # each agent is imported when it is used

    return shell_why_not(task)


def _find_plugin(name: str) -> str | None:
    """What another package calls by this name; packages are installed by a person."""
    from importlib.metadata import entry_points  # it looks at every package, and few names are unknown

    found = entry_points(group=ENTRY_POINT_GROUP, name=name)
    return next((point.value for point in found), None)


def _import_factory(path: str) -> AgentFactory:
    module, _, name = path.rpartition(":" if ":" in path else ".")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise ConfigError(
            f"the agent {path} can't be loaded: {error}", hint="Write it as package.module:Factory."
        ) from error
    return cast("AgentFactory", found)


def _unknown_agent_error(name: str) -> ConfigError:
    near = get_close_matches(name, AGENTS_BY_NAME, n=1)
    meant = f"Did you mean {near[0]}? " if near else ""
    return ConfigError(
        f"there is no agent called {name}",
        hint=f"{meant}`plait agents` lists them; --agent-command runs any command.",
    )
