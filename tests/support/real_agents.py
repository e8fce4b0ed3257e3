"""A project for tests of the real coding tools, with a scripted model server as their provider.

The tools read their settings from the project's own home folder: nothing of the user's is read or changed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.cli_runner import CliResult
from tests.support.model_server.messages import Usage
from tests.support.model_server.server import ModelServer
from tests.support.temp_project import TempProject, temp_project

# Any: tests read any field.
Json = dict[str, Any]

_NPM_BIN = Path("tests/realagents/cli/node_modules/.bin")
_MODEL = "scripted"
TOOL_TIMEOUT_SECONDS = 240.0
_USAGE = Usage(input=20_000, output=400, cached=1_000)
API_KEY = "sk-scripted-0123456789abcdef"


@dataclass(frozen=True)
class InstalledTool:
    """A coding tool as it is installed for the tests. `model` is empty when the tool's own settings name the model."""

    name: str
    model: str = ""
    python: bool = False  # it has a virtual environment of its own
    resumes: bool = True  # it can resume a session
    shell: bool = True  # it runs commands for the model
    tokens: bool = True  # it reports tokens, not only the cost
    warm_up_args: tuple[str, ...] = ()  # a first start, for files that two processes must not create at once
    start_seconds: float = 40.0  # until its first request, on a busy machine
    max_refusals: int = 7  # after which it gives up, once `limit_retries` was called

    def program(self, top: Path) -> Path:
        """`top` is plait's own checkout."""
        if self.python:
            return Path(sys.prefix) / "agents" / self.name / "bin" / self.name
        return top / _NPM_BIN / self.name


INSTALLED_TOOLS = {
    tool.name: tool
    for tool in (
        InstalledTool("claude", start_seconds=8.0, max_refusals=3),
        InstalledTool("codex", start_seconds=8.0),
        InstalledTool("gemini", model="gemini-2.5-pro"),
        InstalledTool("opencode", warm_up_args=("session", "list")),
        InstalledTool("aider", model=f"openai/{_MODEL}", python=True, resumes=False, shell=False),
        InstalledTool("qwen"),
        # It reports only the cost, with two digits, and only of models that it knows.
        InstalledTool("mini", model="openai/gpt-4o", python=True, resumes=False, tokens=False),
    )
}


@dataclass
class RealAgentProject(TempProject):
    """`tool` is the coding tool under test."""

    tool: InstalledTool = field(default_factory=lambda: INSTALLED_TOOLS["claude"])
    server: ModelServer = field(default_factory=ModelServer)

    def write_job(self, name: str, *lines: str) -> None:
        """Write a task whose text holds directives for the scripted model."""
        self.write(f"tasks/{name}.md", "\n".join([f"# {name}", "", *lines]))

    def use_server(self, faults: str = "", tag: str = "job") -> None:
        """Make the server the tool's provider, with these faults."""
        base = self.server.client_url(tag, faults)
        self._write_home_files(tool_settings_files(base))
        self.env.update(tool_variables(base))

    def limit_retries(self) -> None:
        """Let the tool give up earlier on its provider, where user settings can do that.

        Two refusals come before the last one, which names no time: plait knows by then how long to wait.
        """
        self._write_home_files({".claude/settings.json": json.dumps({"env": {"CLAUDE_CODE_MAX_RETRIES": "2"}})})

    def _write_home_files(self, texts: Mapping[str, str]) -> None:
        for name, text in texts.items():
            path = Path(self.env["HOME"]) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def run(self, *words: str, env: Mapping[str, str] | None = None) -> tuple[int, str]:
        """`plait run` with the tool on all tasks: the exit code and all output."""
        answer = self.finish(self.start_run(*words, env=env))
        return answer.code, answer.out + answer.err

    def start_run(self, *words: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        return self.start("run", "tasks", "--yes", "--agent", self.tool.name, *words, env=env)

    def finish(self, front: subprocess.Popen[str]) -> CliResult:
        out, err = front.communicate(timeout=TOOL_TIMEOUT_SECONDS)
        return CliResult(front.returncode, out, err)

    def read_tasks(self) -> dict[str, Json]:
        """Each task of `plait status --json`, by id."""
        (batch,) = json.loads(self.plait("status", "--json").out)["batches"]
        return {task["taskId"]: task for task in batch["tasks"]}

    def transcript(self) -> str:
        """The output of all attempts, for messages of failed tests."""
        found = sorted((self.top / ".git" / "plait").rglob("transcript*"))
        return "\n".join(f"== {path}\n{path.read_text(errors='replace')[-6000:]}" for path in found)


def tool_settings_files(base: str) -> dict[str, str]:
    """Settings files, by path in the home folder, for tools without a variable for the provider's address."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{base}/v1", "apiKey": API_KEY},
        "models": {_MODEL: {"name": _MODEL, "cost": {"input": 1, "output": 4}}},
    }
    opencode = {"permission": "allow", "model": f"scripted/{_MODEL}", "provider": {"scripted": provider}}
    codex = (
        f'model = "{_MODEL}"\nmodel_provider = "scripted"\n[model_providers.scripted]\nname = "scripted"\n'
        f'base_url = "{base}/v1"\nwire_api = "responses"\nenv_key = "SCRIPTED_KEY"\n'
    )
    return {
        ".codex/config.toml": codex,
        "config/opencode/opencode.json": json.dumps(opencode),
        ".gemini/settings.json": json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}}),
    }


def tool_variables(base: str) -> dict[str, str]:
    """Variables that point the other tools to the server, and that turn off telemetry and updates."""
    return {
        "ANTHROPIC_BASE_URL": base,
        "ANTHROPIC_API_KEY": API_KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",  # as root, Claude Code takes no permission without it
        "SCRIPTED_KEY": API_KEY,
        "GEMINI_API_KEY": API_KEY,
        "GOOGLE_GEMINI_BASE_URL": base,
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENAI_API_KEY": API_KEY,
        "OPENAI_BASE_URL": f"{base}/v1",
        "OPENAI_API_BASE": f"{base}/v1",
        "OPENAI_MODEL": _MODEL,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "MSWEA_CONFIGURED": "true",
        "MSWEA_COST_TRACKING": "ignore_errors",
    }


@contextmanager
def real_agent_project(folder: Path, tool: InstalledTool, top: Path) -> Iterator[RealAgentProject]:
    """`top` is plait's own checkout. Raises FileNotFoundError when the tool is not installed there."""
    program = tool.program(top)
    if not program.exists():
        raise FileNotFoundError(
            f"{program} is not installed. `make unit` installs two of the tools, `make test-agents` all of them"
        )
    with ModelServer(usage=_USAGE) as server, temp_project(folder, worktrees=True, forks=False) as plain:
        tools = folder / "tools"
        tools.mkdir()
        (tools / tool.name).symlink_to(program)
        made = RealAgentProject(
            plain.folder, plain.env, plain.cli_processes, plain.terminals, plain.forks, tool, server
        )
        made.env["PATH"] = f"{tools}{os.pathsep}{made.env['PATH']}"
        models = f'models = {{ {tool.name} = "{tool.model}" }}\n' if tool.model else ""
        made.write("plait.toml", f'[agents]\n{models}prices = {{ "*" = [1, 4] }}')
        made.use_server()
        if tool.warm_up_args:
            made.finish(made.popen([str(program), *tool.warm_up_args]))
        yield made
