"""`plait trust`: what a repository's own settings would run is looked at, trusted, listed and revoked."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.cli_runner import CliResult, OutputCapture, ask

TWO = '[run]\nverify = "make test"\ngate = "make check"\n'


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("PLAIT_VERIFY", "PLAIT_GATE"):
        monkeypatch.delenv(name, raising=False)
    made = tmp_path / "repository"
    subprocess.run(["git", "init", "--quiet", str(made)], check=True)
    return made


def read_standings(answer: CliResult) -> dict[str, tuple[str, str | None]]:
    return {each["key"]: (each["standing"], each["before"]) for each in json.loads(answer.out)["commands"]}


def test_without_commands_there_is_nothing_to_trust(top: Path, capsys: OutputCapture) -> None:
    (top / "plait.toml").write_text("[run]\nretries = 3\n")
    answer = ask(capsys, top, "trust", "--yes")
    assert (answer.code, answer.err) == (0, "")
    assert "nothing to trust" in answer.out
    assert not (top / ".git" / "plait").exists()


def test_the_commands_are_shown_with_their_locations_and_not_trusted_without_an_answer(
    top: Path, capsys: OutputCapture
) -> None:
    (top / "plait.toml").write_text(TWO)
    answer = ask(capsys, top, "trust")
    assert answer.code == 2
    assert "make test  (run.verify, plait.toml:2) new" in answer.out
    assert "make check  (run.gate, plait.toml:3) new" in answer.out
    assert f"plait -C {top} trust --yes" in answer.err
    assert read_standings(ask(capsys, top, "trust", "--json")) == {
        "run.verify": ("new", None),
        "run.gate": ("new", None),
    }


def test_yes_trusts_the_commands(top: Path, capsys: OutputCapture) -> None:
    (top / "plait.toml").write_text(TWO)
    assert ask(capsys, top, "trust", "--yes").code == 0
    again = ask(capsys, top, "trust")
    assert again.code == 0
    assert "All of them are trusted." in again.out


def test_changed_and_new_commands_are_marked_and_trusted_ones_stay(top: Path, capsys: OutputCapture) -> None:
    (top / "plait.toml").write_text(TWO)
    ask(capsys, top, "trust", "--yes")
    (top / "plait.toml").write_text('[run]\nverify = "make test; curl"\ngate = "make check"\nagent_command = "x"\n')
    answer = ask(capsys, top, "trust", "--json")
    assert answer.code == 3
    assert read_standings(answer) == {
        "run.agent_command": ("new", None),
        "run.verify": ("changed", "make test"),
        "run.gate": ("trusted", None),
    }
    assert "it was: make test" in ask(capsys, top, "trust").out
    (top / "plait.toml").write_text(TWO)
    assert ask(capsys, top, "trust").code == 0


def test_the_same_command_under_another_key_is_not_trusted(top: Path, capsys: OutputCapture) -> None:
    (top / "plait.toml").write_text('[run]\nverify = "make test"\n')
    ask(capsys, top, "trust", "--yes")
    (top / "plait.toml").write_text('[run]\ngate = "make test"\n')
    assert ask(capsys, top, "trust", "--json").code == 3


def test_the_same_command_run_by_a_shell_is_not_trusted(top: Path, capsys: OutputCapture) -> None:
    (top / "plait.toml").write_text('[run]\nagent_command = "tool {title}"\n')
    ask(capsys, top, "trust", "--yes")
    (top / "plait.toml").write_text('[run]\nagent_command = "tool {title}"\nagent_shell = true\n')
    answer = ask(capsys, top, "trust", "--json")
    assert answer.code == 3
    assert read_standings(answer) == {"run.agent_command with run.agent_shell": ("new", None)}


def test_every_command_of_the_settings_is_shown(top: Path, capsys: OutputCapture) -> None:
    (top / "plait.toml").write_text(
        '[workspace]\nsetup = "npm ci"\n[merge.regenerate]\n"a.lock" = "make a"\n"b.lock" = "make b"\n'
    )
    shown = ask(capsys, top, "trust", "--yes").out
    assert "  npm ci  (workspace.setup, plait.toml:2) new\n" in shown
    assert '  [["a.lock", "make a"], ["b.lock", "make b"]]  (merge.regenerate, plait.toml:' in shown
    assert ask(capsys, top, "trust", "--json").code == 0


def test_commands_in_pyproject_need_trust_too(top: Path, capsys: OutputCapture) -> None:
    (top / "pyproject.toml").write_text('[tool.plait.run]\nverify = "make test"\n')
    assert "pyproject.toml:2" in ask(capsys, top, "trust").out


def test_a_linked_worktree_is_the_same_repository(top: Path, capsys: OutputCapture, tmp_path: Path) -> None:
    (top / "plait.toml").write_text(TWO)
    ask(capsys, top, "trust", "--yes")
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (
        ["add", "."],
        [*who, "commit", "-qm", "x"],
        ["worktree", "add", "-q", str(tmp_path / "two")],
    ):
        subprocess.run(["git", "-C", str(top), *words], check=True, capture_output=True)
    assert ask(capsys, tmp_path / "two", "trust", "--json").code == 0


def test_trusted_commands_can_be_listed_and_revoked(top: Path, capsys: OutputCapture) -> None:
    (top / "plait.toml").write_text(TWO)
    ask(capsys, top, "trust", "--yes")
    listed = ask(capsys, top.parent, "trust", "--list")
    assert listed.out.startswith(f"{top}\n")
    assert "make check  (run.gate, since 2" in listed.out
    (repository,) = json.loads(ask(capsys, top.parent, "trust", "--list", "--json").out)["repositories"]
    assert repository["repository"] == str(top)
    assert {each["value"] for each in repository["commands"]} == {"make test", "make check"}
    assert "no longer trusted: make test  (run.verify)" in ask(capsys, top, "trust", "--revoke").out
    assert ask(capsys, top, "trust", "--json").code == 3
    assert ask(capsys, top, "trust", "--list").out == "No repository's commands are trusted.\n"
    assert json.loads(ask(capsys, top, "trust", "--revoke", "--json").out)["revoked"] == []


def test_yes_list_and_revoke_exclude_each_other(top: Path, capsys: OutputCapture) -> None:
    answer = ask(capsys, top, "trust", "--yes", "--revoke")
    assert answer.code == 2
    assert "Use one of them." in answer.err


def test_control_characters_in_commands_are_escaped(top: Path, capsys: OutputCapture) -> None:
    hidden = r"true\u001b[2K\rmake test\u202e\u200b" + " " * 300 + "; rm -rf ~"
    (top / "plait.toml").write_text(f'[run]\nverify = "{hidden}"\ngate = "one\\ntwo  (run.gate, trusted)"\n')
    shown = ask(capsys, top, "trust").out
    assert r"true\x1b[2K\rmake test\u202e\u200b [300 spaces] ; rm -rf ~" in shown
    assert "  one  (run.gate, plait.toml:3) new\n  │ two  (run.gate, trusted)\n" in shown
    assert not {"\x1b", "\r", "\u202e", "\u200b"} & set(shown)
    ask(capsys, top, "trust", "--yes")
    assert r"\x1b[2K\r" in ask(capsys, top, "trust", "--list").out
    refused = ask(capsys, top, "trust", "--revoke").out
    assert not {"\x1b", "\r"} & set(refused)


def test_trust_is_not_stored_in_the_repository(top: Path, capsys: OutputCapture) -> None:
    (top / "plait.toml").write_text(TWO)
    ask(capsys, top, "trust", "--yes")
    (top / "plait.toml").unlink()
    inside = [path for path in top.rglob("*") if path.is_file() and b"make" in path.read_bytes()]
    assert [path for path in inside if "hooks" not in path.parts] == []
