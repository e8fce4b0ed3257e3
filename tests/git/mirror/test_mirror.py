"""A mirror is cloned once, brought up to date each time, and never in the way of the batches that work in it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from plait.core.errors import UserError, WorldError
from plait.git.mirror import Mirror, open_mirror

Open = Callable[[str | Path], Mirror]
Commit = Callable[..., str]


def mirrors(cache: Path) -> list[Path]:
    return sorted(cache.glob("*/*.git"))


def refs(made: Mirror, under: str = "refs/") -> dict[str, str]:
    listing = made.git.text("for-each-ref", "--format=%(refname) %(objectname)", under)
    return dict(line.split(" ") for line in listing.splitlines())


def test_a_mirror_is_cloned_once_and_fetched_each_time(mirror: Open, commit: Commit, bare: Path, cache: Path) -> None:
    first = mirror(bare)
    assert (first.name, first.branch) == ("site", "trunk")
    new = commit("two.txt")
    assert first.resolve() != new
    assert mirror(f"file://{bare}").resolve() == new
    assert mirrors(cache) == [first.git_dir]
    assert first.git.text("rev-parse", "--is-bare-repository") == "true"


def test_branches_of_the_remote_never_move_local_ones(mirror: Open, commit: Commit, bare: Path) -> None:
    made = mirror(bare)
    base = made.resolve()
    for name in ("trunk", "plait/batch-1"):
        made.git.run("update-ref", f"refs/heads/{name}", base)
    commit("other.txt", branch="plait/batch-1")
    new = commit("two.txt")
    assert mirror(bare).resolve() == new
    assert refs(made, "refs/heads") == {"refs/heads/plait/batch-1": base, "refs/heads/trunk": base}


def test_deleted_remote_branches_are_pruned_but_local_tags_are_not(
    mirror: Open, commit: Commit, bare: Path, env: dict[str, str]
) -> None:
    commit("a.txt", branch="feature")
    made = mirror(bare)
    made.git.run("tag", "mine", made.resolve())
    subprocess.run(["git", "-C", str(bare), "tag", "v1", "trunk"], env=env, check=True)
    subprocess.run(["git", "-C", str(bare), "branch", "-D", "feature"], env=env, check=True, capture_output=True)
    commit("b.txt", branch="feature/more")  # where a file was there is a folder now
    assert set(refs(mirror(bare))) == {
        "refs/remotes/origin/HEAD",
        "refs/remotes/origin/trunk",
        "refs/remotes/origin/feature/more",
        "refs/tags/mine",
        "refs/tags/v1",
    }


def test_rewritten_history_and_moved_tags_are_fetched(
    mirror: Open, commit: Commit, bare: Path, env: dict[str, str]
) -> None:
    tag = ["git", "-C", str(bare), "tag", "--force", "v1", "trunk"]
    subprocess.run(tag, env=env, check=True)
    mirror(bare)
    new = commit("two.txt")
    subprocess.run(tag, env=env, check=True, capture_output=True)
    assert mirror(bare).resolve("v1") == new


def test_the_default_branch_is_the_remotes(mirror: Open, commit: Commit, bare: Path, env: dict[str, str]) -> None:
    assert mirror(bare).branch == "trunk"
    new = commit("two.txt", branch="next")
    subprocess.run(["git", "-C", str(bare), "symbolic-ref", "HEAD", "refs/heads/next"], env=env, check=True)
    made = mirror(bare)
    assert (made.branch, made.resolve()) == ("next", new)
    assert made.git.text("symbolic-ref", "refs/remotes/origin/HEAD") == "refs/remotes/origin/next"


def test_a_base_is_looked_for_at_the_remote_first(mirror: Open, commit: Commit, bare: Path) -> None:
    made = mirror(bare)
    old = made.resolve()
    made.git.run("update-ref", "refs/heads/feature", old)
    made.git.run("update-ref", "refs/heads/plait/batch-1", old)
    new = commit("two.txt", branch="feature")
    made = mirror(bare)
    for name in (
        "feature",
        "origin/feature",
        "refs/heads/feature",
        "refs/remotes/origin/feature",
        new,
        new[:9],
    ):
        assert made.resolve(name) == new
    for name in ("feature~1", "HEAD", "plait/batch-1"):
        assert made.resolve(name) == old


@pytest.mark.usefixtures("commit")
@pytest.mark.parametrize("base", ["nowhere", "-x", "--all", "a\0b", "trunk:one.txt", "0" * 40])
def test_an_unknown_base_is_reported(mirror: Open, bare: Path, base: str) -> None:
    with pytest.raises(UserError):
        mirror(bare).resolve(base)


@pytest.mark.usefixtures("commit")
def test_a_repository_without_default_branch_needs_a_base(mirror: Open, bare: Path, env: dict[str, str]) -> None:
    subprocess.run(["git", "-C", str(bare), "symbolic-ref", "HEAD", "refs/heads/none"], env=env, check=True)
    with pytest.raises(UserError) as caught:
        mirror(bare).resolve()
    assert "--base" in caught.value.hint
    assert mirror(bare).resolve("trunk")


def test_a_repository_without_commits_is_reported(mirror: Open, bare: Path) -> None:
    with pytest.raises(UserError, match="nothing on it"):
        mirror(bare).resolve()


def test_a_sha256_repository_is_mirrored(mirror: Open, tmp_path: Path, env: dict[str, str]) -> None:
    top = tmp_path / "long"
    for args in (
        ["init", "--quiet", "--object-format=sha256", str(top)],
        ["-C", str(top), "commit", "--quiet", "--allow-empty", "-m", "x"],
    ):
        subprocess.run(["git", *args], env=env, check=True)
    assert len(mirror(top).resolve()) == 64


@pytest.mark.usefixtures("commit")
def test_concurrent_runs_share_one_mirror(cache: Path, bare: Path, env: dict[str, str]) -> None:
    code = (
        "import os, sys; from pathlib import Path; from plait.git.mirror import open_mirror; "
        "made = open_mirror(sys.argv[1], Path(sys.argv[2]), environment=os.environ); "
        "print(made.checkout(made.resolve()))"
    )

    def ask(_: int) -> str:
        command = [sys.executable, "-c", code, str(bare), str(cache)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    with ThreadPoolExecutor(4) as pool:
        (path,) = set(pool.map(ask, range(4)))
    assert (Path(path.strip()) / "one.txt").exists()
    assert len(mirrors(cache)) == 1


def test_waiting_for_another_fetch_is_reported(
    mirror: Open, commit: Commit, bare: Path, cache: Path, env: dict[str, str]
) -> None:
    import fcntl  # the other one

    commit("two.txt")
    home = mirror(bare).git_dir.parent
    messages: list[str] = []
    with (home / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)

        def tell(line: str) -> None:
            messages.append(line)
            fcntl.flock(lock, fcntl.LOCK_UN)

        open_mirror(str(bare), cache, environment=env, report=tell)
    assert messages == [f"Another plait is fetching {bare}.", f"Fetching {bare} …"]


def test_a_remote_changed_by_an_agent_is_restored(mirror: Open, commit: Commit, bare: Path, tmp_path: Path) -> None:
    made = mirror(bare)
    mine = made.resolve()
    made.git.run("update-ref", "refs/heads/trunk", mine)
    for key, value in (
        ("remote.origin.url", f"ext::touch {tmp_path}/pwned"),
        ("remote.origin.fetch", "+refs/heads/*:refs/heads/*"),
    ):
        made.git.run("config", "--replace-all", key, value)
    new = commit("two.txt")
    assert mirror(bare).resolve() == new
    assert refs(made, "refs/heads") == {"refs/heads/trunk": mine}
    assert made.git.text("remote", "get-url", "origin") == str(bare)
    assert not (tmp_path / "pwned").exists()


@pytest.mark.usefixtures("commit")
def test_url_rewriting_never_runs_a_program(mirror: Open, bare: Path, tmp_path: Path, env: dict[str, str]) -> None:
    """The person's own settings may rewrite addresses, and allow what they like: not here."""
    settings = tmp_path / "gitconfig"
    settings.write_text(
        f'[url "ext::sh -c touch% {tmp_path}/pwned "]\n\tinsteadOf = {bare}\n[protocol "ext"]\n\tallow = always\n'
    )
    env["GIT_CONFIG_GLOBAL"] = str(settings)
    with pytest.raises(WorldError, match="transport 'ext' not allowed"):
        mirror(bare)
    assert not (tmp_path / "pwned").exists()


def test_protocols_forbidden_by_the_user_stay_forbidden(mirror: Open, bare: Path, env: dict[str, str]) -> None:
    env["GIT_ALLOW_PROTOCOL"] = "https:ext"
    with pytest.raises(WorldError, match="'file' not allowed"):
        mirror(bare)


def test_an_unreachable_remote_is_an_error_even_with_a_mirror(mirror: Open, commit: Commit, bare: Path) -> None:
    with pytest.raises(WorldError, match="can't be cloned") as never:
        mirror("http://127.0.0.1:1/site")
    assert "git ls-remote http://127.0.0.1:1/site" in never.value.hint
    mirror(bare)
    commit("two.txt")
    (bare / "HEAD").rename(bare / "GONE")
    with pytest.raises(WorldError, match=r"can't be fetched: .* so nothing was started"):
        mirror(bare)
    (bare / "GONE").rename(bare / "HEAD")
    assert mirror(bare).branch == "trunk"


def damage_head(git_dir: Path) -> None:
    (git_dir / "HEAD").unlink()


def damage_config(git_dir: Path) -> None:
    (git_dir / "config").write_text("[remote")


@pytest.mark.parametrize("damage", [damage_head, damage_config])
def test_a_damaged_mirror_is_reported_with_a_hint(
    mirror: Open, commit: Commit, bare: Path, damage: Callable[[Path], None]
) -> None:
    made = mirror(bare)
    damage(made.git_dir)
    new = commit("two.txt")
    with pytest.raises(WorldError, match=r"site\.git is damaged") as caught:
        mirror(bare)
    assert f"rm -r {made.git_dir.parent}" in caught.value.hint
    shutil.rmtree(made.git_dir.parent)
    assert mirror(bare).resolve() == new


def test_a_read_only_cache_is_reported(mirror: Open, commit: Commit, bare: Path, cache: Path) -> None:
    commit("two.txt")
    cache.touch()
    with pytest.raises(WorldError, match="cannot write the mirror"):
        mirror(bare)
