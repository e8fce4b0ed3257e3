"""Which sandbox an attempt gets, and which secrets."""

from __future__ import annotations

import pytest

from plait.agents.interface import AgentSpec
from plait.agents.table import AGENTS
from plait.core.decisions import AttemptStarted
from plait.core.settings import SandboxMode
from plait.core.task import Attempt, Step, Task, make_gate_attempt
from plait.engine.confinement import (
    REGISTRY_HOSTS,
    build_sandbox_spec,
    choose_mode,
    confine_environment,
    list_kept_variables,
)
from plait.runtime.sandbox.hosts import parse_host_rule
from plait.store.batch_files import BatchInputs, SandboxOptions

OFF, AUTO, WORKTREE, STRICT, CONTAINER = SandboxMode
ENVIRONMENT = {
    "PATH": "/bin",
    "ANTHROPIC_API_KEY": "sk-ant-0123456789",
    "OPENAI_API_KEY": "sk-0123456789abcdef",
    "AWS_SECRET_ACCESS_KEY": "abcdefgh0123456789",
    "GITHUB_TOKEN": "ghp_0123456789abcdef",
    "NPM_TOKEN": "npm_0123456789abcdef",
    "SSH_AUTH_SOCK": "/tmp/ssh/agent",
    "DOCKER_HOST": "unix:///run/docker.sock",
    "TMPDIR": "/var/folders/x",
}


def make_inputs(*tasks: Task, agents: tuple[AgentSpec, ...] = (), options: SandboxOptions | None = None) -> BatchInputs:
    return BatchInputs("/top", tasks, agents, sandbox=options or SandboxOptions())


def start(agent: str = "claude", step: Step = Step.WRITE, command: str | None = None) -> AttemptStarted:
    return AttemptStarted(Attempt("7f3a", "a", step, 1), agent, agent, 60.0, 60.0, command=command)


def test_an_agents_own_sandbox_replaces_the_batchs() -> None:
    inputs = make_inputs(agents=(AgentSpec("codex", sandbox=OFF),))
    assert choose_mode(inputs, start("codex"), Task("a"), WORKTREE) is OFF
    assert choose_mode(inputs, start("claude"), Task("a"), WORKTREE) is WORKTREE


def test_a_task_gets_a_stronger_sandbox_never_a_weaker_one() -> None:
    assert choose_mode(make_inputs(), start(), Task("a", sandbox="strict"), WORKTREE) is STRICT
    assert choose_mode(make_inputs(), start(), Task("a", sandbox="worktree"), STRICT) is STRICT


def test_a_gate_gets_the_strongest_of_all() -> None:
    gate = AttemptStarted(make_gate_attempt("7f3a", 1), "gate", "gate", 60.0, 60.0, command="make test")
    assert choose_mode(make_inputs(Task("a", sandbox="worktree"), Task("b")), gate, Task(""), OFF) is WORKTREE
    assert choose_mode(make_inputs(agents=(AgentSpec("x", sandbox=STRICT),)), gate, Task(""), OFF) is STRICT


def test_checks_are_confined_unless_the_settings_say_otherwise() -> None:
    check = start("", Step.VERIFY, "make test")
    assert build_sandbox_spec(make_inputs(), check, Task("a"), WORKTREE) is not None
    inputs = make_inputs(options=SandboxOptions(include_checks=False))
    assert build_sandbox_spec(inputs, check, Task("a"), WORKTREE) is None
    spec = build_sandbox_spec(inputs, start(), Task("a"), WORKTREE)
    assert spec is not None
    assert not spec.confine_setup
    assert build_sandbox_spec(inputs, start(), Task("a"), OFF) is None


def kept_secrets(inputs: BatchInputs, decision: AttemptStarted) -> set[str]:
    confined = confine_environment(ENVIRONMENT, list_kept_variables(inputs, decision))
    return {name for name in ENVIRONMENT if confined.get(name) == ENVIRONMENT[name]} - {"PATH"}


def test_an_attempt_gets_the_key_of_its_agent_and_no_other() -> None:
    assert kept_secrets(make_inputs(), start("claude")) == {"ANTHROPIC_API_KEY"}
    assert kept_secrets(make_inputs(), start("codex")) == {"OPENAI_API_KEY"}
    assert kept_secrets(make_inputs(), start("copilot")) == {"GITHUB_TOKEN"}
    assert kept_secrets(make_inputs(), start("", Step.VERIFY, "make test")) == set()


def test_the_settings_add_secrets() -> None:
    inputs = make_inputs(options=SandboxOptions(variables=("NPM_TOKEN",)))
    assert kept_secrets(inputs, start("", Step.VERIFY, "make test")) == {"NPM_TOKEN"}


@pytest.mark.parametrize(
    ("command", "shell", "kept"),
    [
        (("/opt/bin/claude", "-p"), False, {"ANTHROPIC_API_KEY"}),
        (("claude -p | tee log",), True, {"ANTHROPIC_API_KEY"}),
        (("mytool",), False, {"ANTHROPIC_API_KEY", "OPENAI_API_KEY"}),  # it may need any of them, but no forge's
    ],
)
def test_a_command_is_recognised_by_its_program(command: tuple[str, ...], kept: set[str], *, shell: bool) -> None:
    inputs = make_inputs(agents=(AgentSpec("command", command, shell=shell),))
    assert kept_secrets(inputs, start("command")) == kept


def test_a_command_can_read_the_files_that_it_names() -> None:
    spec = build_sandbox_spec(
        make_inputs(agents=(AgentSpec("command", ("bash", "/home/me/agent.sh", "{task_file}")),)),
        start("command"),
        Task("a"),
        WORKTREE,
    )
    assert spec is not None
    assert spec.programs == ("bash", "/home/me/agent.sh")


def test_the_session_of_the_user_is_left_out_and_temporary_files_go_to_the_sandbox() -> None:
    confined = confine_environment(ENVIRONMENT, ())
    assert "SSH_AUTH_SOCK" not in confined
    assert "DOCKER_HOST" not in confined
    assert (confined["TMPDIR"], confined["IS_SANDBOX"]) == ("/tmp", "1")


def find_hosts(agent: str, environment: dict[str, str], options: SandboxOptions | None = None) -> set[str]:
    spec = build_sandbox_spec(make_inputs(options=options), start(agent), Task("a"), STRICT, environment)
    assert spec is not None
    return {*spec.hosts} - {*REGISTRY_HOSTS}


def test_a_strict_attempt_reaches_its_provider_wherever_the_user_says_it_is() -> None:
    assert find_hosts("claude", {}) == {*AGENTS["claude"].hosts}
    assert "127.0.0.1:8080" in find_hosts("claude", {"ANTHROPIC_BASE_URL": "http://127.0.0.1:8080/v1"})
    assert "models.corp:443" in find_hosts("codex", {"OPENAI_BASE_URL": "https://models.corp/v1"})
    assert find_hosts("claude", {"ANTHROPIC_BASE_URL": "nonsense://["}) == {*AGENTS["claude"].hosts}


def test_the_settings_add_hosts_and_checks_reach_no_provider() -> None:
    options = SandboxOptions(hosts=("*.example.org",))
    check = build_sandbox_spec(make_inputs(options=options), start("", Step.VERIFY, "make"), Task("a"), STRICT)
    assert check is not None
    assert {*check.hosts} == {"*.example.org", *REGISTRY_HOSTS}


def test_programs_of_a_strict_attempt_find_the_proxy() -> None:
    spec = build_sandbox_spec(make_inputs(), start(), Task("a"), STRICT)
    assert confine_environment(ENVIRONMENT, (), spec)["HTTPS_PROXY"].startswith("http://127.0.0.1:")
    assert "HTTPS_PROXY" not in confine_environment(ENVIRONMENT, ())


def test_every_host_of_an_agent_or_a_registry_is_a_rule() -> None:
    for host in (*REGISTRY_HOSTS, *(host for info in AGENTS.values() for host in info.hosts)):
        parse_host_rule(host)
