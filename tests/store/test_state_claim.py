"""State belongs to the user who wrote it and to the place where it was written; other state runs nothing."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from plait.core.errors import WorldError
from plait.git.location import RepoLocation
from plait.store.journal_lock import acquire_lock
from plait.store.project_files import JOURNAL_FILE
from plait.store.state_claim import (
    ForeignStateError,
    adopt_state,
    claim_state,
    explain_foreign,
    find_set_aside_folder,
    list_set_aside,
    read_identity,
    require_own_state,
    set_aside,
)
from plait.store.trust_store import TrustStore, find_trust_root
from plait.system.flock import hold_lock


@pytest.fixture(autouse=True)
def _user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def make_state(top: Path, *, claimed: bool = True) -> Path:
    """State with a journal."""
    state = top / ".git" / "plait"
    state.parent.mkdir(parents=True)
    if claimed:
        claim_state(state)
    state.mkdir(mode=0o700, exist_ok=True)
    (state / JOURNAL_FILE).write_text("records")
    return state


def locate(state: Path) -> RepoLocation:
    return RepoLocation(state.parent.parent, state, repository=True)


def test_own_state_is_used_without_a_question(tmp_path: Path) -> None:
    state = make_state(tmp_path / "repo")
    require_own_state(locate(state))
    claim_state(state)
    assert explain_foreign(state) is None


@pytest.mark.parametrize("way", ["moved", "copied"])
def test_state_at_another_place_is_set_aside_and_says_where_it_was_written(tmp_path: Path, way: str) -> None:
    state = make_state(tmp_path / "repo")
    if way == "moved":
        (tmp_path / "repo").rename(tmp_path / "repo2")
    else:
        shutil.copytree(tmp_path / "repo", tmp_path / "repo2")
    new = tmp_path / "repo2" / ".git" / "plait"
    with pytest.raises(ForeignStateError, match=f"was written at {state.parent}; nothing in it was run") as caught:
        require_own_state(locate(new))
    assert "plait trust --state" in caught.value.hint
    [folder] = list_set_aside(new)
    assert str(folder) in caught.value.message
    assert (folder / JOURNAL_FILE).read_text() == "records"
    assert not new.exists()
    require_own_state(locate(new))  # reported once


def test_the_state_of_another_user_is_set_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes with an archive: the path, the id and the owner are the same, but the user doesn't know it."""
    state = make_state(tmp_path / "repo")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "victim"))
    with pytest.raises(ForeignStateError, match="was not written here by you"):
        require_own_state(locate(state))
    assert list_set_aside(state)


def test_the_engine_refuses_foreign_state_and_leaves_it_in_place(tmp_path: Path) -> None:
    state = make_state(tmp_path / "repo", claimed=False)
    with pytest.raises(ForeignStateError, match="nothing in it is run"):
        claim_state(state)
    assert (state / JOURNAL_FILE).exists()


def test_another_repository_at_the_same_path_is_foreign(tmp_path: Path) -> None:
    state = make_state(tmp_path / "repo")
    shutil.rmtree(tmp_path / "repo")
    state = make_state(tmp_path / "repo", claimed=False)
    (state / "identity").write_text("0" * 32)
    assert explain_foreign(state) == "was not written here by you"


def test_a_restored_backup_is_used_without_a_question(tmp_path: Path) -> None:
    state = make_state(tmp_path / "repo")
    shutil.copytree(tmp_path / "repo", tmp_path / "backup")
    shutil.rmtree(tmp_path / "repo")
    shutil.copytree(tmp_path / "backup", tmp_path / "repo")
    require_own_state(locate(state))


def test_state_from_before_claims_is_used_if_its_commands_were_trusted(tmp_path: Path) -> None:
    state = make_state(tmp_path / "repo")
    TrustStore(find_trust_root(), state).add([("run.verify", "make test")])
    shutil.rmtree(tmp_path / "user" / "plait" / "states")
    identity = read_identity(state)
    require_own_state(locate(state))
    claim_state(state)
    assert read_identity(state) == identity
    assert TrustStore(find_trust_root(), state).list_commands()


def test_the_state_of_a_mirror_that_plait_keeps_is_own(tmp_path: Path) -> None:
    state = make_state(tmp_path / "data" / "plait" / "mirrors" / "app", claimed=False)
    require_own_state(locate(state))
    claim_state(state)


def test_a_folder_that_was_only_just_made_is_claimed(tmp_path: Path) -> None:
    state = tmp_path / ".git" / "plait"
    (state / "locks").mkdir(parents=True)
    (state / "engine.log").touch()
    (state / "identity").write_text(f"{'0' * 32}\n")
    claim_state(state)
    assert read_identity(state) not in {None, "0" * 32}, "an id that came with the repository is known to others"


def test_a_link_in_place_of_the_state_is_foreign(tmp_path: Path) -> None:
    other = make_state(tmp_path / "other")
    state = tmp_path / "repo" / ".git" / "plait"
    state.parent.mkdir(parents=True)
    state.symlink_to(other)
    with pytest.raises(ForeignStateError):
        require_own_state(locate(state))
    assert (other / JOURNAL_FILE).exists()
    assert not os.path.lexists(state)


def test_a_linked_log_is_not_written_to(tmp_path: Path) -> None:
    state = tmp_path / ".git" / "plait"
    state.mkdir(parents=True)
    (state / "engine.log").symlink_to(tmp_path / "profile")
    assert explain_foreign(state) is not None


def test_state_that_others_can_write_is_foreign(tmp_path: Path) -> None:
    state = make_state(tmp_path / "repo")
    state.chmod(0o777)
    assert explain_foreign(state) == "can be written by others (mode 777)"


def test_a_claim_that_others_could_write_is_ignored(tmp_path: Path) -> None:
    state = make_state(tmp_path / "repo")
    [claim] = [path for path in (tmp_path / "user" / "plait" / "states").iterdir() if path.name != "lock"]
    claim.chmod(0o666)
    assert explain_foreign(state) is not None


@pytest.mark.parametrize("claimed", [False, True])
def test_state_of_another_owner_stays_where_it_is(tmp_path: Path, *, claimed: bool) -> None:
    if os.geteuid():
        pytest.skip("only root can give files away")
    state = make_state(tmp_path / "repo", claimed=claimed)
    os.chown(state, 65534, 65534)
    with pytest.raises(ForeignStateError, match=r"belongs to another user \(uid 65534\)"):
        require_own_state(locate(state))
    assert state.exists()


def test_state_that_an_engine_uses_stays_where_it_is(tmp_path: Path) -> None:
    """For example, for an agent with a home of its own that calls plait."""
    state = make_state(tmp_path / "repo", claimed=False)
    lock = acquire_lock(state / JOURNAL_FILE)
    try:
        with pytest.raises(ForeignStateError):
            require_own_state(locate(state))
        with pytest.raises(WorldError, match="an engine is using"):
            adopt_state(state, state)
    finally:
        lock.release()
    assert state.exists()


def test_adopted_state_is_the_users_own_under_a_new_id(tmp_path: Path) -> None:
    state = make_state(tmp_path / "repo")
    (tmp_path / "repo").rename(tmp_path / "repo2")
    state = tmp_path / "repo2" / ".git" / "plait"
    old = read_identity(state)
    with pytest.raises(ForeignStateError):
        require_own_state(locate(state))
    [folder] = list_set_aside(state)
    assert adopt_state(state, folder) is None
    assert (state / JOURNAL_FILE).read_text() == "records"
    assert read_identity(state) != old
    assert list_set_aside(state) == []
    require_own_state(locate(state))


def test_newer_state_is_set_aside_when_an_older_one_is_adopted(tmp_path: Path) -> None:
    state = make_state(tmp_path / "repo", claimed=False)
    with pytest.raises(ForeignStateError):
        require_own_state(locate(state))
    [older] = list_set_aside(state)
    claim_state(state)
    (state / JOURNAL_FILE).write_text("newer")
    replaced = adopt_state(state, older)
    assert replaced is not None
    assert (replaced / JOURNAL_FILE).read_text() == "newer"
    assert (state / JOURNAL_FILE).read_text() == "records"


def test_processes_that_claim_at_once_agree(tmp_path: Path) -> None:
    state = tmp_path / ".git" / "plait"
    state.parent.mkdir()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(claim_state, [state] * 8))
    assert explain_foreign(state) is None
    assert len(list((tmp_path / "user" / "plait" / "states").iterdir())) == 2, "one claim and the lock"


def test_a_claim_that_cannot_be_recorded_is_reported(tmp_path: Path) -> None:
    (tmp_path / "user").write_text("a file")
    with pytest.raises(WorldError, match="can't record that this repository's state is yours") as caught:
        claim_state(tmp_path / ".git" / "plait")
    assert "XDG_STATE_HOME" in caught.value.hint


def test_outside_of_a_repository_the_state_is_set_aside_beside_its_place(tmp_path: Path) -> None:
    assert find_set_aside_folder(tmp_path / ".plait") == tmp_path / ".plait-set-aside"


def test_what_gc_makes_without_any_state_is_not_foreign(tmp_path: Path) -> None:
    state = tmp_path / ".git" / "plait"
    for name in ("packs", "trash"):
        (state / name / "some").mkdir(parents=True)
    require_own_state(locate(state))
    claim_state(state)


def test_state_that_another_process_has_just_replaced_stays(tmp_path: Path) -> None:
    """Both found foreign state; the other one set it aside, and then began the user's own."""
    state = make_state(tmp_path / "repo", claimed=False)
    with ThreadPoolExecutor(1) as pool:
        with hold_lock(tmp_path / "user" / "plait" / "states" / "lock"):
            waiting = pool.submit(require_own_state, locate(state))
            with pytest.raises(TimeoutError):
                waiting.result(0.2)
            set_aside(state)
            state.mkdir(mode=0o700)
        waiting.result(60)
    assert state.is_dir()
    assert len(list_set_aside(state)) == 1
