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

from plait.cli.commands.serve import token_command
from plait.core.errors import UserError, WorldError
from plait.server.auth import Access, InvalidCode, create_authenticator
from plait.store.server_tokens import TokenFiles, read_or_create_token, replace_token


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "plait" / "token"


def test_a_token_is_256_random_bits_and_stays(file: Path) -> None:
    first = read_or_create_token(file)
    assert len(bytes.fromhex(first)) * 8 == 256
    assert read_or_create_token(file) == first
    assert [path.name for path in file.parent.iterdir()] == ["token"]


def test_only_the_owner_can_read_the_token_whatever_the_umask_is(file: Path) -> None:
    before = os.umask(0)
    try:
        read_or_create_token(file)
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_two_users_have_two_tokens(tmp_path: Path) -> None:
    assert read_or_create_token(tmp_path / "one") != read_or_create_token(tmp_path / "two")


def test_concurrent_calls_get_the_same_token(file: Path) -> None:
    code = "import sys; from pathlib import Path; from plait.store.server_tokens import read_or_create_token; print(read_or_create_token(Path(sys.argv[1])))"

    def ask(_: int) -> str:
        words = [sys.executable, "-c", code, str(file)]
        return subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1


def test_a_token_file_readable_by_others_is_refused(file: Path) -> None:
    read_or_create_token(file)
    file.chmod(0o644)
    with pytest.raises(WorldError, match="could be read by others") as caught:
        read_or_create_token(file)
    assert caught.value.hint.startswith("Remove it")


@pytest.mark.parametrize("content", ["", "short", "x" * 64, "é" * 64])
def test_a_file_without_a_token_is_not_changed(file: Path, content: str) -> None:
    file.parent.mkdir(parents=True)
    file.touch(0o600)
    file.write_text(content)
    with pytest.raises(WorldError, match="holds no token"):
        read_or_create_token(file)
    assert file.read_text() == content


def test_a_fifo_in_place_of_the_token_is_not_waited_for(file: Path) -> None:
    file.parent.mkdir(parents=True)
    os.mkfifo(file, 0o600)
    with pytest.raises(WorldError, match="not a regular file"):
        read_or_create_token(file)


def test_a_read_only_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "state").touch()
    with pytest.raises(WorldError, match="can't be saved"):
        read_or_create_token(tmp_path / "state" / "token")


def test_rotating_creates_a_new_private_token(file: Path) -> None:
    first = read_or_create_token(file)
    second = replace_token(file)
    assert first != second == read_or_create_token(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["token"]


def test_rotating_replaces_damaged_and_readable_tokens(file: Path) -> None:
    file.parent.mkdir(parents=True)
    file.write_text("damaged")
    file.chmod(0o644)
    assert replace_token(file) == read_or_create_token(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_failed_rotation_is_reported_and_leaves_nothing_behind(file: Path) -> None:
    file.mkdir(parents=True)
    with pytest.raises(WorldError, match="can't be saved"):
        replace_token(file)
    assert [path.name for path in file.parent.iterdir()] == ["token"]


def test_reading_during_a_rotation_gives_a_complete_token(file: Path) -> None:
    first = read_or_create_token(file)
    with ThreadPoolExecutor(3) as pool:
        rotated = [pool.submit(replace_token, file) for _ in range(100)]
        read = {read_or_create_token(file) for _ in range(300)}
    made = {each.result() for each in rotated}
    assert read <= {first, *made}
    assert read_or_create_token(file) in made


def test_the_read_only_token_is_created_on_demand_and_rotated_with_the_other(tmp_path: Path) -> None:
    files = TokenFiles(tmp_path)
    assert files.read().read_only is None
    made = read_or_create_token(files.read_only)
    assert files.read().read_only == made != files.read().full
    files.rotate()
    assert files.read().read_only is None
    assert read_or_create_token(files.read_only) != made


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_the_command_prints_the_token(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert token_command(home, as_json=False) == 0
    printed = capsys.readouterr().out
    assert token_command(home, as_json=True) == 0
    data = json.loads(capsys.readouterr().out)
    assert printed == f"{data['token']}\n" == Path(data["file"]).read_text()


def test_the_command_rotates_one_or_both_tokens(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def print_token(*, read_only: bool = False, rotate: bool = False) -> str:
        assert token_command(home, as_json=False, read_only=read_only, rotate=rotate) == 0
        return capsys.readouterr().out

    full, read = print_token(), print_token(read_only=True)
    other = print_token(read_only=True, rotate=True)
    assert (print_token(), print_token(read_only=True)) == (full, other)
    assert other != read
    fresh = print_token(rotate=True)
    assert fresh == print_token() != full
    assert print_token(read_only=True) != other


@pytest.mark.parametrize("read_only", [False, True])
def test_the_command_prints_a_login_link(home: Path, capsys: pytest.CaptureFixture[str], *, read_only: bool) -> None:
    assert token_command(home, as_json=True, link=True, read_only=read_only, url="http://[::1]:9/") == 0
    data = json.loads(capsys.readouterr().out)
    address, _, code = data["link"].partition("?code=")
    assert (address, data["readOnly"]) == ("http://[::1]:9/login", read_only)
    assert create_authenticator().redeem_code(code) is (Access.READ if read_only else Access.FULL)
    assert create_authenticator().redeem_code(code) is InvalidCode.USED


def test_the_default_link_points_to_this_machine(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert token_command(home, as_json=False, link=True) == 0
    assert capsys.readouterr().out.startswith("http://127.0.0.1:3001/login?code=")


def test_an_invalid_url_prevents_the_rotation(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    token_command(home, as_json=False)
    before = capsys.readouterr().out
    with pytest.raises(UserError, match="not the address of a server"):
        token_command(home, as_json=False, rotate=True, link=True, url="elsewhere")
    with pytest.raises(UserError, match="--url only works with --link"):
        token_command(home, as_json=False, rotate=True, url="http://localhost")
    token_command(home, as_json=False)
    assert capsys.readouterr().out == before
