"""Where settings are looked for, and what is said of a file that can't be read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from plait.config.config import Config
from plait.config.loading import find_user_file, load_config
from plait.core.errors import ConfigError


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    return home


@pytest.fixture
def top(tmp_path: Path) -> Path:
    top = tmp_path / "repo"
    top.mkdir()
    return top


def at(where: Path, user: Path | None = None, **environment: str) -> Config:
    return load_config(where, environment=environment, user=user or where / "no-such-file")


def complaint(where: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        at(where)
    return str(caught.value)


def test_without_any_file_the_defaults_apply(top: Path) -> None:
    assert at(top).run.retries == 2


def test_all_layers_are_merged(top: Path, home: Path) -> None:
    mine = home / "config.toml"
    mine.write_text("[run]\nretries = 5\nrepairs = 5\ntimeout = '5m'\nverify_timeout = 5\nidle_timeout = 5\n")
    (top / "plait.toml").write_text("[run]\nrepairs = 6\ntimeout = '6m'\nverify_timeout = 6\nidle_timeout = 6\n")
    config = load_config(
        top,
        user=mine,
        saved={"timeout": "7", "verifyTimeout": "7", "idleTimeout": "7"},
        environment={"PLAIT_VERIFY_TIMEOUT": "8", "PLAIT_IDLE_TIMEOUT": "8"},
        flags={"run.idle_timeout": "9"},
    )
    run = config.run
    assert (run.retries, run.repairs, run.timeout, run.verify_timeout, run.idle_timeout) == (5, 6, 7, 8, 9)
    assert str(config.origins["run.retries"]) == f"{mine}:2"
    assert str(config.origins["run.repairs"]) == "plait.toml:2"


def test_variables_come_from_the_process_by_default(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAIT_RETRIES", "9")
    assert load_config(top, user=top / "none").run.retries == 9


def test_the_users_file_is_in_the_platforms_config_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    path = find_user_file()
    assert (path.name, path.parent.name) == ("config.toml", "plait")
    assert path.is_relative_to(home)


def test_only_the_file_at_the_top_of_a_repository_is_read(top: Path) -> None:
    (top.parent / "plait.toml").write_text("[run]\nretries = 5\n")
    (top / "deep").mkdir()
    (top / "deep" / "plait.toml").write_text("[run]\nretries = 5\n")
    assert at(top).run.retries == 2


def test_settings_can_be_in_pyproject(top: Path) -> None:
    (top / "pyproject.toml").write_text('[project]\nname = "x"\n\n[tool.plait]\nrun.retries = 5\n')
    config = at(top)
    assert (config.run.retries, str(config.origins["run.retries"])) == (5, "pyproject.toml:5")


def test_a_pyproject_that_only_mentions_plait_has_no_settings(top: Path) -> None:
    (top / "plait.toml").write_text("[run]\nretries = 5\n")
    (top / "pyproject.toml").write_text('[project]\ndependencies = ["plait"]\n[tool.other]\n')
    assert at(top).run.retries == 5


def test_settings_in_plait_toml_and_pyproject_are_refused(top: Path) -> None:
    (top / "plait.toml").write_text("")
    (top / "pyproject.toml").write_text("\n[tool.plait.run]\n")
    assert complaint(top).startswith(
        "there are settings in plait.toml and under [tool.plait] at pyproject.toml:2\n  Keep one of them"
    )


def test_a_tool_plait_that_is_no_table_is_an_error(top: Path) -> None:
    (top / "pyproject.toml").write_text("[tool]\nplait = 3\n")
    assert complaint(top) == "pyproject.toml:2: tool.plait must be a table"


@pytest.mark.parametrize("text", ["[broken", "[project]\nname = 'caf\xe9'\n"])
def test_a_broken_pyproject_matters_only_if_it_mentions_plait(top: Path, text: str) -> None:
    path = top / "pyproject.toml"
    path.write_bytes(text.encode("latin-1"))
    assert at(top).run.retries == 2
    path.write_bytes(f"# plait\n{text}".encode("latin-1"))
    assert complaint(top).startswith("pyproject.toml:")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[run]\nagent = claude\n", "plait.toml:2: this is not valid TOML: invalid value, at column 9"),
        (
            "[run]\nretries = 1\nretries = 2\n",
            "plait.toml:3: this is not valid TOML: cannot overwrite a value",
        ),
        ("[run]\n[run]\n", "plait.toml:2: this is not valid TOML: cannot declare"),
        ("[run]\nretries\n", "plait.toml:2: this is not valid TOML: expected '='"),
        ("[run]\n\nverify = '''\nabc\n", "plait.toml:4: this is not valid TOML: "),
        (f"a = {'9' * 5000}\n", "plait.toml:1: this is not valid TOML: "),
        (f"a = {'[' * 100_000}", "plait.toml"),
    ],
    ids=["value", "key", "table", "equals", "string", "digits", "depth"],
)
def test_invalid_toml_is_an_error_with_its_line(top: Path, text: str, said: str) -> None:
    (top / "plait.toml").write_text(text)
    assert complaint(top).startswith(said)


def test_a_byte_order_mark_and_carriage_returns_are_tolerated(top: Path) -> None:
    (top / "plait.toml").write_bytes(
        b"\xef\xbb\xbf[run]\r\nretries = 5\r\nverify = '''\r\nx = 1\r\n'''\r\nrepairs = 3\r\n"
    )
    config = at(top)
    assert (config.run.retries, config.run.verify) == (5, "x = 1")
    assert str(config.origins["run.repairs"]) == "plait.toml:6"


def test_a_line_that_is_not_utf_8_is_named(top: Path) -> None:
    (top / "plait.toml").write_bytes(b"[run]\nverify = 'caf\xe9'\n")
    assert complaint(top) == "plait.toml:2: this line is not UTF-8\n  Save the file as UTF-8."


def test_utf_16_is_not_utf_8(top: Path) -> None:
    (top / "plait.toml").write_bytes("[run]\n".encode("utf-16"))
    assert complaint(top).startswith("plait.toml:1: this line is not UTF-8")


def test_a_folder_of_that_name_is_an_error(top: Path) -> None:
    (top / "plait.toml").mkdir()
    assert complaint(top).startswith("plait.toml is a folder, and should be a config file")


def test_a_pipe_of_that_name_is_not_waited_for(top: Path) -> None:
    os.mkfifo(top / "plait.toml")
    assert complaint(top).startswith("plait.toml is not a regular file")


def test_a_broken_link_is_an_error(top: Path) -> None:
    (top / "plait.toml").symlink_to("gone.toml")
    assert complaint(top).startswith("plait.toml is a broken link")


def test_a_link_to_itself_is_an_error(top: Path) -> None:
    (top / "plait.toml").symlink_to("plait.toml")
    assert complaint(top).startswith("plait.toml can't be read: ")


def test_an_unreadable_file_is_an_error() -> None:
    with TemporaryDirectory() as name:
        top = Path(name)
        top.chmod(0o755)
        (top / "plait.toml").touch(mode=0o000)
        with as_nobody():
            told = complaint(top)
    assert told.startswith("plait.toml can't be read: Permission denied")


@contextmanager
def as_nobody() -> Iterator[None]:
    """Nothing is unreadable for root."""
    own = os.geteuid()
    if own == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(own)


def test_a_user_s_file_is_as_strict_as_the_repository_s(top: Path, home: Path) -> None:
    mine = home / "config.toml"
    mine.write_text("\nretry = 1\n")
    with pytest.raises(ConfigError) as caught:
        at(top, user=mine)
    assert str(caught.value) == f"{mine}:2: there is no setting called retry\n  Did you mean run.retries?"
