"""`plait plan --prompt`: exactly what an agent would be given."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli_runner import CliResult, ask
from tests.support.temp_project import TempProject, temp_project as make_project


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nobody"))
    here = tmp_path / "repository"
    (here / "tasks").mkdir(parents=True)
    (here / "tasks" / "01-walls.md").write_text("---\ntouches: [src/walls.py]\n---\n# Walls\n\nPut {title} up.\n")
    (here / "tasks" / "02-roof.md").write_text("---\nrun: |\n  touch roof\n---\n# Roof\n")
    (here / "tasks" / "03-done.md").write_text("---\nstatus: done\n---\n# Done\n")
    return here


def shown(capsys: pytest.CaptureFixture[str], top: Path, *words: str) -> CliResult:
    return ask(capsys, top, "plan", "tasks", "--prompt", *words)


def test_only_the_prompt_is_printed(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = shown(capsys, top, "01")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("# Walls\n\nPut {title} up.\n\n## Rules\n")
    assert "`src/walls.py`" in answer.out


def test_the_command_of_a_script_is_printed(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = shown(capsys, top, "02-roof")
    assert (answer.code, answer.out) == (0, "touch roof\n")
    assert "is a script" in answer.err


def test_the_prompt_of_a_completed_task_can_be_printed(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, top, "03").out.startswith("# Done\n")


@pytest.mark.parametrize(
    ("word", "message", "hint"),
    [
        ("0", "0 could be 01-walls", "Write more"),
        ("01-wals", "no task 01-wals", "01-walls?"),
        ("roof", "no task roof", "02-roof?"),
    ],
)
def test_an_unknown_task_is_an_error_with_a_suggestion(
    top: Path, capsys: pytest.CaptureFixture[str], word: str, message: str, hint: str
) -> None:
    answer = shown(capsys, top, word)
    assert answer.code == 2
    assert message in answer.err
    assert hint in answer.err
    result = shown(capsys, top, word, "--json")
    assert result.code == 2
    assert message in json.loads(result.out)["problems"][0]["message"]


def test_the_prompt_can_be_printed_as_json(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(shown(capsys, top, "01", "--json").out)
    assert data == {
        "taskId": "01-walls",
        "agents": ["shell"],
        "prompt": shown(capsys, top, "01").out,
        "run": None,
    }


@pytest.mark.parametrize(
    ("setting", "text", "message"),
    [
        ("prompts/mine.md", None, "plait.toml:2: the prompt template prompts/mine.md can't be read"),
        ("mine.md", "a\n{tasks}", "mine.md:2: the prompt template has an unknown placeholder {tasks}"),
        (
            "../mine.md",
            "{task}",
            "plait.toml:2: the prompt template ../mine.md is outside the repository",
        ),
        ("tasks", None, "can't be read: there is no such file"),
    ],
)
def test_an_invalid_template_is_refused(
    top: Path, capsys: pytest.CaptureFixture[str], setting: str, text: str | None, message: str
) -> None:
    (top / "plait.toml").write_text(f"[run]\nprompt = '{setting}'\n")
    if text is not None:
        (top / setting).write_text(text)
    answer = shown(capsys, top, "01")
    assert answer.code == 2
    assert message in answer.err


def test_a_template_outside_of_the_repository_is_refused(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (top.parent / "private").write_text("{task}")
    (top / "mine.md").symlink_to(top.parent / "private")
    (top / "plait.toml").write_text("[run]\nprompt = 'mine.md'\n")
    assert "is outside" in shown(capsys, top, "01").err


def test_printing_a_prompt_loads_no_module_of_the_repository(
    top: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (top / "spy_of_prompts.py").write_text(f"open({str(top / 'loaded')!r}, 'w').close()\n")
    monkeypatch.syspath_prepend(top)
    (top / "plait.toml").write_text("[run]\nagent = 'spy_of_prompts:Agent'\nfallback = 'spy_of_prompts:Agent'\n")
    result = shown(capsys, top, "01", "--json")
    assert json.loads(result.out)["agents"] == ["spy_of_prompts:Agent"]
    assert not (top / "loaded").exists()


def test_the_users_settings_may_name_any_template(
    top: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (top.parent / "mine.md").write_text("Be quick.\n\n{task}\n")
    monkeypatch.setenv("PLAIT_PROMPT", str(top.parent / "mine.md"))
    assert shown(capsys, top, "01").out == "Be quick.\n\n# Walls\n\nPut {title} up.\n"


def test_the_printed_prompt_is_the_one_that_the_agent_gets(tmp_path: Path) -> None:
    with make_project(tmp_path) as project:
        project.task("01-walls", touches="[src/walls.py]", verify="'true'")
        project.write("mine.md", "For {id} in {workspace}:\n\n{task}\n\n{rules}\n\n{feedback}")
        for template in ("", "mine.md"):
            project.write("plait.toml", f"[run]\nprompt = '{template}'\n")
            _same(project)


def test_what_a_command_gets_instead_of_a_prompt_is_printed(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (top / "plait.toml").write_text("[run]\nagent_command = 'mine {task_file}'\n")
    answer = shown(capsys, top, "01")
    assert answer.out == "# Walls\n\nPut {title} up.\n"
    assert "the command gets the task as a file, and no prompt" in answer.err


def test_an_agent_that_answers_with_files_is_told_how(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = shown(capsys, top, "01").out
    (top / "plait.toml").write_text("[run]\nagent = 'claude'\n[agents]\nreplies = ['claude']\n")
    told = shown(capsys, top, "01").out
    assert told.startswith(f"{plain}\n## How to answer")


def _same(project: TempProject) -> None:
    shown = project.plait("plan", "tasks", "--prompt", "01").out
    assert "## Rules" in shown
    (project.top / "tasks" / "01-walls.md").write_text(project.read("tasks/01-walls.md").replace("status: done", ""))
    answer = project.plait("run", "tasks", "--again", "--agent-command", "tee ../prompt.txt")
    assert answer.code == 0, answer
    assert (project.top.parent / "prompt.txt").read_text() == shown
    project.wait_for_exit()
    project.task("01-walls", touches="[src/walls.py]", verify="'true'")
