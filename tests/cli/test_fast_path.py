"""The fast path of `plait status` and the commands that typer loads: the output is always the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from plait.cli.fast_path import StatusArguments, parse_status_arguments
from plait.git.location import find_repo
from tests.support.journal_writer import JournalWriter


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("status", StatusArguments()),
        ("status 7f3a", StatusArguments(batch="7f3a")),
        ("-C there status 7f3a --json -w", StatusArguments("there", "7f3a", watch=True, as_json=True)),
        ("status --json", StatusArguments(as_json=True)),
        ("", None),
        ("-C", None),
        ("-C there", None),
        ("--version status", None),
        ("status --help", None),
        ("status a b", None),
        ("status -x", None),
        ("-C a -C b status", None),
        ("history", None),
    ],
)
def test_only_plain_status_command_lines_take_the_fast_path(words: str, expected: StatusArguments | None) -> None:
    assert parse_status_arguments(words.split()) == expected


@pytest.mark.parametrize("words", ["status", "status beef", "status --json", "status nobody", "status --nothing"])
def test_the_fast_path_prints_the_same_as_the_typer_command(words: str, tmp_path: Path) -> None:
    writer = JournalWriter(find_repo(tmp_path))
    writer.submit("beef", "a")
    writer.exit_attempt("a")
    results = [
        subprocess.run(
            [
                sys.executable,
                "-c",
                f"from plait.cli.{module} import main; main()",
                "-C",
                str(tmp_path),
                *words.split(),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        for module in ("fast_path", "app")
    ]
    fast, full = ((each.returncode, each.stdout, each.stderr) for each in results)
    assert fast == full


def test_the_fast_path_does_not_import_typer(tmp_path: Path) -> None:
    code = (
        "import os, sys; from plait.cli.fast_path import main\n"
        "os._exit = lambda code: print('typer' in sys.modules)\n"
        "main()"
    )
    words = [sys.executable, "-c", code, "-C", str(tmp_path), "status"]
    result = subprocess.run(words, capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "False"


LOAD_ALL = "import os; os.environ.update({app._COMPLETION_VARIABLE: '', 'COMP_WORDS': ' '.join(app.COMMANDS)})"


@pytest.mark.parametrize("words", ["run --help", "-C . -C . plan --nothing", "rnu", "run -h nothing", "-C", ""])
def test_loading_only_the_named_command_prints_the_same_as_loading_all(words: str) -> None:
    all_, one = (
        subprocess.run(
            [sys.executable, "-c", f"from plait.cli import app; {first}; app.main()", *words.split()],
            capture_output=True,
            text=True,
            check=False,
        )
        for first in (LOAD_ALL, "pass")
    )
    assert (one.returncode, one.stdout, one.stderr) == (all_.returncode, all_.stdout, all_.stderr)
    assert one.stdout or one.stderr


def complete(line: str) -> list[str]:
    words = {"_PLAIT_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    done = subprocess.run(
        [sys.executable, "-m", "plait"], env={**os.environ, **words}, capture_output=True, text=True, check=False
    )
    return done.stdout.split()


def test_the_shell_completes_commands_options_and_batches(tmp_path: Path) -> None:
    writer = JournalWriter(find_repo(tmp_path))
    writer.submit("beef", "a")
    assert complete("plait p") == ["plan", "pause", "pr"]
    assert complete("plait run") == ["run"]
    assert complete(f"plait -C {tmp_path} run --d") == ["--draft", "--dry-run", "--detach"]
    assert complete(f"plait -C {tmp_path} cancel ") == ["beef", "a"]


@pytest.mark.parametrize("words", ["plan --help", "run --help"])
def test_the_help_of_a_command_is_printed_without_loading_sources_and_sessions(words: str) -> None:
    code = (
        "import sys; from plait.cli.app import run_cli; run_cli(sys.argv[1:])\n"
        "print([name for name in sys.modules if name.startswith(('plait.client.session', 'plait.sources'))])"
    )
    command = [sys.executable, "-c", code, *words.split()]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert any("--json" in line for line in lines)
    assert lines[-1] == "[]"


def test_the_list_of_commands_is_printed_without_loading_the_settings() -> None:
    code = (
        "import sys; from plait.cli.app import run_cli; run_cli(['--help']); print('plait.config.keys' in sys.modules)"
    )
    lines = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert any(line.split()[:3] == ["run", "Run", "tasks"] for line in lines)
    assert lines[-1] == "False"
