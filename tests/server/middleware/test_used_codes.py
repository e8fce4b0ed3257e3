"""Used codes are remembered by all servers of a user until they have expired."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.core.errors import WorldError
from plait.server.auth import UsedCodes

if TYPE_CHECKING:
    from tests.server.middleware.conftest import Clock


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "spent-codes"


def test_of_concurrent_uses_of_a_code_one_succeeds(folder: Path, clock: Clock) -> None:
    with ThreadPoolExecutor(8) as pool:
        had = list(pool.map(lambda _: UsedCodes(folder, clock).redeem("code", clock.now + 9), range(64)))
    assert had.count(True) == 1


def test_used_code_files_are_private_and_do_not_contain_the_code(folder: Path, clock: Clock) -> None:
    assert UsedCodes(folder, clock).redeem("../../code", clock.now + 9)
    (made,) = folder.iterdir()
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert "code" not in made.name


def test_used_codes_are_deleted_a_day_after_they_expire(folder: Path, clock: Clock) -> None:
    codes = UsedCodes(folder, clock)
    assert codes.redeem("one", clock.now + 9)
    (one,) = folder.iterdir()
    clock.now += 86_400
    assert codes.redeem("two", clock.now + 9)
    assert one.exists()
    clock.now += 10
    assert codes.redeem("three", clock.now + 9)
    assert not one.exists()
    assert len(list(folder.iterdir())) == 2


def test_other_files_in_the_folder_are_left_alone(folder: Path, clock: Clock) -> None:
    folder.mkdir(parents=True)
    (folder / "notes").touch()
    (folder / "²-x").touch()
    assert UsedCodes(folder, clock).redeem("one", clock.now)
    assert {"notes", "²-x"} < {path.name for path in folder.iterdir()}


def test_a_code_is_refused_if_its_use_can_t_be_saved(folder: Path, clock: Clock) -> None:
    folder.parent.mkdir()
    folder.touch()
    with pytest.raises(WorldError, match="can't save the used code"):
        UsedCodes(folder, clock).redeem("one", clock.now)
