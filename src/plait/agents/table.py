"""The agents that plait knows: one record each, with the path of its driver.

A driver is only imported when its agent is used. Any dotted path of a factory works wherever an agent's name does, and
other packages add names by entry points.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from importlib import import_module
from types import MappingProxyType
from typing import cast

from plait.agents.interface import Agent, AgentSpec, CostReporting
from plait.config.agent_keys import Permission, is_dotted_path
from plait.core.contest import REFEREE
from plait.core.errors import ConfigError
from plait.core.fast_dataclass import dataclass
from plait.core.task import Task
from plait.core.text import join_names

ENTRY_POINT_GROUP = "plait.agents"
AgentFactory = Callable[[AgentSpec], Agent]


@dataclass(frozen=True, slots=True)
class AgentLogin:
    """Signs of a login: variables with keys, and files below the home folder. `how` says how to log in.

    Only the provider knows whether a key is still valid, and asking may cost something.
    """

    variables: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    how: str = ""


@dataclass(frozen=True, slots=True)
class AgentFolder:
    """A folder with an agent's settings, login and sessions: `path` is below the home folder, unless `variable` names
    another.

    In a sandbox it is private, with copies of its files; folders in it can be read. Only `writable` entries are the
    originals: a login that the agent renews, sessions that it continues. Of those, `programs` can only be read: a later
    session runs them. A name that ends in a slash is a folder, which is made; {workspace} stands for the workspace's
    path with - for everything but letters and digits.
    """

    path: str
    variable: str = ""
    writable: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentInfo:
    """What is known about an agent before its driver is imported.

    `factory` is the path of its driver. `is_program`: it is a program of that name; others are part of plait, or of a
    package. `provider`: whose rate limits it shares, by default its own; `multi_provider`: that of its model
    (`provider/model`). `reports`: what it reports about its spending. `full_access`: the arguments with which it does
    everything without asking. `no_edits`: why it can't be restricted to changing files, if it can't. `folders` and
    `home_files` (copied) are what it needs of the home folder in a sandbox, `variables` are secrets that it may need
    there besides its login's, `hosts` are its provider's, for a sandbox that reaches no others. `prompt` and `resumes`
    are for the documentation: how it gets the prompt, and whether it continues its sessions. `tested`: this version of
    plait was tried with the tool itself; only such an agent is chosen by default. `proposed`: `plait init` puts it into
    a new `plait.toml` if it is installed.
    """

    name: str
    description: str
    factory: str = ""
    install: str = ""
    login: AgentLogin | None = None
    provider: str = ""
    multi_provider: bool = False
    reports: CostReporting = CostReporting.NOTHING
    full_access: tuple[str, ...] = ()
    no_edits: str = ""
    folders: tuple[AgentFolder, ...] = ()
    home_files: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    prompt: str = "stdin"
    resumes: bool = False
    tested: bool = True
    proposed: bool = False
    is_program: bool = True

    @property
    def program(self) -> str:
        """The program to look for on the PATH; "" for an agent that is no program."""
        return self.name if self.is_program else ""

    def find_provider(self, spec: AgentSpec) -> str:
        """Return the provider whose rate limits an agent of this kind shares."""
        if spec.account:
            return spec.account
        if self.name == "model":
            from plait.agents.model_jobs.job_spec import find_server  # only where the agent is used

            return find_server(spec.options) or self.name
        provider, slash, _ = spec.model.partition("/") if self.multi_provider else (self.provider, "/", "")
        return provider if provider and slash else self.name

    def is_unrestricted(self, permission: Permission) -> bool:
        """Whether plait lets the tool do everything without asking. plait does not decide what a command does."""
        return permission is Permission.FULL and self.is_program and bool(self.full_access or not self.no_edits)

    def check_permission(self, spec: AgentSpec) -> None:
        """Raise ConfigError if the agent can't be restricted as asked, before anything starts."""
        if spec.permission is Permission.EDITS and self.no_edits:
            raise ConfigError(
                f"{spec.name} can't be restricted to changing files: {self.no_edits}",
                hint=f'Set {spec.name} = "full" or "own" under [agents.permissions].',
            )


_ANTHROPIC_HOSTS = ("api.anthropic.com", "console.anthropic.com", "platform.claude.com", "claude.ai")
_OPENAI_HOSTS = ("api.openai.com", "auth.openai.com", "chatgpt.com")
_GOOGLE_HOSTS = (
    "generativelanguage.googleapis.com",
    "cloudcode-pa.googleapis.com",
    "oauth2.googleapis.com",
    "accounts.google.com",
)
_ANY_HOST = (*_ANTHROPIC_HOSTS, *_OPENAI_HOSTS, *_GOOGLE_HOSTS, "openrouter.ai", "api.deepseek.com", "models.dev")
_ANY_KEY = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "DEEPSEEK_API_KEY")

# The default agent is the first tested one that is installed.
_AGENTS = (
    AgentInfo(
        "claude",
        "Claude Code",
        "plait.agents.drivers.claude:Claude",
        "npm install -g @anthropic-ai/claude-code",
        AgentLogin(
            ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
            (".claude/.credentials.json",),
            "claude, then /login",
        ),
        provider="anthropic",
        reports=CostReporting.COST,
        full_access=("--dangerously-skip-permissions",),
        folders=(
            AgentFolder(
                ".claude", "CLAUDE_CONFIG_DIR", (".credentials.json", "projects/{workspace}/", "todos/", "tasks/")
            ),
        ),
        home_files=(".claude.json",),
        resumes=True,
        proposed=True,
        hosts=_ANTHROPIC_HOSTS,
    ),
    AgentInfo(
        "codex",
        "Codex",
        "plait.agents.drivers.codex:Codex",
        "npm install -g @openai/codex",
        AgentLogin(("CODEX_API_KEY",), (".codex/auth.json",), "codex login"),
        provider="openai",
        reports=CostReporting.TOKENS,
        full_access=("--dangerously-bypass-approvals-and-sandbox",),
        folders=(AgentFolder(".codex", "CODEX_HOME", ("auth.json", "sessions/")),),
        variables=("OPENAI_API_KEY",),
        resumes=True,
        proposed=True,
        hosts=_OPENAI_HOSTS,
    ),
    AgentInfo(
        "gemini",
        "Gemini CLI",
        "plait.agents.drivers.gemini:Gemini",
        "npm install -g @google/gemini-cli",
        AgentLogin(("GEMINI_API_KEY", "GOOGLE_API_KEY"), (".gemini/oauth_creds.json",), "gemini"),
        provider="google",
        reports=CostReporting.TOKENS,
        full_access=("--yolo",),
        folders=(AgentFolder(".gemini", "", ("oauth_creds.json", "google_accounts.json", "tmp/"), ("tmp/bin/",)),),
        resumes=True,
        proposed=True,
        hosts=_GOOGLE_HOSTS,
    ),
    AgentInfo(
        "opencode",
        "OpenCode",
        "plait.agents.drivers.opencode:OpenCode",
        "npm install -g opencode-ai",
        AgentLogin(_ANY_KEY, (".local/share/opencode/auth.json",), "opencode auth login"),
        multi_provider=True,
        reports=CostReporting.COST,
        full_access=("--auto",),
        folders=(
            AgentFolder(
                ".local/share/opencode",
                "",
                ("auth.json", "storage/", "opencode.db", "opencode.db-wal", "opencode.db-shm"),
            ),
            AgentFolder(".config/opencode"),
            AgentFolder(".cache/opencode"),
        ),
        resumes=True,
        proposed=True,
        hosts=(*_ANY_HOST, "opencode.ai"),
    ),
    AgentInfo(
        "aider",
        "Aider",
        "plait.agents.drivers.aider:Aider",
        "pip install aider-chat",
        AgentLogin((*_ANY_KEY, "OLLAMA_API_BASE"), (), "a key in the environment"),
        multi_provider=True,
        reports=CostReporting.TOKENS,
        full_access=("--yes-always",),
        folders=(AgentFolder(".aider"),),
        home_files=(".aider.conf.yml", ".aider.model.settings.yml", ".aider.model.metadata.json"),
        prompt="file",
        proposed=True,
        hosts=_ANY_HOST,
    ),
    AgentInfo(
        "qwen",
        "Qwen Code",
        "plait.agents.drivers.qwen:Qwen",
        "npm install -g @qwen-code/qwen-code",
        AgentLogin(("OPENAI_API_KEY", "DASHSCOPE_API_KEY"), (".qwen/oauth_creds.json",), "qwen"),
        provider="qwen",
        reports=CostReporting.TOKENS,
        full_access=("--yolo",),
        folders=(AgentFolder(".qwen", "", ("oauth_creds.json", "tmp/", "projects/{workspace}/")),),
        resumes=True,
        hosts=("dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "chat.qwen.ai", "portal.qwen.ai"),
    ),
    AgentInfo(
        "copilot",
        "GitHub Copilot CLI",
        "plait.agents.drivers.copilot:Copilot",
        "npm install -g @github/copilot",
        AgentLogin(
            ("GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"), (".copilot/config.json",), "copilot, then /login"
        ),
        provider="github",
        full_access=("--allow-all",),
        folders=(AgentFolder(".copilot", "", ("session-state/",)),),
        resumes=True,
        hosts=("*.githubcopilot.com", "api.github.com", "github.com"),
    ),
    AgentInfo(
        "mini",
        "mini-swe-agent",
        "plait.agents.drivers.mini:Mini",
        "pip install mini-swe-agent",
        AgentLogin(_ANY_KEY, (), "a key in the environment"),
        multi_provider=True,
        reports=CostReporting.COST,
        full_access=("--yolo",),
        folders=(AgentFolder(".config/mini-swe-agent"),),
        no_edits="it has only a shell",
        prompt="file",
        hosts=_ANY_HOST,
    ),
    AgentInfo(
        "pi",
        "Pi",
        "plait.agents.drivers.pi:Pi",
        "npm install -g @mariozechner/pi-coding-agent",
        AgentLogin(_ANY_KEY, (".pi/agent/auth.json",), "pi, then /login"),
        multi_provider=True,
        reports=CostReporting.COST,
        folders=(AgentFolder(".pi/agent", "PI_CODING_AGENT_DIR", ("auth.json", "sessions/")),),
        resumes=True,
        hosts=_ANY_HOST,
    ),
    AgentInfo(
        "cn",
        "Continue",
        "plait.agents.drivers.cn:Continue",
        "npm install -g @continuedev/cli",
        AgentLogin(("CONTINUE_API_KEY",), (".continue/auth.json", ".continue/config.yaml"), "cn login"),
        multi_provider=True,
        full_access=("--auto",),
        folders=(AgentFolder(".continue", "", ("auth.json", "sessions/")),),
        hosts=(*_ANY_HOST, "api.continue.dev"),
    ),
    AgentInfo(
        "cline",
        "Cline",
        "plait.agents.drivers.cline:Cline",
        "npm install -g cline",
        AgentLogin((), (".cline/data/secrets.json",), "cline auth"),
        multi_provider=True,
        reports=CostReporting.COST,
        full_access=("--auto-approve", "true"),
        folders=(AgentFolder(".cline", "", ("data/",)), AgentFolder(".cline/data/settings", "", ("providers.json",))),
        no_edits="it approves everything or nothing",
        prompt="file",
        hosts=(*_ANY_HOST, "api.cline.bot"),
    ),
    AgentInfo(
        "cube",
        "Agent Cube",
        "plait.agents.drivers.plain_text_tools:Cube",
        no_edits="its own settings say what its agents may do",
        prompt="task file",
        resumes=True,
    ),
    AgentInfo(
        "amp",
        "Amp",
        "plait.agents.drivers.plain_text_tools:Amp",
        login=AgentLogin(("AMP_API_KEY",), (), "amp login"),
        folders=(AgentFolder(".local/share/amp", "", ("secrets.json", "threads/")), AgentFolder(".config/amp")),
        full_access=("--dangerously-allow-all",),
        no_edits="its own settings say what it may do",
        tested=False,
        hosts=("ampcode.com",),
    ),
    AgentInfo(
        "goose",
        "Goose",
        "plait.agents.drivers.plain_text_tools:Goose",
        login=AgentLogin(_ANY_KEY, (), "goose configure"),
        folders=(AgentFolder(".config/goose"), AgentFolder(".local/share/goose", "", ("sessions/",))),
        full_access=("GOOSE_MODE=auto",),
        prompt="file",
        tested=False,
        hosts=_ANY_HOST,
    ),
    AgentInfo(
        "cursor-agent",
        "Cursor Agent",
        "plait.agents.drivers.plain_text_tools:CursorAgent",
        login=AgentLogin(("CURSOR_API_KEY",), (), "cursor-agent login"),
        provider="cursor",
        folders=(
            AgentFolder(".cursor", "", ("chats/",)),
            AgentFolder(".config/cursor", "", ("auth.json",)),
        ),
        full_access=("--force",),
        no_edits="it can only propose changes, or do everything",
        prompt="file",
        tested=False,
        hosts=("*.cursor.sh",),
    ),
    AgentInfo(
        "model",
        "a model itself, through Ollama or any OpenAI-compatible server",
        "plait.agents.drivers.model_agent:ModelAgent",
        install="pip install 'plait[model]'",
        reports=CostReporting.TOKENS,
        is_program=False,
        prompt="",
    ),
    AgentInfo(
        "shell",
        "the command of the task's own `run:`",
        "plait.agents.drivers.shell:ShellAgent",
        reports=CostReporting.FREE,
        is_program=False,
        prompt="",
    ),
    AgentInfo(
        "command",
        "any command: --agent-command 'tool {task_file}'",
        "plait.agents.drivers.command:CommandAgent",
        prompt="stdin or file",
        is_program=False,
    ),
)
AGENTS: Mapping[str, AgentInfo] = MappingProxyType({info.name: info for info in _AGENTS})
_MAX_NAMED = 3
_REFEREE_FACTORY = "plait.agents.drivers.referee:Referee"  # only contests give it tasks


def load_agent(spec: AgentSpec) -> Agent:
    """Load an agent; raises ConfigError. An agent with a command is run by that command, whatever its name."""
    if spec.command:
        path = AGENTS["command"].factory
    elif spec.name in AGENTS:
        path = AGENTS[spec.name].factory
    elif spec.name == REFEREE:
        path = _REFEREE_FACTORY
    else:
        path = spec.name if is_dotted_path(spec.name) else _find_plugin(spec.name)
    return _import_factory(path)(spec)


def find_provider(spec: AgentSpec) -> str:
    """Return the provider whose rate limits an agent shares, without importing plait's drivers; raises ConfigError."""
    info = AGENTS.get(spec.name)
    if spec.account:
        return spec.account
    return load_agent(spec).provider if info is None or spec.command else info.find_provider(spec)


def find_program(spec: AgentSpec) -> str:
    """Return the program that has to be installed for an agent; "" if there is none, or it is not known."""
    if spec.command:
        first = spec.command[0]
        return "" if spec.shell or "{" in first else first
    info = AGENTS.get(spec.name)
    return spec.program or (info.program if info is not None else "")


def describe_full_access(permissions: Mapping[str, Permission]) -> str:
    """Say in one line which of these agents do everything without asking, and how to change that; "" if none does."""
    infos = [AGENTS[name] for name in permissions if name in AGENTS and AGENTS[name].is_unrestricted(permissions[name])]
    if not infos:
        return ""
    names = [f"{info.name} ({' '.join(info.full_access)})" if info.full_access else info.name for info in infos]
    example = next((info for info in infos if not info.no_edits), None)
    setting = f'{example.name} = "edits"' if example else f'{infos[0].name} = "own"'
    return (
        f"{join_names(names, _MAX_NAMED)} {'runs' if len(infos) == 1 else 'run'} with permission prompts disabled and can do"
        f" anything you can. To change that: {setting} under [agents.permissions]."
    )


def explain_unsupported(agent: str, task: Task) -> str | None:
    """Say why this agent can't take this task, as a text to follow the task's name; None if nothing is known before it
    starts.

    This is asked before the agent is loaded: a task file must not choose which module is imported.
    """
    if task.agent == agent and is_dotted_path(agent):
        return f"has a module as its agent ({agent}), which only settings and flags may name"
    if agent == REFEREE:
        return f"has {REFEREE} as its agent, which only contests use (--contest)"
    if not (task.model or "").isprintable():
        return "has a model whose name contains an unprintable character"
    if agent != "shell":
        return None
    from plait.agents.drivers.shell import explain_missing_run  # only where the agent is used

    return explain_missing_run(task)


def _find_plugin(name: str) -> str:
    """Return the factory that an installed package registers under this name; raises ConfigError."""
    from importlib.metadata import entry_points  # slow: it looks at every package

    point = next(iter(entry_points(group=ENTRY_POINT_GROUP, name=name)), None)
    if point is not None:
        return point.value
    near = get_close_matches(name, AGENTS, n=1)
    hint = f"Did you mean {near[0]}? " if near else ""
    raise ConfigError(
        f"there is no agent called {name}",
        hint=f"{hint}`plait agents` lists them; --agent-command runs any command.",
    )


def _import_factory(path: str) -> AgentFactory:
    module, _, name = path.rpartition(":" if ":" in path else ".")
    try:
        factory = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise ConfigError(
            f"the agent {path} can't be loaded: {error}", hint="Write it as package.module:Factory."
        ) from error
    return cast("AgentFactory", factory)


def render_reference() -> str:
    """Render the table of docs/agents.md."""
    rows = ["| agent | tool | install | prompt | resumes | reports |", "|---|---|---|---|---|---|"]
    for info in AGENTS.values():
        install = f"`{info.install}`" if info.install else ""
        tool = info.description if info.tested else f"{info.description} (untested)"
        resumes = ("yes" if info.resumes else "no") if info.program else ""
        rows.append(f"| `{info.name}` | {tool} | {install} | {info.prompt} | {resumes} | {info.reports.value} |")
    return "\n".join([*rows, ""])


if __name__ == "__main__":
    print(render_reference(), end="")  # noqa: T201 - its purpose
