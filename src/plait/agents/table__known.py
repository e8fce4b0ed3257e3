"""The agents that plait knows of: what their programs are called, how to get them, how to log in."""

from __future__ import annotations

from plait.core.fast_dataclass import dataclass


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


def _npm(
    name: str, description: str, package: str, login: AgentLogin, default_provider: str = ""
) -> KnownAgent:
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
