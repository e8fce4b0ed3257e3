"""Trees are removed and measured, whatever an agent made of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plait.system.disk import remove_tree, tree_size
from tests.support.deep_folder import make_deep_folder

DEPTH = 1500  # more than Python calls functions inside each other, and more than a path can name


def test_a_deep_tree_is_removed(tmp_path: Path) -> None:
    deep = tmp_path / "deep"
    make_deep_folder(deep, DEPTH)
    (deep / "moved-1").mkdir()
    (deep / "ab" / "file").touch()
    tree_size(deep)
    remove_tree(deep)
    assert not deep.exists()


@pytest.mark.skipif(not os.geteuid(), reason="root may write everywhere")
def test_a_read_only_tree_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    (folder / "file").touch()
    for each in (folder, folder.parent):
        each.chmod(0o500)
    remove_tree(folder.parent)
    assert not folder.parent.exists()


def test_a_link_is_removed_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "link").symlink_to(tmp_path / "kept")
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    for name in ("tree", "link"):
        remove_tree(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
