"""The quick way in: the same answers, and nothing that it does not know for certain."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from plait.cli.fast_path import StatusArguments, parse_status_arguments
from plait.git.location import find_repo
from tests.support.journal_writer import JournalWriter


@pytest.mark.parametrize(
    ("words", "said"),
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
def test_what_goes_the_quick_way(words: str, said: StatusArguments | None) -> None:
    assert parse_status_arguments(words.split()) == said


@pytest.mark.parametrize("words", ["status", "status beef", "status --json", "status nobody", "status --nothing"])
def test_both_ways_lead_to_the_same(words: str, tmp_path: Path) -> None:
    writer = JournalWriter(find_repo(tmp_path))
    writer.submit("beef", "a")
    writer.exit_attempt("a")
    told = [
        subprocess.run(
            [
                sys.executable,
                "-c",
                f"from plait.cli.{way} import main; main()",
                "-C",
                str(tmp_path),
                *words.split(),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        for way in ("fast_path", "app")
    ]
    quick, long = ((each.returncode, each.stdout, each.stderr) for each in told)
    assert quick == long


def test_the_quick_way_brings_no_parser(tmp_path: Path) -> None:
    code = (
        "import os, sys; from plait.cli.fast_path import main\n"
        "os._exit = lambda code: print('typer' in sys.modules)\n"
        "main()"
    )
    words = [sys.executable, "-c", code, "-C", str(tmp_path), "status"]
    told = subprocess.run(words, capture_output=True, text=True, check=True)
    assert told.stdout.splitlines()[-1] == "False"


@pytest.mark.parametrize("words", ["run --help", "-C . -C . plan --nothing", "rnu", "run -h nothing", "-C", ""])
def test_with_one_verb_or_with_all_the_answer_is_the_same(words: str) -> None:
    all_, one = (
        subprocess.run(
            [sys.executable, "-c", f"from plait.cli import app; {first}; app.main()", *words.split()],
            capture_output=True,
            text=True,
            check=False,
        )
        for first in ("app._find_command_name = lambda argv: None", "pass")
    )
    assert (one.returncode, one.stdout, one.stderr) == (all_.returncode, all_.stdout, all_.stderr)
    assert one.stdout or one.stderr
