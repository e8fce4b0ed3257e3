"""Addresses: which spellings are one repository, and what is never handed to git."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.core.errors import UserError
from plait.git.remote_url import parse_remote_url


@pytest.mark.parametrize(
    "same",
    [
        [
            "https://host.org/owner/name",
            "https://host.org/owner/name.git",
            "https://host.org/owner/name/",
            "https://host.org//owner/name.git/",
            "HTTPS://Host.ORG:443/owner/name",
            "https://ann@host.org/owner/name",
            "https://host.org/owner/n%61me",
            "  https://host.org/owner/name ",
        ],
        ["git@host.org:owner/name", "git@HOST.org:owner/name.git", "ssh://git@host.org:22/~/owner/name/"],
        ["git@host.org:/srv/name.git", "ssh://git@host.org/srv/name", "ssh://git@host.org:/srv/name.git"],
        ["ssh://git@[::1]/srv/name", "git@[::1]:/srv/name"],
    ],
)
def test_different_spellings_of_one_repository_share_a_mirror(same: list[str]) -> None:
    assert len({parse_remote_url(each).folder for each in same}) == 1


def test_urls_that_may_differ_have_different_mirrors() -> None:
    different = [
        "https://host.org/owner/name",
        "http://host.org/owner/name",
        "https://host.org:8443/owner/name",
        "https://host.org/Owner/name",
        "https://host.org/owner/name2",
        "https://host.com/owner/name",
        "ssh://git@host.org/owner/name",
        "ssh://ann@host.org/owner/name",
        "git@host.org:owner/name",
        "git://host.org/owner/name",
    ]
    assert len({parse_remote_url(each).folder for each in different}) == len(different)


def test_all_paths_of_a_folder_share_a_mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "site one.git").mkdir()
    (tmp_path / "link").symlink_to("site one.git")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    ways = [
        "site one.git",
        "./site one",
        "~/link",
        str(tmp_path / "link"),
        f"file://{tmp_path}/site%20one.git",
    ]
    assert {parse_remote_url(spelling).url for spelling in ways} == {str(tmp_path / "site one.git")}
    (tmp_path / "site one").mkdir()
    assert parse_remote_url("site one").folder != parse_remote_url("site one.git").folder


def test_a_user_name_for_http_is_removed_from_the_url() -> None:
    found = parse_remote_url("https://ann@host.org/owner/name")
    assert (found.url, found.user) == ("https://host.org/owner/name", "ann")


@pytest.mark.parametrize(
    "secret",
    [
        "https://ann:hunter2@host.org/owner/name",
        "https://:hunter2@host.org/owner/name",
        "https://ann:hun/hunter2@host.org/owner/name",
        "https://host.org/owner/name?token=hunter2",
        "https://host.org/owner/name#hunter2",
        "ssh://git:hunter2@host.org/owner/name",
        "http://x-token:hunter2@[::1]:80/owner/name",
        "ann:hunter2@host.org/owner/name",
        "ann:hunter2@host.org:owner/name",
    ],
)
def test_a_secret_in_a_url_is_refused_and_not_printed(secret: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_remote_url(secret)
    assert "hunter2" not in str(caught.value)
    assert "credential" in caught.value.hint


@pytest.mark.parametrize(
    "hostile",
    [
        "",
        " ",
        "ext::sh -c 'touch /tmp/pwned'",
        "EXT::sh",
        "::x",
        "fd::17",
        "persistent-https::x",
        "--upload-pack=touch pwned",
        "-u",
        "ssh://-oProxyCommand=touch/x",
        "ssh://-l@host/x",
        "-oProxyCommand=x:y",
        "a@-oProxyCommand=x:y",
        "host:-x",
        "ftp://host/x",
        "javascript://x/y",
        "https://",
        "https:///x",
        "https://host",
        "https://host/",
        "https://ho st/x",
        "https://host:port/x",
        "https://host/x\n--upload-pack=y",
        "https://host/\x00x",
        "https://host/\x1b[2Kx",
        "git://ann@host/x",
        "/nowhere/at/all",
        "nowhere",
    ],
)
def test_an_invalid_url_is_refused(hostile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError) as caught:
        parse_remote_url(hostile)
    assert caught.value.hint
    assert "\x1b" not in caught.value.message


@pytest.mark.parametrize("name", ["..", ".", "a b", "é", "x" * 300, "con:trol", "~", ".git"])
def test_every_repository_name_gives_one_folder_name(name: str) -> None:
    folder = parse_remote_url(f"https://host.org/owner/{name}").folder
    assert "/" not in folder
    assert not folder.startswith(".")
    assert len(folder) < 100
