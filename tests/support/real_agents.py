"""A workshop: a project in which the real coding tools are at hand, and their provider is a scripted model server.

Each tool finds a home of its own with the settings that lead it to the server: nothing of the user's is read or changed.
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

# As programs get it; a test that names a key that is not there fails.
Json = dict[str, Any]

_NPM_BIN = Path("tests/realagents/cli/node_modules/.bin")
_MODEL = "scripted"
TOOL_TIMEOUT_SECONDS = 240.0
_USAGE = Usage(input=20_000, output=400, cached=1_000)
API_KEY = "sk-scripted-0123456789abcdef"


@dataclass(frozen=True)
class InstalledTool:
    """A tool as it is installed for the tests. `model`: the one that is asked for; none: the tool's own settings say it."""

    name: str
    model: str = ""
    python: bool = False  # it has a virtual environment of its own
    resumes: bool = True  # a session can be gone on with
    shell: bool = True  # it runs commands for the model
    tokens: bool = True  # it tells them, not only the money
    warm_up_args: tuple[str, ...] = ()  # a first start that makes what several at once would quarrel about
    start_seconds: float = 40.0  # seconds in which it has asked its provider, on a busy machine
    max_refusals: int = 7  # after which it gives up when it is in a `hurry`

    def program(self, top: Path) -> Path:
        """`top` is plait's own checkout."""
        if self.python:
            return Path(sys.prefix) / "agents" / self.name / "bin" / self.name
        return top / _NPM_BIN / self.name


INSTALLED_TOOLS = {
    kind.name: kind
    for kind in (
        InstalledTool("claude", start_seconds=8.0, max_refusals=3),
        InstalledTool("codex", start_seconds=8.0),
        InstalledTool("gemini", model="gemini-2.5-pro"),
        InstalledTool("opencode", warm_up_args=("session", "list")),
        InstalledTool("aider", model=f"openai/{_MODEL}", python=True, resumes=False, shell=False),
        InstalledTool("qwen"),
        # It tells the money only, with two digits, of models that it knows.
        InstalledTool("mini", model="openai/gpt-4o", python=True, resumes=False, tokens=False),
    )
}


@dataclass
class RealAgentProject(TempProject):
    """`kind` is the tool that this one is about."""

    tool: InstalledTool = field(default_factory=lambda: INSTALLED_TOOLS["claude"])
    server: ModelServer = field(default_factory=ModelServer)

    def write_job(self, name: str, *lines: str) -> None:
        """A task whose text tells the model what to do."""
        self.write(f"tasks/{name}.md", "\n".join([f"# {name}", "", *lines]))

    def use_server(self, faults: str = "", tag: str = "job") -> None:
        """From now on the tool's provider is the server, with these faults."""
        base = self.server.client_url(tag, faults)
        self._write_home_files(tool_settings_files(base))
        self.env.update(tool_variables(base))

    def limit_retries(self) -> None:
        """The tool has less patience with its provider, where settings of the person's own can say so.

        Two refusals before the last one, which says no time, so that plait knows by then how long to wait.
        """
        self._write_home_files({".claude/settings.json": json.dumps({"env": {"CLAUDE_CODE_MAX_RETRIES": "2"}})})

    def _write_home_files(self, texts: Mapping[str, str]) -> None:
        for name, text in texts.items():
            path = Path(self.env["HOME"]) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def run(self, *words: str, env: Mapping[str, str] | None = None) -> tuple[int, str]:
        """`plait run` with the tool on all tasks: the exit code, and all that it said."""
        answer = self.finish(self.start_run(*words, env=env))
        return answer.code, answer.out + answer.err

    def start_run(self, *words: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        return self.start("run", "tasks", "--yes", "--agent", self.tool.name, *words, env=env)

    def finish(self, front: subprocess.Popen[str]) -> CliResult:
        out, err = front.communicate(timeout=TOOL_TIMEOUT_SECONDS)
        return CliResult(front.returncode, out, err)

    def read_tasks(self) -> dict[str, Json]:
        """What `plait status --json` says of each task."""
        (batch,) = json.loads(self.plait("status", "--json").out)["batches"]
        return {task["taskId"]: task for task in batch["tasks"]}

    def transcript(self) -> str:
        """Everything that attempts have printed, for a failed test to show."""
        found = sorted((self.top / ".git" / "plait").rglob("transcript*"))
        return "\n".join(f"== {path}\n{path.read_text(errors='replace')[-6000:]}" for path in found)


def tool_settings_files(base: str) -> dict[str, str]:
    """Settings of the tools that have no variable for their provider's address, by their place in the home folder."""
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
    """What leads the others to the server, and keeps all of them from calling home."""
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
def real_agent_project(folder: Path, kind: InstalledTool, top: Path) -> Iterator[RealAgentProject]:
    """`top` is plait's own checkout. Raises FileNotFoundError when the tool is not installed there."""
    program = kind.program(top)
    if not program.exists():
        raise FileNotFoundError(
            f"{program} is not installed. `make unit` installs the tools that every test run tries, `make test-agents` all"
        )
    with ModelServer(usage=_USAGE) as server, temp_project(folder, worktrees=True) as plain:
        tools = folder / "tools"
        tools.mkdir()
        (tools / kind.name).symlink_to(program)
        made = RealAgentProject(plain.folder, plain.env, plain.cli_processes, plain.terminals, kind, server)
        made.env["PATH"] = f"{tools}{os.pathsep}{made.env['PATH']}"
        models = f'models = {{ {kind.name} = "{kind.model}" }}\n' if kind.model else ""
        made.write("plait.toml", f'[agents]\n{models}prices = {{ "*" = [1, 4] }}')
        made.use_server()
        if kind.warm_up_args:
            made.finish(made.popen([str(program), *kind.warm_up_args]))
        yield made
