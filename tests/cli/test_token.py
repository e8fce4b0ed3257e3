"""`plait token`: made once, for its owner alone."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from plait.adapters.token import token
from plait.cli.token import token_command
from plait.core.errors import WorldError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "plait" / "token"


def test_it_is_made_on_first_use_and_stays(file: Path) -> None:
    first = token(file)
    assert len(first) == 64
    assert token(file) == first
    assert [path.name for path in file.parent.iterdir()] == ["token"]


def test_nobody_else_can_read_it_whatever_the_umask_is(file: Path) -> None:
    before = os.umask(0)
    try:
        token(file)
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_two_users_have_two_tokens(tmp_path: Path) -> None:
    assert token(tmp_path / "one") != token(tmp_path / "two")


def test_all_who_ask_at_once_get_the_same_one(file: Path) -> None:
    code = "import sys; from pathlib import Path; from plait.adapters.token import token; print(token(Path(sys.argv[1])))"

    def ask(_: int) -> str:
        words = [sys.executable, "-c", code, str(file)]
        return subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1


def test_one_that_others_could_read_is_refused(file: Path) -> None:
    token(file)
    file.chmod(0o644)
    with pytest.raises(WorldError, match="could be read by others") as caught:
        token(file)
    assert caught.value.hint.startswith("Remove it")


@pytest.mark.parametrize("content", ["", "short", "x" * 64, "é" * 64])
def test_a_file_that_holds_no_token_is_left_as_it_is(file: Path, content: str) -> None:
    file.parent.mkdir(parents=True)
    file.touch(0o600)
    file.write_text(content)
    with pytest.raises(WorldError, match="holds no token"):
        token(file)
    assert file.read_text() == content


def test_what_is_no_file_is_not_waited_for(file: Path) -> None:
    file.parent.mkdir(parents=True)
    os.mkfifo(file, 0o600)
    with pytest.raises(WorldError, match="holds no token"):
        token(file)


def test_a_place_that_can_t_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "state").touch()
    with pytest.raises(WorldError, match="can't be kept"):
        token(tmp_path / "state" / "token")


def test_the_verb_prints_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert token_command(tmp_path, as_json=False) == 0
    printed = capsys.readouterr().out
    assert token_command(tmp_path, as_json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert printed == f"{told['token']}\n" == Path(told["file"]).read_text()
