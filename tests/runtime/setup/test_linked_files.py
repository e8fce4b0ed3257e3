"""Files and folders of the checkout that a workspace gets a link to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from plait.git.interfaces import WorkspaceSetup

if TYPE_CHECKING:
    from tests.runtime.setup.conftest import Bench


def test_a_folder_is_linked_as_one_and_is_no_part_of_a_change(bench: Bench) -> None:
    bench.write("data/big/set", "values")
    workspace, outfit = bench.worktree(), WorkspaceSetup(link=("data",))
    assert bench.wanted(workspace, outfit)
    ended = bench.fit(workspace, outfit)
    assert ended.out.splitlines() == ["plait: linked from the checkout: data/", "the agent runs"]
    assert (workspace / "data").readlink() == bench.top / "data"
    assert (workspace / "data/big/set").read_text() == "values"
    # `data/` in .gitignore means folders only: git sees the link.
    assert bench.status(workspace) == "?? data"
    assert bench.ours(workspace) == {"data"}
    assert not bench.wanted(workspace, outfit)


def test_what_is_linked_is_not_copied(bench: Bench) -> None:
    bench.write("data/big/set")
    bench.write("data/small")
    workspace = bench.worktree()
    bench.fit(workspace, WorkspaceSetup(copy=("data",), link=("data/big",)))
    assert (workspace / "data/big").readlink() == bench.top / "data/big"
    assert (workspace / "data/small").is_file()
    assert not (workspace / "data").is_symlink()
    other = bench.worktree("other")
    bench.fit(other, WorkspaceSetup(copy=("data/big",), link=("data",)))
    assert (other / "data").is_symlink()


def test_what_git_tracks_is_not_linked_over(bench: Bench) -> None:
    bench.write("data/kept")
    bench.commit("data/kept")
    workspace = bench.worktree()
    bench.git("rm", "-q", "-r", "--cached", "data")
    ended = bench.fit(workspace, WorkspaceSetup(link=("data",)))
    assert "plait: warning: data is not linked: git tracks files in it" in ended.out
    assert not (workspace / "data").is_symlink()
    assert bench.status(workspace) == ""


def test_somebody_elses_file_is_not_linked_over(bench: Bench) -> None:
    bench.write("data/a")
    workspace = bench.worktree()
    (workspace / "data").write_text("of an agent")
    ended = bench.fit(workspace, WorkspaceSetup(link=("data",)))
    assert "plait: warning: data is there already and is not linked" in ended.out
    assert (workspace / "data").read_text() == "of an agent"


def test_no_link_leads_out_of_the_checkout(bench: Bench) -> None:
    (bench.root / "outside").mkdir()
    workspace = bench.worktree()
    ended = bench.fit(workspace, WorkspaceSetup(link=("../outside", str(bench.root / "outside"))))
    assert ended.code == 0
    assert "plait: warning: ../outside is outside of the checkout" in ended.out
    assert not any(each.is_symlink() for each in workspace.rglob("*"))


def test_no_link_is_made_through_a_link_of_the_commit(bench: Bench) -> None:
    outside = bench.root / "outside"
    outside.mkdir()
    (bench.top / "config").symlink_to(outside)
    bench.commit("config")
    workspace = bench.worktree()
    bench.git("rm", "-q", "config")
    bench.write("config/.env")
    assert bench.fit(workspace, WorkspaceSetup(link=(".env",))).code == 0
    assert [*outside.iterdir()] == []


def test_a_link_in_the_checkout_is_linked_to_itself(bench: Bench) -> None:
    (bench.top / ".env").symlink_to("/nowhere")
    workspace = bench.worktree()
    assert bench.fit(workspace, WorkspaceSetup(link=(".env",))).code == 0
    assert (workspace / ".env").readlink() == Path(bench.top / ".env")
