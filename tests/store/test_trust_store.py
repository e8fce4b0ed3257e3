"""What is trusted is kept outside of the repository, for its owner alone, and counts only as it was said."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from plait.client.trust import UntrustedError, list_repo_commands, require_trust
from plait.config.loading import load_config
from plait.core.errors import WorldError
from plait.git.location import RepoLocation
from plait.store.state_claim import IDENTITY_FILE
from plait.store.trust_store import TrustStore, find_trust_root, ignore_untrusted_location, read_all_trusted

VERIFY = ("run.verify", "make test")
GATE = ("run.gate", "make check")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "state" / "plait" / "trust"


def repository(path: Path) -> Path:
    """Its state folder."""
    (path / ".git").mkdir(parents=True)
    return path / ".git" / "plait"


def trusted_commands(folder: TrustStore) -> list[tuple[str, str]]:
    return [(command.key, command.value) for command in folder.list_commands()]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return repository(tmp_path / "one")


def test_trusted_commands_are_remembered(root: Path, state: Path) -> None:
    TrustStore(root, state).add([VERIFY, GATE])
    TrustStore(root, state).add([VERIFY])
    assert sorted(trusted_commands(TrustStore(root, state))) == [GATE, VERIFY]


def test_reading_trust_creates_no_files(root: Path, state: Path) -> None:
    assert trusted_commands(TrustStore(root, state)) == []
    assert not root.exists()
    assert not state.exists()


def test_only_the_user_can_read_or_write_it_whatever_the_umask(root: Path, state: Path) -> None:
    before = os.umask(0)
    try:
        TrustStore(root, state).add([VERIFY])
    finally:
        os.umask(before)
    files = [path for path in root.rglob("*") if path.is_file()]
    assert [stat.S_IMODE(path.stat().st_mode) for path in files] == [0o600]
    assert {stat.S_IMODE(path.stat().st_mode) for path in (root, files[0].parent)} == {0o700}


def test_a_clone_elsewhere_is_another_repository(root: Path, state: Path, tmp_path: Path) -> None:
    TrustStore(root, state).add([VERIFY])
    assert trusted_commands(TrustStore(root, repository(tmp_path / "two"))) == []


def test_a_copy_with_all_its_files_is_another_repository(root: Path, state: Path, tmp_path: Path) -> None:
    TrustStore(root, state).add([VERIFY])
    subprocess.run(["cp", "-r", tmp_path / "one", tmp_path / "two"], check=True)
    assert trusted_commands(TrustStore(root, tmp_path / "two" / ".git" / "plait")) == []


def test_another_repository_at_the_same_path_is_another_one(root: Path, state: Path, tmp_path: Path) -> None:
    TrustStore(root, state).add([VERIFY])
    (tmp_path / "one").rename(tmp_path / "away")
    other = TrustStore(root, repository(tmp_path / "one"))
    assert trusted_commands(other) == []
    other.add([GATE])
    assert trusted_commands(other) == [GATE]


def test_a_path_through_a_link_is_the_same_repository(root: Path, state: Path, tmp_path: Path) -> None:
    TrustStore(root, state).add([VERIFY])
    (tmp_path / "link").symlink_to(tmp_path / "one")
    assert trusted_commands(TrustStore(root, tmp_path / "link" / ".git" / "plait")) == [VERIFY]


def test_concurrent_trust_decisions_are_all_saved(root: Path, state: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from plait.client.trust import TrustStore; "
        "TrustStore(Path(sys.argv[1]), Path(sys.argv[2])).add([('run.verify', sys.argv[3])])"
    )

    def say(n: int) -> None:
        words = [sys.executable, "-c", code, str(root), str(state), f"make {n}"]
        subprocess.run(words, check=True, timeout=60)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(say, range(4)))
    assert sorted(trusted_commands(TrustStore(root, state))) == [("run.verify", f"make {n}") for n in range(4)]


def test_revoked_trust_is_gone(root: Path, state: Path, tmp_path: Path) -> None:
    other = TrustStore(root, repository(tmp_path / "two"))
    other.add([VERIFY])
    folder = TrustStore(root, state)
    folder.add([VERIFY, GATE])
    assert {(gone.key, gone.value) for gone in folder.revoke()} == {VERIFY, GATE}
    assert trusted_commands(folder) == []
    assert folder.revoke() == []
    assert trusted_commands(other) == [VERIFY]


def test_all_repositories_are_listed_by_their_path(root: Path, state: Path, tmp_path: Path) -> None:
    TrustStore(root, state).add([VERIFY])
    TrustStore(root, repository(tmp_path / "two")).add([GATE])
    listed = [(Path(each.repository).parent.name, each.key) for each in read_all_trusted(root)]
    assert listed == [("one", "run.verify"), ("two", "run.gate")]


def find_only_file(root: Path) -> Path:
    (found,) = (path for path in root.rglob("*") if path.is_file())
    return found


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"key": 1}', "\xff", "[" * 100_000])
def test_a_damaged_file_is_ignored(root: Path, state: Path, content: str) -> None:
    TrustStore(root, state).add([VERIFY])
    find_only_file(root).write_bytes(content.encode("latin-1"))
    assert trusted_commands(TrustStore(root, state)) == []
    TrustStore(root, state).add([VERIFY])
    assert trusted_commands(TrustStore(root, state)) == [VERIFY]


def test_a_file_whose_content_does_not_match_its_name_is_ignored(root: Path, state: Path) -> None:
    TrustStore(root, state).add([VERIFY])
    file = find_only_file(root)
    file.write_text(json.dumps({**json.loads(file.read_text()), "value": "rm -rf ~"}))
    assert trusted_commands(TrustStore(root, state)) == []


def test_a_file_that_others_could_write_is_ignored(root: Path, state: Path) -> None:
    TrustStore(root, state).add([VERIFY])
    find_only_file(root).chmod(0o620)
    assert trusted_commands(TrustStore(root, state)) == []


def test_a_link_or_a_pipe_is_ignored(root: Path, state: Path, tmp_path: Path) -> None:
    TrustStore(root, state).add([VERIFY])
    file = find_only_file(root)
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert trusted_commands(TrustStore(root, state)) == []
    file.unlink()
    os.mkfifo(file, 0o600)
    assert trusted_commands(TrustStore(root, state)) == []


def test_a_repository_with_a_damaged_id_is_unknown(root: Path, state: Path) -> None:
    folder = TrustStore(root, state)
    folder.add([VERIFY])
    (state / IDENTITY_FILE).write_text("../../../etc\n")
    assert trusted_commands(folder) == []
    folder.add([GATE])
    assert trusted_commands(folder) == [GATE]  # under a new id


def test_an_unwritable_folder_is_reported(root: Path, state: Path) -> None:
    root.parent.parent.mkdir()
    root.parent.touch()
    with pytest.raises(WorldError, match="can't be saved"):
        TrustStore(root, state).add([VERIFY])


def test_a_partial_file_of_a_killed_process_is_no_obstacle(root: Path, state: Path) -> None:
    folder = TrustStore(root, state)
    folder.add([VERIFY])
    file = find_only_file(root)
    file.with_name(f".{file.name}.0000").write_text('{"key": "run.ver')
    assert trusted_commands(folder) == [VERIFY]
    folder.revoke()
    assert list(root.iterdir()) == []


@pytest.mark.parametrize(
    ("judge", "value"),
    [('"jury:Ada"', "jury:Ada"), ('["jury:Ada"]', "jury:Ada"), ('["jury:Ada", "claude"]', '["jury:Ada", "claude"]')],
)
def test_one_judge_is_trusted_by_its_name_as_it_was_before_there_were_several(
    tmp_path: Path, judge: str, value: str
) -> None:
    (tmp_path / "plait.toml").write_text(f"[run]\njudge = {judge}\n")
    (command,) = list_repo_commands(load_config(tmp_path), None)
    assert (command.key, command.value) == ("run.judge", value)


def test_a_repository_can_not_choose_where_worktrees_are_without_trust(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "user"))
    monkeypatch.delenv("PLAIT_WORKSPACE_LOCATION", raising=False)
    state = repository(tmp_path / "repo")
    location = RepoLocation(tmp_path / "repo", state, repository=True)
    (location.top / "plait.toml").write_text("[workspace]\nlocation = '/tmp/shared'\nkeep = 2\n")
    config = load_config(location.top, user=tmp_path / "none")
    with pytest.raises(UntrustedError, match=r"workspace\.location = /tmp/shared"):
        require_trust(config, location)
    ignored = ignore_untrusted_location(location, config)
    assert (ignored.workspace.location, ignored.workspace.keep) == (None, 2)
    saved = load_config(tmp_path, saved={"location": '"/tmp/shared"'}, user=tmp_path / "none")
    assert ignore_untrusted_location(location, saved).workspace.location is None
    TrustStore(find_trust_root(), state).add([("workspace.location", "/tmp/shared")])
    assert ignore_untrusted_location(location, config) == config
    require_trust(config, location)
    own = load_config(tmp_path, environment={"PLAIT_WORKSPACE_LOCATION": "/data"}, user=tmp_path / "none")
    assert ignore_untrusted_location(location, own).workspace.location == "/data"
