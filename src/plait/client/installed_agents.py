"""The agents on this machine: which are installed, in which version, whether they are logged in, and their settings.

A login is only guessed from variables and files: asking the provider may cost something.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from importlib.metadata import entry_points
from pathlib import Path
from tempfile import TemporaryFile

from plait.agents.interface import AgentSpec
from plait.agents.table import AGENTS, ENTRY_POINT_GROUP, AgentInfo, AgentLogin, describe_full_access
from plait.client.agent_specs import build_agent_specs, explain_missing, find_default_agent
from plait.client.json_encoding import api_model, fill_model
from plait.config.agent_keys import Permission
from plait.config.config import Config, Layer
from plait.core.fast_dataclass import dataclass
from plait.core.settings import Settings
from plait.system.processes import kill_process_group


class LoggedIn(StrEnum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@api_model
class LoginStatus:
    """Whether a tool is logged in. `by` is the name of a variable or file, never its content; `how` is how to log in."""

    logged_in: LoggedIn
    by: str | None
    how: str | None


@api_model
class InstalledAgent:
    """An agent on this machine. `path` and `version` are its program's, if it has one; `problem`: why the version is
    unknown. `default`: it works on tasks that name no agent.
    """

    name: str
    description: str
    available: bool
    path: str | None
    version: str | None
    problem: str | None
    tested: bool
    install: str | None
    login: LoginStatus
    default: bool
    model: str | None
    permission: Permission
    account: str | None


@api_model
class Agents:
    """All agents; `permissions` names the installed ones that do everything without asking."""

    agents: list[InstalledAgent]
    permissions: str | None


def describe_permissions(agents: Sequence[InstalledAgent]) -> str:
    """Name in one line the installed agents that do everything without asking; "" if there is none."""
    return describe_full_access({agent.name: agent.permission for agent in agents if agent.available})


def list_agents(config: Config) -> list[InstalledAgent]:
    """List all agents, including those of other packages. Runs their programs with `--version`."""
    specs = {spec.name: spec for spec in build_agent_specs(config)}
    agents = [*AGENTS.values(), *_list_plugins()]
    programs = _find_programs(config, agents)
    default_names = config.default_agents or find_default_agent(config) or Settings().agents
    return [
        _describe_agent(
            info,
            programs.get(info.name),
            specs.get(info.name, AgentSpec(info.name)),
            default=info.name in default_names,
        )
        for info in agents
    ]


def _describe_agent(info: AgentInfo, program: Program | None, spec: AgentSpec, *, default: bool) -> InstalledAgent:
    return fill_model(
        InstalledAgent,
        info,
        available=explain_missing(spec) is None if program is None else program.path is not None,
        path=program.path if program else None,
        version=program.version if program else None,
        problem=(program.problem or None) if program else None,
        install=info.install or None,
        login=detect_login(info.login, os.environ, Path.home(), keychain=sys.platform == "darwin"),
        default=default,
        model=spec.model or None,
        permission=spec.permission,
        account=spec.account or None,
    )


def _find_programs(config: Config, agents: Sequence[AgentInfo]) -> Mapping[str, Program]:
    """Find the agents' programs. One that only the repository's settings name is not run: it may not be trusted."""
    configured = dict(config.agents.programs)
    from_repository = config.origins["agents.programs"].layer is Layer.REPOSITORY
    wanted = {info.name: configured.get(info.name, info.program) for info in agents}
    probed = probe_programs(
        [program for name, program in wanted.items() if program and not (from_repository and name in configured)]
    )
    return {
        name: probed.get(program) or Program(program, shutil.which(program))
        for name, program in wanted.items()
        if program
    }


def _list_plugins() -> list[AgentInfo]:
    points = {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP) if point.name not in AGENTS}
    return [
        AgentInfo(
            name,
            f"from the package {point.dist.name}" if point.dist else "from another package",
            is_program=False,
            tested=False,
        )
        for name, point in sorted(points.items())
    ]


VERSION_TIMEOUT_SECONDS = 10.0  # some start slowly
_VERSION_NUMBER = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")
_MAX_OUTPUT_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Program:
    """An agent's program. `path` None: not installed. `version` None: unknown; `problem` then says why, if known."""

    name: str
    path: str | None = None
    version: str | None = None
    problem: str = ""


def probe_programs(
    names: Sequence[str], path: str | None = None, *, timeout: float = VERSION_TIMEOUT_SECONDS
) -> Mapping[str, Program]:
    """Run all programs with `--version` at once. `path` None: this process's PATH."""
    with ThreadPoolExecutor(max_workers=max(1, len(names))) as pool:
        return dict(zip(names, pool.map(lambda name: _probe_program(name, path, timeout), names), strict=True))


def _probe_program(name: str, path: str | None, timeout: float) -> Program:
    executable = shutil.which(name, path=path)
    if executable is None:
        return Program(name)
    try:
        output, code = _read_output([executable, "--version"], timeout)
    except subprocess.TimeoutExpired:
        return Program(name, executable, problem=f"no answer in {timeout:g} seconds")
    except OSError as error:
        return Program(name, executable, problem=error.strerror or str(error))
    number = _VERSION_NUMBER.search(output)
    if code:
        return Program(name, executable, problem=f"--version ended with exit status {code}")
    return Program(name, executable, number[0] if number else None)


def _read_output(command: Sequence[str], timeout: float) -> tuple[str, int]:
    """Return the output and exit status of a command. Output goes to a file: a process that a program leaves behind
    would keep a pipe open.
    """
    with TemporaryFile() as output:
        process = subprocess.Popen(  # a program that a person installed, and a fixed word
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            cwd="/",
        )
        try:
            code = process.wait(timeout)
        except BaseException:
            kill_process_group(process.pid)
            process.wait()
            raise
        output.seek(0)
        return output.read(_MAX_OUTPUT_BYTES).decode("utf-8", "replace"), code


_EMPTY_BYTES = 2  # bytes: `{}`


def detect_login(
    login: AgentLogin | None, environment: Mapping[str, str], home: Path, *, keychain: bool = False
) -> LoginStatus:
    """Guess whether a tool is logged in. `keychain`: the system's keychain holds what tools write into files elsewhere,
    so a missing file means nothing.
    """
    if login is None:
        return LoginStatus(LoggedIn.UNKNOWN, None, None)
    variable = next((name for name in login.variables if environment.get(name, "").strip()), None)
    if variable is not None:
        return LoginStatus(LoggedIn.YES, variable, login.how or None)
    file = next((name for name in login.files if _has_content(home / name)), None)
    if file is not None:
        return LoginStatus(LoggedIn.YES, f"~/{file}", login.how or None)
    is_unknowable = keychain or not login.files
    return LoginStatus(LoggedIn.UNKNOWN if is_unknowable else LoggedIn.NO, None, login.how or None)


def _has_content(path: Path) -> bool:
    try:
        return path.is_file() and path.stat().st_size > _EMPTY_BYTES
    except OSError:
        return False
