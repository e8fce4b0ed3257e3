"""Files and folders of the checkout that a workspace gets a link to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from plait.git.interfaces import WorkspaceSetup

if TYPE_CHECKING:
    from tests.runtime.setup.conftest import SetupHarness


def test_a_linked_folder_is_one_link_and_not_part_of_the_change(harness: SetupHarness) -> None:
    harness.write("data/big/set", "values")
    workspace, setup = harness.worktree(), WorkspaceSetup(link=("data",))
    assert harness.wanted(workspace, setup)
    ended = harness.fit(workspace, setup)
    assert ended.out.splitlines() == ["plait: linked from the checkout: data/", "the agent runs"]
    assert (workspace / "data").readlink() == harness.top / "data"
    assert (workspace / "data/big/set").read_text() == "values"
    # `data/` in .gitignore means folders only: git sees the link.
    assert harness.status(workspace) == "?? data"
    assert harness.ours(workspace) == {"data"}
    assert not harness.wanted(workspace, setup)


def test_a_linked_file_is_not_copied(harness: SetupHarness) -> None:
    harness.write("data/big/set")
    harness.write("data/small")
    workspace = harness.worktree()
    harness.fit(workspace, WorkspaceSetup(copy=("data",), link=("data/big",)))
    assert (workspace / "data/big").readlink() == harness.top / "data/big"
    assert (workspace / "data/small").is_file()
    assert not (workspace / "data").is_symlink()
    other = harness.worktree("other")
    harness.fit(other, WorkspaceSetup(copy=("data/big",), link=("data",)))
    assert (other / "data").is_symlink()


def test_a_tracked_file_is_not_replaced_by_a_link(harness: SetupHarness) -> None:
    harness.write("data/kept")
    harness.commit("data/kept")
    workspace = harness.worktree()
    harness.git("rm", "-q", "-r", "--cached", "data")
    ended = harness.fit(workspace, WorkspaceSetup(link=("data",)))
    assert "plait: warning: data is not linked: git tracks files in it" in ended.out
    assert not (workspace / "data").is_symlink()
    assert harness.status(workspace) == ""


def test_an_existing_file_is_not_replaced_by_a_link(harness: SetupHarness) -> None:
    harness.write("data/a")
    workspace = harness.worktree()
    (workspace / "data").write_text("of an agent")
    ended = harness.fit(workspace, WorkspaceSetup(link=("data",)))
    assert "plait: warning: data is there already and is not linked" in ended.out
    assert (workspace / "data").read_text() == "of an agent"


def test_no_link_leads_out_of_the_checkout(harness: SetupHarness) -> None:
    (harness.root / "outside").mkdir()
    workspace = harness.worktree()
    ended = harness.fit(workspace, WorkspaceSetup(link=("../outside", str(harness.root / "outside"))))
    assert ended.code == 0
    assert "plait: warning: ../outside is outside of the checkout" in ended.out
    assert not any(each.is_symlink() for each in workspace.rglob("*"))


def test_no_link_is_made_through_a_committed_link(harness: SetupHarness) -> None:
    outside = harness.root / "outside"
    outside.mkdir()
    (harness.top / "config").symlink_to(outside)
    harness.commit("config")
    workspace = harness.worktree()
    harness.git("rm", "-q", "config")
    harness.write("config/.env")
    assert harness.fit(workspace, WorkspaceSetup(link=(".env",))).code == 0
    assert [*outside.iterdir()] == []


def test_a_link_in_the_checkout_is_linked_to_itself(harness: SetupHarness) -> None:
    (harness.top / ".env").symlink_to("/nowhere")
    workspace = harness.worktree()
    assert harness.fit(workspace, WorkspaceSetup(link=(".env",))).code == 0
    assert (workspace / ".env").readlink() == Path(harness.top / ".env")
