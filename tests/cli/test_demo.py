"""The demonstration, for real: it goes as designed, and what it says to try next works."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.cli.demo import DESIGNED, make
from plait.testing.yard import Yard, yard as make_yard
from plait.wiring.sources import survey


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Yard]:
    with make_yard(tmp_path) as made:
        yield made


def test_it_goes_as_designed_and_what_it_says_to_try_next_works(yard: Yard, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    answer = yard.plait("demo", env={"TMPDIR": str(tmp_path / "tmp"), "PLAIT_VERIFY": "false"})
    assert answer.code == 0, answer
    assert "6 done · 1 failed · 1 blocked" in answer.out
    assert "goes again" in answer.out
    _, _, tips = answer.out.partition("What to try next")
    commands = [shlex.split(line) for line in re.findall(r"^  (\S+ -C .*)$", tips, re.MULTILINE)]
    status, logs, explain = (yard.plait(*words[1:]) for words in commands[:3])
    assert [told.code for told in (status, logs, explain)] == [0, 0, 0]
    assert "there is no dictionary.txt" in logs.out
    assert "06-translation" in explain.out
    (top,) = (tmp_path / "tmp").iterdir()
    (top / "dictionary.txt").write_text("hello\n")
    assert yard.plait(*commands[3][1:]).code == 0
    yard.until((top / "pages" / "menu.html").exists)


def test_it_has_a_task_for_each_thing_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nobody"))
    make(tmp_path / "site")
    seen = survey(tmp_path / "site")
    assert [entry.task.id for entry in seen.pile.entries] == list(DESIGNED)
    assert seen.problems == ()
