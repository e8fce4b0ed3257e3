"""A folder that plait works in can't be written to or replaced by other users."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plait.core.errors import WorldError
from plait.system.own_folder import require_own_folder

HINT = "Set [workspace] location to a folder of your own."
OTHER_USER = 65534


@pytest.fixture
def public(tmp_path: Path) -> Path:
    """A folder like /tmp."""
    folder = tmp_path / "public"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


def test_a_missing_folder_is_created_for_its_owner_alone(tmp_path: Path, public: Path) -> None:
    for folder in (tmp_path / "cache/plait/worktrees/app", public / "plait/app"):
        require_own_folder(folder, hint=HINT)
        assert folder.stat().st_mode & 0o777 == 0o700
        require_own_folder(folder, hint=HINT)


def test_a_folder_that_others_can_write_to_is_closed_to_them(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app").chmod(0o777)
    require_own_folder(tmp_path / "app", hint=HINT)
    assert (tmp_path / "app").stat().st_mode & 0o777 == 0o755


def test_a_folder_in_which_every_user_can_rename_is_refused(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "open/app").mkdir()
    with pytest.raises(WorldError, match=r"isn't safe to work in: every user can replace what is in .*open") as caught:
        require_own_folder(tmp_path / "open/app", hint=HINT)
    assert caught.value.hint == HINT
    with pytest.raises(WorldError, match="every user can replace"):  # before it is created, too
        require_own_folder(tmp_path / "open/new/app", hint=HINT)
    assert not (tmp_path / "open/new").exists()


def test_an_own_link_in_an_own_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "cache").symlink_to("disk")
    require_own_folder(tmp_path / "cache/app", hint=HINT)
    assert (tmp_path / "disk/app").is_dir()


def test_a_link_into_an_unsafe_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "open/app").mkdir()
    (tmp_path / "cache").symlink_to("open/app")
    with pytest.raises(WorldError, match="every user can replace"):
        require_own_folder(tmp_path / "cache", hint=HINT)


def test_links_that_lead_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(WorldError, match="too many links"):
        require_own_folder(tmp_path / "a", hint=HINT)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
class TestOtherUsers:
    def test_a_folder_of_another_user_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "app").mkdir()
        os.chown(tmp_path / "app", OTHER_USER, -1)
        with pytest.raises(WorldError, match="belongs to another user"):
            require_own_folder(tmp_path / "app", hint=HINT)

    def test_a_folder_that_its_owner_could_replace_is_refused(self, tmp_path: Path) -> None:
        """As in a place that another user has shared."""
        shared = tmp_path / "shared"
        shared.mkdir()
        os.chown(shared, OTHER_USER, -1)
        with pytest.raises(WorldError, match="shared, which it is in, belongs to another user"):
            require_own_folder(shared / "app", hint=HINT)
        assert not list(shared.iterdir())
        (shared / "mine").mkdir()
        require_own_folder(shared / "mine" / "app", hint=HINT)

    @pytest.mark.parametrize("kind", ["link", "folder"])
    def test_what_another_user_left_in_a_public_folder_is_refused(
        self, public: Path, tmp_path: Path, kind: str
    ) -> None:
        """Prepared before plait first used the place."""
        (tmp_path / "mine").mkdir()
        place = public / "plait"
        if kind == "link":
            place.symlink_to(tmp_path / "mine")
        else:
            place.mkdir()
        os.chown(place, OTHER_USER, -1, follow_symlinks=False)
        with pytest.raises(WorldError, match=r"plait belongs to another user"):
            require_own_folder(place / "app", hint=HINT)
        assert list((tmp_path / "mine").iterdir()) == []
