from __future__ import annotations

import json
import os
import resource
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from plait.cli.commands import init as module
from plait.cli.commands.init import Prompt, ask_on_terminal, init_command, init_project
from plait.client.repo_scan import examine_source
from plait.client.trust import list_repo_commands
from plait.config.config import Config
from plait.config.loading import load_config
from plait.core.errors import PlaitError, UserError, WorldError
from plait.git.location import find_repo

MAKEFILE = "test:\n\ttouch ran\n"


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with three tasks, one of them done, and a test command."""
    top = tmp_path / "repo"
    (top / "tasks").mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", str(top)], check=True)
    (top / "tasks" / "01-one.md").write_text("# One\n\nDo it.\n")
    (top / "tasks" / "02-two.md").write_text("# Two\n\n**Status:** done\n\nDo it.\n")
    (top / "tasks" / "03-three.md").write_text("# Three\n\nDo it.\n")
    (top / "Makefile").write_text(MAKEFILE)
    return top


@pytest.fixture
def path(tmp_path: Path) -> Callable[..., str]:
    """A PATH on which there are these programs, and make."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def make(*names: str) -> str:
        for name in ("make", *names):
            (folder / name).touch(0o755)
        return str(folder)

    return make


class Init:
    """`plait init`, its output, and the settings that come of it."""

    def __init__(self) -> None:
        self._file = StringIO()

    # Any: each test names only the flags that it is about.
    def __call__(self, where: Path, ask: Prompt | None = None, path: str | None = None, **options: Any) -> int:
        with redirect_stdout(self._file):
            return init_project(where, ask, path=path, **options)

    @property
    def output(self) -> str:
        return self._file.getvalue()


def write_node_project(top: Path) -> None:
    (top / "package.json").write_text('{"scripts": {"test": "jest"}, "devDependencies": {"jest": "30"}}')
    (top / "package-lock.json").write_text("{}")


def settings(top: Path) -> Config:
    return load_config(top, environment={}, user=top / "no such file")


def answers(*texts: str) -> Prompt:
    """A person who says this, one after another, and keeps what is there with an empty answer."""
    left = list(texts)

    def ask(text: str, default: str) -> str:  # noqa: ARG001 - as a prompt is called
        return left.pop(0) or default

    return ask


def refuse_to_ask(text: str, default: str) -> str:
    raise AssertionError(f"asked: {text} [{default}]")


def refusal(kind: type[PlaitError], run: Callable[[], object]) -> PlaitError:
    with pytest.raises(kind) as raised:
        run()
    return raised.value


def test_detected_settings_apply_afterwards(repo: Path, path: Callable[..., str]) -> None:
    assert Init()(repo, path=path("codex", "claude")) == 0
    config = settings(repo)
    assert config.sources.paths == ("tasks",)
    assert config.run.agent == ("claude",)
    assert config.run.verify == "make test"


def test_detected_settings_are_printed_with_their_reasons(repo: Path, path: Callable[..., str]) -> None:
    init = Init()
    init(repo, path=path("codex", "aider", "qwen"))
    lines = init.output.splitlines()
    assert lines[0].split() == ["sources", "tasks", "folder", "·", "2", "of", "3", "tasks", "open"]
    assert lines[1].split(maxsplit=2) == ["agent", "codex", "installed; so are aider, qwen"]
    assert lines[2].split(maxsplit=3) == ["verify", "make", "test", "the makefile has a target test"]


def test_the_last_lines_print_the_next_step(repo: Path) -> None:
    init = Init()
    init(repo)
    *_, wrote, agent, trust, then = init.output.splitlines()
    assert wrote == f"Wrote {repo / 'plait.toml'}."
    assert agent == "No agent is set: install one, or set agent under [run]."
    assert trust == "`plait trust` shows its commands, which run only after you trust them."
    assert "`plait plan`" in then


def test_the_test_command_is_never_run(repo: Path) -> None:
    Init()(repo)
    assert not (repo / "ran").exists()


def test_the_file_is_short(repo: Path, path: Callable[..., str]) -> None:
    write_node_project(repo)
    Init()(repo, path=path("claude", "npm"))
    text = (repo / "plait.toml").read_text()
    assert text.splitlines()[1:] == [
        "",
        "[run]",
        'agent = ["claude"]',
        'verify = "make test"',
        "",
        "[sources]",
        'paths = ["tasks"]',
        "",
        "[workspace]",
        'setup = "npm ci"',
        'setup_reads = ["package.json", "package-lock.json"]',
        'setup_makes = ["node_modules"]',
    ]


def test_without_an_agent_the_setting_is_omitted_and_a_hint_printed(repo: Path) -> None:
    init = Init()
    init(repo)
    assert settings(repo).run.agent == ()
    assert "\n#agent = []  # " in (repo / "plait.toml").read_text()
    assert "No agent is set" in init.output


def test_a_less_tested_agent_is_mentioned_but_not_chosen(repo: Path, path: Callable[..., str]) -> None:
    init = Init()
    init(repo, path=path("goose"))
    assert settings(repo).run.agent == ()
    assert "but goose" in init.output


def test_an_unreadable_source_is_reported_and_left_out(repo: Path) -> None:
    (repo / "TODO.md").write_text("Buy some milk.\n")
    init = Init()
    init(repo)
    assert settings(repo).sources.paths == ("tasks",)
    [line] = [line for line in init.output.splitlines() if "TODO.md" in line]
    assert "left out: unknown format, no tasks read" in line


def test_a_source_whose_name_toml_cannot_hold_is_left_out(repo: Path) -> None:
    folder = repo / "specs" / os.fsdecode(b"caf\xe9")
    folder.mkdir(parents=True)
    (folder / "tasks.md").write_text("- [ ] T001 Do it\n")
    init = Init()
    init(repo)
    assert settings(repo).sources.paths == ("tasks",)
    assert '"specs/caf\\udce9/tasks.md"' in init.output


def test_a_file_is_written_even_if_nothing_is_detected(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    init = Init()
    assert init(tmp_path) == 0
    config = settings(tmp_path)
    assert (config.sources.paths, config.run.agent, config.run.verify) == ((), (), None)
    assert not (tmp_path / "tasks").exists()
    assert init.output.count("none found") == 3


def test_control_characters_in_a_name_are_escaped(repo: Path) -> None:
    folder = repo / "specs" / "a\x1b[31m\nb"
    folder.mkdir(parents=True)
    (folder / "tasks.md").write_text("- [ ] T001 Do it\n")
    init = Init()
    init(repo)
    assert "\x1b" not in init.output
    assert settings(repo).sources.paths == ("tasks", "specs/a\x1b[31m\nb/tasks.md")


def test_markup_in_a_name_is_printed_literally(repo: Path) -> None:
    (repo / "specs" / "[bold]:smile:").mkdir(parents=True)
    (repo / "specs" / "[bold]:smile:" / "tasks.md").write_text("- [ ] T001 Do it\n")
    init = Init()
    init(repo)
    assert "specs/[bold]:smile:/tasks.md" in init.output


def test_the_file_is_written_to_the_top_of_the_repository(repo: Path) -> None:
    (repo / "src").mkdir()
    Init()(repo / "src")
    assert (repo / "plait.toml").exists()
    assert not (repo / "src" / "plait.toml").exists()


def test_outside_of_a_repository_the_file_is_written_to_the_current_folder(tmp_path: Path) -> None:
    init = Init()
    init(tmp_path)
    assert f"{tmp_path} is not in a git repository" in init.output.splitlines()[0]
    assert (tmp_path / "plait.toml").exists()


@pytest.mark.parametrize("old", ["[run]\nretries = 5\n", "not TOML at all", ""])
def test_an_existing_file_is_not_overwritten(repo: Path, old: str) -> None:
    (repo / "plait.toml").write_text(old)
    error = refusal(UserError, lambda: Init()(repo))
    assert error.message == "plait.toml already exists"
    assert "--force" in error.hint
    assert "plait config" in error.hint
    assert (repo / "plait.toml").read_text() == old


@pytest.mark.parametrize("old", ["[run]\nretries = 5\n", "not TOML at all"])
def test_force_overwrites_an_existing_file(repo: Path, old: str) -> None:
    (repo / "plait.toml").write_text(old)
    assert Init()(repo, force=True) == 0
    assert settings(repo).run.retries == 2


def test_a_dangling_symlink_counts_as_an_existing_file(repo: Path) -> None:
    (repo / "plait.toml").symlink_to("elsewhere")
    error = refusal(UserError, lambda: Init()(repo))
    assert error.message == "plait.toml already exists"
    assert not (repo / "elsewhere").exists()


@pytest.mark.parametrize("force", [False, True])
def test_settings_in_pyproject_prevent_a_plait_toml(repo: Path, *, force: bool) -> None:
    (repo / "pyproject.toml").write_text("[tool.plait.run]\nretries = 5\n")
    error = refusal(UserError, lambda: Init()(repo, force=force))
    assert "[tool.plait]" in error.message
    assert "plait config" in error.hint
    assert settings(repo).run.retries == 5


def test_a_pyproject_without_settings_does_not_prevent_init(repo: Path) -> None:
    (repo / "pyproject.toml").write_text("[tool.ruff]\n")
    assert Init()(repo) == 0


def test_of_two_concurrent_inits_one_fails(repo: Path) -> None:
    both = Barrier(2)

    def run(word: str) -> str:
        def ask(text: str, default: str) -> str:
            both.wait()
            return word if text == "Test command" else default

        try:
            init_project(repo, ask)
        except UserError as error:
            return error.message
        return word

    with ThreadPoolExecutor(2) as threads:
        result = set(threads.map(run, ("one", "two")))
    result.remove("another process has just created plait.toml: it was not changed")
    assert result == {settings(repo).run.verify}


def test_a_file_that_cannot_be_written_is_a_world_error(repo: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        error = refusal(WorldError, lambda: Init()(repo))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert error.message == f"{repo / 'plait.toml'} can't be written: File too large"
    assert error.hint
    assert not list(repo.glob("*plait.toml*"))


def test_a_folder_named_plait_toml_is_reported(repo: Path) -> None:
    (repo / "plait.toml").mkdir()
    error = refusal(WorldError, lambda: Init()(repo, force=True))
    assert error.hint == "Move the folder of that name away."


def test_empty_answers_keep_the_suggestions(repo: Path, path: Callable[..., str]) -> None:
    questions = []

    def ask(text: str, default: str) -> str:
        questions.append((text, default))
        return default

    Init()(repo, ask=ask, path=path("gemini"))
    assert questions == [
        ("Sources", "tasks"),
        ("Agent", "gemini"),
        ("Setup command", "none"),
        ("Test command", "make test"),
    ]
    config = settings(repo)
    assert (config.sources.paths, config.run.agent, config.run.verify) == (
        ("tasks",),
        ("gemini",),
        "make test",
    )


def test_answers_replace_the_suggestions(repo: Path) -> None:
    (repo / "ideas.md").write_text("- [ ] Do this\n- [ ] Do that\n")
    ask = answers("tasks, ideas.md", "codex, claude", "npm i", 'sh -c "exit 0"')
    Init()(repo, ask=ask)
    config = settings(repo)
    assert config.sources.paths == ("tasks", "ideas.md")
    assert config.run.agent == ("codex", "claude")
    assert config.workspace.setup == "npm i"
    assert config.run.verify == 'sh -c "exit 0"'


def test_the_answer_none_omits_a_setting(repo: Path, path: Callable[..., str]) -> None:
    Init()(repo, ask=answers("none", "no", " None ", "none", "none"), path=path("claude"))
    config = settings(repo)
    assert (config.sources.paths, config.run.agent, config.run.verify) == ((), (), None)
    assert config.workspace.setup is None


def test_another_setup_command_is_not_cached_like_the_suggested_one(repo: Path, path: Callable[..., str]) -> None:
    write_node_project(repo)
    Init()(repo, ask=answers("", "", "make deps", ""), path=path("npm"))
    workspace = settings(repo).workspace
    assert (workspace.setup, workspace.setup_reads, workspace.setup_makes) == ("make deps", (), ())


def test_a_typed_command_whose_program_is_missing_is_reported(repo: Path) -> None:
    init = Init()
    init(repo, ask=answers("", "", "", "no-such-tool test"))
    assert "no-such-tool is not installed, and `no-such-tool test` needs it." in init.output
    assert settings(repo).run.verify == "no-such-tool test"


def test_an_invalid_answer_is_asked_again(repo: Path) -> None:
    init = Init()
    init(repo, ask=answers("taks", "tasks", "a,,b", "claude", "", ""))
    assert "taks: no such source" in init.output
    assert "this must be" in init.output
    assert settings(repo).sources.paths == ("tasks",)


def test_a_source_with_a_comma_in_its_name_can_be_kept(repo: Path) -> None:
    (repo / "specs" / "a, b").mkdir(parents=True)
    (repo / "specs" / "a, b" / "tasks.md").write_text("- [ ] T001 Do it\n")
    Init()(repo, ask=answers("", "", "", ""))
    assert settings(repo).sources.paths == ("tasks", "specs/a, b/tasks.md")


def test_a_prompt_escapes_control_characters_of_the_default(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("\nother\n"))
    assert ask_on_terminal("Sources", "a\x1b[31m") == "a\x1b[31m"
    assert ask_on_terminal("Sources", "a") == "other"
    assert capsys.readouterr().out == 'Sources ["a\\u001b[31m"]: Sources [a]: '


def test_end_of_input_counts_as_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO())
    with pytest.raises(KeyboardInterrupt):
        ask_on_terminal("Sources", "tasks")


def test_an_interrupt_leaves_no_file(repo: Path) -> None:
    def ask(text: str, default: str) -> str:
        if text == "Agent":
            raise KeyboardInterrupt
        return default

    with pytest.raises(KeyboardInterrupt):
        Init()(repo, ask=ask)
    assert not (repo / "plait.toml").exists()


@pytest.mark.parametrize(
    ("terminal", "flags"),
    [(True, {"yes": True}), (True, {"as_json": True}), (False, {})],
    ids=["--yes", "--json", "no terminal"],
)
def test_init_does_not_prompt_with_yes_json_or_without_a_terminal(
    repo: Path, monkeypatch: pytest.MonkeyPatch, *, terminal: bool, flags: dict[str, bool]
) -> None:
    monkeypatch.setattr(module, "is_interactive", lambda: terminal)
    monkeypatch.setattr(module, "ask_on_terminal", refuse_to_ask)
    assert init_command(repo, **flags) == 0
    assert settings(repo).run.verify == "make test"


def test_json_of_a_source_whose_name_is_not_utf_8(repo: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(repo / "specs") + b"/f\xffo"))
    folder.mkdir(parents=True)
    (folder / "tasks.md").write_text("## Phase 1: x\n- [ ] T001 a\n")
    init = Init()
    assert init(repo, as_json=True) == 0
    assert "specs/f\udcffo/tasks.md" in [source["path"] for source in json.loads(init.output)["sources"]]


def test_json_contains_what_was_detected_and_written(repo: Path, path: Callable[..., str]) -> None:
    (repo / "TODO.md").write_text("Buy some milk.\n")
    init = Init()
    assert init(repo, as_json=True, path=path("claude", "pi")) == 0
    data = json.loads(init.output)
    problem = data["sources"][1].pop("problem")
    assert problem.startswith("unknown format, no tasks read")
    assert data == {
        "written": str(repo / "plait.toml"),
        "repository": True,
        "sources": [
            {"path": "tasks", "format": "folder", "open": 2, "total": 3, "problem": None},
            {"path": "TODO.md", "format": None, "open": 0, "total": 0},
        ],
        "agents": ["claude", "pi"],
        "agent": "claude",
        "setup": None,
        "setupReason": None,
        "verify": "make test",
        "verifyReason": "the makefile has a target test",
        "missing": None,
        "sampleTask": None,
        "trusted": False,
    }


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """A repository without tasks."""
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    return tmp_path


def test_a_sample_task_is_offered_if_there_is_no_task(empty: Path) -> None:
    init = Init()
    init(empty, ask=answers("", "maybe", "y", "", "", ""))
    assert "this must be yes or no" in init.output
    assert "Wrote a sample task, tasks/01-overview.md." in init.output
    assert settings(empty).sources.paths == ("tasks",)
    assert examine_source(find_repo(empty), "tasks").open == 1


def test_a_sample_task_is_written_without_questions_only_if_asked_for(empty: Path) -> None:
    Init()(empty)
    assert not (empty / "tasks").exists()
    Init()(empty, sample=True, force=True)
    assert settings(empty).sources.paths == ("tasks",)
    assert (empty / "tasks" / "01-overview.md").exists()


def test_no_sample_task_is_written_beside_others(repo: Path) -> None:
    Init()(repo, sample=True)
    assert len(list((repo / "tasks").iterdir())) == 3


def test_a_file_in_the_place_of_the_sample_folder_stays(empty: Path) -> None:
    (empty / "tasks").write_text("mine")
    Init()(empty, sample=True)
    assert (empty / "tasks").read_text() == "mine"
    assert settings(empty).sources.paths == ()


def list_trusted(top: Path) -> list[tuple[str, str, bool]]:
    commands = list_repo_commands(settings(top), find_repo(top))
    return [(command.key, command.value, command.trusted) for command in commands]


def test_confirmed_commands_are_trusted(repo: Path, path: Callable[..., str]) -> None:
    write_node_project(repo)
    init = Init()
    init(repo, ask=answers("", "", "", "make check"), confirmed=True, path=path("npm"))
    assert list_trusted(repo) == [("run.verify", "make check", True), ("workspace.setup", "npm ci", True)]
    assert "Trusted in this repository: `make check`, `npm ci`." in init.output


def test_commands_that_nobody_confirmed_are_not_trusted(repo: Path) -> None:
    init = Init()
    init(repo)
    assert list_trusted(repo) == [("run.verify", "make test", False)]
    assert "`plait trust` shows its commands" in init.output


@pytest.mark.parametrize(
    ("terminal", "flags", "trusted"),
    [(False, {"yes": True}, True), (False, {}, False), (True, {"as_json": True}, False), (True, {}, True)],
    ids=["--yes", "no terminal", "--json", "terminal"],
)
def test_only_an_answer_or_yes_confirms_a_command(
    repo: Path, monkeypatch: pytest.MonkeyPatch, *, terminal: bool, flags: dict[str, bool], trusted: bool
) -> None:
    monkeypatch.setattr(module, "is_interactive", lambda: terminal)
    monkeypatch.setattr(module, "ask_on_terminal", lambda _, default: default)
    init_command(repo, **flags)
    assert list_trusted(repo) == [("run.verify", "make test", trusted)]


def test_trust_that_cannot_be_saved_is_a_warning(
    repo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "state").write_text("a file")
    assert Init()(repo, confirmed=True) == 0
    assert "plait run will ask" in capsys.readouterr().err
    assert list_trusted(repo) == [("run.verify", "make test", False)]
