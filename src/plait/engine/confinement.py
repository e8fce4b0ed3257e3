"""How an attempt is confined: its sandbox, by the batch, the agent and the task; and an environment without secrets."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from types import MappingProxyType
from urllib.parse import urlsplit

from plait.agents.interface import AgentSpec
from plait.agents.redaction import is_secret
from plait.agents.table import AGENTS, AgentInfo
from plait.config.sandbox_keys import pick_stronger
from plait.core.contest import REFEREE
from plait.core.decisions import AttemptStarted
from plait.core.settings import SandboxMode
from plait.core.task import Step, Task
from plait.runtime.sandbox.detection import resolve_mode
from plait.runtime.sandbox.hosts import parse_host_rule
from plait.runtime.sandbox.spec import SandboxLimits, SandboxSpec
from plait.store.batch_files import BatchInputs, SandboxOptions

# Sockets and files of the user's session that a sandbox doesn't have.
_SESSION_VARIABLES = frozenset(
    """
    SSH_AUTH_SOCK SSH_AGENT_PID SSH_ASKPASS GIT_ASKPASS GPG_AGENT_INFO GPG_TTY DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR
    DISPLAY WAYLAND_DISPLAY XAUTHORITY SESSION_MANAGER DOCKER_HOST CONTAINER_HOST KUBECONFIG GOOGLE_APPLICATION_CREDENTIALS
    AWS_PROFILE AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE GNOME_KEYRING_CONTROL VSCODE_IPC_HOOK_CLI TMUX TMUX_PANE
    """.split()  # noqa: SIM905 - a list would be 20 lines
)
_SANDBOX_VARIABLES = {
    "TMPDIR": "/tmp",  # noqa: S108 - the sandbox's own
    "IS_SANDBOX": "1",  # Claude Code asks for it when it runs as root
}
_JUDGE_NAME = re.compile(r'"name": ?"([\w-]+)"')
# Where the user's own settings say that a provider is.
_ADDRESS_VARIABLES = (
    *("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_BASE", "GOOGLE_GEMINI_BASE_URL", "OLLAMA_API_BASE"),
    *("OLLAMA_HOST", "COPILOT_PROVIDER_BASE_URL", "OPENROUTER_BASE_URL", "DEEPSEEK_BASE_URL"),
)
# Where packages are downloaded from. No forges, where anybody can write; some of these take uploads with an account, too.
REGISTRY_HOSTS = (
    *(
        "registry.npmjs.org",
        "registry.yarnpkg.com",
        "pypi.org",
        "files.pythonhosted.org",
        "crates.io",
        "index.crates.io",
    ),
    *("static.crates.io", "proxy.golang.org", "sum.golang.org", "rubygems.org", "index.rubygems.org"),
    *("repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org", "repo.packagist.org", "packagist.org"),
    *("hex.pm", "repo.hex.pm", "api.nuget.org"),
)
_FILTERED_MODES = frozenset({SandboxMode.STRICT, SandboxMode.CONTAINER})
# Keys of forges are no keys of models: an unknown command doesn't get them.
_FORGE_VARIABLES = frozenset({"GH_TOKEN", "GITHUB_TOKEN"})


def choose_mode(inputs: BatchInputs, decision: AttemptStarted, task: Task, batch_mode: SandboxMode) -> SandboxMode:
    """Return the agent's mode, else the batch's; a task may ask for a stronger one. A gate gets the strongest of all."""
    if decision.attempt.is_gate:
        modes = [
            *(spec.sandbox for spec in inputs.agents if spec.sandbox is not None),
            *(SandboxMode(each.sandbox) for each in inputs.tasks if each.sandbox),
        ]
        return reduce(pick_stronger, modes, batch_mode)
    own = inputs.find_agent(decision.agent).sandbox
    mode = batch_mode if own is None else own
    return pick_stronger(mode, SandboxMode(task.sandbox)) if task.sandbox else mode


def build_sandbox_spec(
    inputs: BatchInputs,
    decision: AttemptStarted,
    task: Task,
    batch_mode: SandboxMode,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> SandboxSpec | None:
    """Build the attempt's sandbox; None if it has none. `environment` is the user's."""
    mode, options = choose_mode(inputs, decision, task, batch_mode), inputs.sandbox
    if mode is SandboxMode.AUTO:  # a setting that was changed for an open batch
        mode = resolve_mode(mode, options.image).mode
    if mode is SandboxMode.OFF or (decision.attempt.step is Step.VERIFY and not options.include_checks):
        return None
    infos = [] if decision.command is not None else _find_infos(inputs, decision)
    return SandboxSpec(
        mode,
        options.readable,
        options.writable,
        folders=tuple(folder for info in infos for folder in info.folders),
        copied_files=tuple(file for info in infos for file in info.home_files),
        programs=_list_named_files(inputs.find_agent(decision.agent)) if decision.command is None else (),
        confine_setup=options.include_checks,
        hosts=list_hosts(options, infos, environment, inputs.find_agent(decision.agent))
        if mode in _FILTERED_MODES
        else (),
        limits=SandboxLimits(options.memory, options.processes, options.disk),
        image=options.image,
    )


def list_hosts(
    options: SandboxOptions, infos: Sequence[AgentInfo], environment: Mapping[str, str], agent: AgentSpec
) -> tuple[str, ...]:
    """List the hosts that can be reached: the provider's, also where the user's own variables set its address, package
    registries, and those in the settings.
    """
    urls = [environment.get(name, "") for name in _ADDRESS_VARIABLES] if infos else []
    urls += [value for name, value in agent.options if name == "base_url"]
    own = [host for url in urls if (host := _find_host(url))]
    provider = [host for info in infos for host in info.hosts]
    return tuple(dict.fromkeys((*provider, *own, *REGISTRY_HOSTS, *options.hosts)))


def _find_host(url: str) -> str:
    """Return the address's host and port as a rule for hosts; "" if it has none."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    default = {"https": 443, "http": 80}.get(parts.scheme, 0)
    rule = f"{f'[{host}]' if ':' in host else host}:{port or default}"
    with suppress(ValueError):
        parse_host_rule(rule)
        return rule
    return ""


def list_kept_variables(inputs: BatchInputs, decision: AttemptStarted) -> frozenset[str]:
    """List the secrets that the attempt gets: its agent's key, and what the settings name."""
    kept = {*inputs.sandbox.variables}
    if decision.command is None:
        infos = _find_infos(inputs, decision)
        known = infos or [info for info in AGENTS.values() if info.login is not None]
        names = {name for info in known if info.login is not None for name in (*info.login.variables, *info.variables)}
        kept |= names if infos else names - _FORGE_VARIABLES
        kept |= {value for name, value in inputs.find_agent(decision.agent).options if name == "key"}
    return frozenset(kept)


def confine_environment(
    environment: Mapping[str, str], kept: Collection[str], spec: SandboxSpec | None = None
) -> dict[str, str]:
    """Return the environment without secrets, except those `kept`, and without what leads to the user's session."""
    rest = {
        name: value
        for name, value in environment.items()
        if name in kept or (name not in _SESSION_VARIABLES and not is_secret(name, value))
    }
    if spec is None or spec.mode not in _FILTERED_MODES:
        return rest | _SANDBOX_VARIABLES
    from plait.runtime.sandbox.network import build_environment  # only where the network is filtered

    return rest | _SANDBOX_VARIABLES | build_environment(spec.hosts)


def _find_infos(inputs: BatchInputs, decision: AttemptStarted) -> list[AgentInfo]:
    """Return the records of the agent, also of one that a command runs; of a referee, that of its judge."""
    spec = inputs.find_agent(decision.agent)
    if spec.name == REFEREE:  # its options hold the judge's spec as JSON
        names = {name for _, value in spec.options for name in _JUDGE_NAME.findall(value)}
        return [AGENTS[name] for name in sorted(names) if name in AGENTS and AGENTS[name].is_program]
    info = AGENTS.get(_find_program(spec) if spec.command else spec.name)
    return [info] if info is not None and info.is_program else []


def _find_program(spec: AgentSpec) -> str:
    words = _split_command(spec)
    return words[0].rpartition("/")[2] if words else ""


def _list_named_files(spec: AgentSpec) -> tuple[str, ...]:
    """List the program, and the absolute paths that the user's own command names: scripts, settings."""
    info = AGENTS.get(spec.name)
    program = spec.program or (info.program if info is not None else "")
    words = _split_command(spec)
    named = [word for word in (*words, *spec.args) if word.startswith("/") and "{" not in word]
    return tuple(dict.fromkeys(filter(None, (program, *words[:1], *named))))


def _split_command(spec: AgentSpec) -> list[str]:
    if not spec.shell:
        return list(spec.command)
    try:
        return shlex.split(spec.command[0])
    except ValueError:
        return spec.command[0].split()
