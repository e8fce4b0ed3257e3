"""The help pages: commands and options in groups, and nothing is cut."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from plait.cli.app import COMMANDS, make_app
from plait.cli.commands.help import OPTION_GROUPS


def show(*words: str) -> str:
    result = CliRunner().invoke(make_app(words), words, env={"COLUMNS": "80"}, prog_name="plait")
    assert result.exit_code == 0, result.output
    return result.output


def read_groups(page: str) -> dict[str, str]:
    """The text below each heading."""
    heading, *rest = re.split(r"^(\w[\w ]*):$", page, flags=re.MULTILINE)
    assert heading.startswith("Usage: plait")
    return dict(zip(rest[::2], rest[1::2], strict=True))


def list_options(section: str) -> list[str]:
    """The long name of each option."""
    return re.findall(r"^  (?:-\w, )?(--[\w-]+)", section, re.MULTILINE)


def test_the_list_of_commands_is_in_groups_and_each_fits_on_a_line_of_80_columns() -> None:
    page = show("--help")
    groups = read_groups(page)
    headings = ["Getting started", "Watch and control", "Results", "Configuration", "Server"]
    assert [*groups][:5] == headings
    for name, (_, text, group) in COMMANDS.items():
        assert f"  {name:<8}  {text}\n" in groups[group]
    assert max(map(len, page.splitlines())) <= 80


def test_the_help_of_run_begins_with_ten_common_options_and_has_every_option_once() -> None:
    groups = read_groups(show("run", "--help"))
    assert [*groups][:2] == ["Arguments", "Common options"]
    common = list_options(groups["Common options"])
    assert len(common) == 10
    assert common[:3] == ["--select", "--interactive", "--agent"]
    shown = [name for section in groups.values() for name in list_options(section)]
    assert len(shown) == len(set(shown))
    assert {"--json", "--help", "--gate", "--times"} <= set(shown)


@pytest.mark.parametrize("command", OPTION_GROUPS)
def test_every_option_in_a_group_exists(command: str) -> None:
    page = show(command, "--help")
    for names in OPTION_GROUPS[command].values():
        assert [name for name in names if name not in page] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_help_with_a_command_is_the_help_of_that_command(name: str) -> None:
    assert show("help", name) == show(name, "--help")


def test_help_alone_is_the_list_of_commands() -> None:
    assert show("help") == show("--help")


def test_help_with_an_unknown_command_is_an_error() -> None:
    result = CliRunner().invoke(make_app(["help"]), ["help", "rnu"])
    assert result.exit_code == 2
    assert "rnu" in result.output
