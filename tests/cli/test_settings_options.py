"""The options of settings are made from their keys."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from plait.cli import options
from plait.cli.app import make_app
from plait.config.key import AnyKey
from plait.config.keys import KEYS


def squeeze(text: str) -> str:
    """Without spaces: help is wrapped."""
    return "".join(text.split())


@pytest.fixture(scope="module")
def run_help() -> str:
    return squeeze(CliRunner().invoke(make_app(["run"]), ["run", "--help"]).output)


@pytest.mark.parametrize(
    "key", [key for key in KEYS if key.flag and key.table in {"run", "sources"}], ids=lambda key: key.name
)
def test_a_setting_with_a_flag_is_an_option_of_run_with_the_same_help(key: AnyKey, run_help: str) -> None:
    opposite = f"/ --no-{key.flag[2:]}" if key.default is True else ""
    assert squeeze(f"{key.flag} {opposite} {key.metavar} {key.summary}") in run_help


def test_a_command_gets_the_settings_that_were_given_and_no_others() -> None:
    seen = []

    def command(
        where: Path,  # noqa: ARG001 - as every command has it
        *,
        flags: Annotated[options.Flags, options.SettingOptions("sources.*", "run.retries", "run.auto_approve")],
    ) -> int:
        seen.append(flags)
        return 0

    app = typer.Typer()
    app.command()(options.make_callback(command))
    words = ["--exclude", "a.md", "--exclude", "b.md", "--retries", "3", "--auto-approve"]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert CliRunner().invoke(app, []).exit_code == 0
    assert seen == [{"sources.exclude": ["a.md", "b.md"], "run.retries": "3", "run.auto_approve": True}, {}]
