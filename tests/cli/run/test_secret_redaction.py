"""A secret in the environment, in a task or in an agent's output is visible only to the agent, also after the batch."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.support.temp_project import TempProject, temp_project as make
from tests.support.waiting import wait_until

ENVIRONMENT = "zebra-of-the-environment-41"
TASK_ENV = "zebra-of-a-task-42"
IN_TITLE = "sk-ant-api03-ZebraOfTheTitle43"
IN_BODY = "ghp_ZebraOfTheBody440123456789abcdef"
IN_RUN = "zebra-of-the-script-45"
SECRETS = (ENVIRONMENT, TASK_ENV, IN_TITLE, IN_BODY, IN_RUN)

# Where the task's own texts lie, for its agent.
FOR_AGENTS = {"kit.json", "prompt.md", "script.sh", "02-fails.md"}

SAYS = """
echo "═══ Phase 1: use $DEPLOY_TOKEN and $TASK_PASSWORD ═══"
printf -- '-H "Authorization: Bearer %s"\\n' "$DEPLOY_TOKEN"
cat; echo
echo ${#DEPLOY_TOKEN} ${#TASK_PASSWORD} > "$HOME/begun-$PLAIT_TASK_ID"; until [ -e "$HOME/go" ]; do sleep 0.02; done
"""
TALKING = f"""
from plait.agents.interface import Command, CostReporting, PhaseStarted, QuestionAsked
from plait.core.reports import Outcome
from plait.core.settings import NO_SPEND
from plait.core.status import Category


class Agent:
    reports = CostReporting.FREE

    def __init__(self, spec):
        self.name = self.provider = spec.name

    def build_command(self, context):
        text = {SAYS!r} + 'echo "ask: may I use $DEPLOY_TOKEN?"'
        files = (("script.sh", text),)
        return Command(("sh", f"{{context.folder}}/script.sh"), context.prompt_file, files=files)

    def create_parser(self, before=NO_SPEND):
        return Parser()


class Parser:
    question = ""

    def feed(self, line):
        if line.startswith("ask: "):
            self.question = line
            return (QuestionAsked(line),)
        return (PhaseStarted(line),) if "Phase" in line else ()

    def finish(self, code, tail, printed_at):
        return Outcome(Category.QUESTION, code, tail[-100:], question=self.question)
"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[TempProject]:
    with make(tmp_path, worktrees=True) as made:
        made.commit_all()
        modules = tmp_path / "modules"
        modules.mkdir()
        (modules / "talking.py").write_text(TALKING)
        fails = f'{SAYS}\necho "Error: no access with $DEPLOY_TOKEN for {IN_BODY}" >&2; exit 1'
        (tmp_path / "agent.sh").write_text(fails)
        made.env |= {
            **made.python_path(modules),
            "PLAIT_AGENT_COMMAND": f"sh {tmp_path}/agent.sh {{title}} {{task_id}}",
        }
        own = f"env: {{TASK_PASSWORD: {TASK_ENV}}}"
        script = f"echo {IN_RUN} | wc -c > size\n{SAYS}".replace("\n", "\n  ")
        write(made, "01-script", f"{own}\nrun: |\n  {script}")
        write(made, "02-fails", f"{own}\nagent: command")
        write(made, "03-asks", own)
        yield made


def write(project: TempProject, name: str, front: str) -> None:
    body = f"# Use {IN_TITLE} in {name}\n\nThe key is {IN_BODY}."
    project.write(f"tasks/{name}.md", f"---\n{front}\n---\n{body}")


def found(text: str | bytes) -> list[str]:
    data = text.encode() if isinstance(text, str) else text
    return [secret for secret in SECRETS if secret.encode() in data]


def command_lines() -> Iterator[str]:
    for process in psutil.process_iter():
        try:
            yield " ".join(process.cmdline())
        except (psutil.Error, OSError):
            continue


def answers(project: TempProject) -> Iterator[tuple[str, str]]:
    """Everything that people and programs can ask for. Whoever asks has no secret in their own environment."""
    yield from ((verb, _answer(project, *verb.split())) for verb in ("status", "status --json", "history"))
    for task in ("01-script", "02-fails", "03-asks"):
        for verb in ("explain", "explain --json", "logs", "logs --raw", "logs --json"):
            name, *flags = verb.split()
            yield f"{verb} {task}", _answer(project, name, task, *flags)


def _answer(project: TempProject, *words: str) -> str:
    answer = project.plait(*words)
    assert answer.code == 0, answer
    return answer.out + answer.err


def test_only_the_agent_sees_a_secret(project: TempProject) -> None:
    home = Path(project.env["HOME"])
    sources = {path: path.read_text() for path in (project.top / "tasks").iterdir()}
    words = ("run", "tasks", "--json", "--yes", "-a", "talking:Agent", "--retries", "0", "-p", "3")
    front = project.start(*words, env={"DEPLOY_TOKEN": ENVIRONMENT})
    wait_until(lambda: len(list(home.glob("begun-*"))) == len(sources))

    assert [line for line in command_lines() if found(line)] == []
    result = dict(answers(project))
    assert {name: found(text) for name, text in result.items() if found(text)} == {}
    assert "Authorization: Bearer ***" in result["logs --raw 02-fails"]
    assert "use *** and ***" in result["logs 03-asks"]

    (home / "go").touch()
    answer = project.finish(front)
    assert answer.code in {1, 3}, answer
    events = [json.loads(line) for line in answer.out.splitlines()]
    assert {event["type"] for event in events} >= {
        "execution:log",
        "batch:task:failed",
        "batch:task:phase",
        "batch:task:needs_input",
    }
    assert (found(answer.out), found(answer.err)) == ([], [])
    assert "no access with ***" in answer.out
    result = dict(answers(project))
    kept = {name: found(text) for name, text in result.items() if found(text)}
    assert kept == {}

    assert project.plait("cancel").code == 0
    project.wait_for_exit()
    looked_at_the_disk(project)
    for flags in ((), ("--raw",), ("--json",)):
        assert "use *** and ***" in _answer(project, "logs", "03-asks", *flags)
    for path, before in sources.items():
        assert sorted(found(path.read_text())) == sorted(found(before))
        assert path.read_text().count("zebra") == before.count("zebra")
    assert found(project.git("log", "--all", "--patch")) == []
    assert "Use *** in 01-script" in project.git("log", "--format=%B", project.branch)


def looked_at_the_disk(project: TempProject) -> None:
    """The journal knows nothing, nor does what agents printed; their texts are only theirs to read; the environment is gone."""
    state = project.top / ".git" / "plait"
    files = [path for path in state.rglob("*") if path.is_file()]
    assert {"journal.db", "inbox.db", "engine.log"} <= {path.name for path in files}
    holders = {path: found(path.read_bytes()) for path in files if found(path.read_bytes())}
    assert {path.name for path in holders} <= FOR_AGENTS
    assert [path for path, secrets in holders.items() if ENVIRONMENT in secrets] == []
    assert "fingerprints.json" in {path.name for path in files}
    assert {stat.S_IMODE(path.stat().st_mode) for path in holders} == {0o600}
    elsewhere = [
        path
        for path in project.top.parent.rglob("*")
        if path.is_file() and state not in path.parents and path.suffix not in {".sh", ".md"}
    ]
    assert [path for path in elsewhere if found(path.read_bytes())] == []


def test_the_agent_gets_its_secrets_and_its_transcript_is_private(project: TempProject) -> None:
    home = Path(project.env["HOME"])
    (home / "go").touch()
    env = {"DEPLOY_TOKEN": ENVIRONMENT}
    project.plait("run", "tasks", "-s", "02-fails", "--retries", "0", env=env)
    assert (home / "begun-02-fails").read_text().split() == [str(len(ENVIRONMENT)), str(len(TASK_ENV))]
    (transcript,) = (project.top / ".git" / "plait").rglob("transcript")
    assert stat.S_IMODE(transcript.stat().st_mode) == 0o600


def test_a_retry_gets_what_the_check_printed_without_secrets(project: TempProject) -> None:
    agent = project.top.parent / "retried.sh"
    agent.write_text('cat "$1" > "$HOME/prompt-$PLAIT_ATTEMPT"; echo $PLAIT_ATTEMPT > made\n')
    words = ("--agent-command", f"sh {agent} {{prompt_file}}", "-a", "command", "--retries", "1")
    check = 'echo "no access with $DEPLOY_TOKEN"; exit 1'
    project.plait("run", "tasks", "-s", "02-fails", *words, "--verify", check, env={"DEPLOY_TOKEN": ENVIRONMENT})
    prompt = (Path(project.env["HOME"]) / "prompt-2").read_text()
    assert "no access with ***\n" in prompt
    assert ENVIRONMENT not in prompt
    assert "\x7f" not in prompt  # nor what it is masked by on disk
    (kept,) = (project.top / ".git" / "plait").rglob("write-2/prompt.md")
    assert kept.read_text() == prompt
