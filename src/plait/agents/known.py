"""The agents that plait knows of: what their programs are called, how to get them, and who can be driven already."""

from __future__ import annotations

from plait.core.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Known:
    """`driven`: this plait can. `command` is what to give to `--agent-command` as long as it can't."""

    name: str
    about: str
    program: str = ""
    install: str = ""
    command: str = ""
    driven: bool = False


def _npm(name: str, about: str, package: str, command: str = "") -> Known:
    return Known(name, about, name, f"npm install -g {package}", command)


def _pip(name: str, about: str, package: str, command: str = "") -> Known:
    return Known(name, about, name, f"pip install {package}", command)


KNOWN = (
    Known("shell", "the command of the task's own `run:`", driven=True),
    Known("command", "any command: --agent-command 'tool {task_file}'", driven=True),
    _npm("claude", "Claude Code", "@anthropic-ai/claude-code", "claude -p --permission-mode acceptEdits"),
    _npm("codex", "Codex", "@openai/codex", "codex exec -s workspace-write -"),
    _npm("gemini", "Gemini CLI", "@google/gemini-cli", "gemini --yolo"),
    _npm("opencode", "OpenCode", "opencode-ai", "opencode run"),
    _pip("aider", "Aider", "aider-chat", "aider --message-file {prompt_file} --yes-always --no-auto-commits"),
    _npm("qwen", "Qwen Code", "@qwen-code/qwen-code", "qwen --yolo"),
    _npm("copilot", "GitHub Copilot CLI", "@github/copilot"),
    _pip("mini", "mini-swe-agent", "mini-swe-agent"),
    _npm("pi", "Pi", "@mariozechner/pi-coding-agent", "pi -p"),
    _npm("cn", "Continue", "@continuedev/cli"),
    _npm("cline", "Cline", "cline"),
    Known("cube", "Agent Cube", "cube", command="cube auto {task_file}"),
    Known("amp", "Amp", "amp"),
    Known("goose", "Goose", "goose"),
    Known("cursor-agent", "Cursor Agent", "cursor-agent"),
)
BY_NAME = {known.name: known for known in KNOWN}
