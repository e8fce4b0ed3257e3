"""Who may come in: tokens, cookies and one-time codes, and how long each is good."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.adapters.spent import SpentCodes
from plait.adapters.token import TokenFiles, rotate, token
from plait.core.errors import UserError
from plait.server.keys import (
    CODE_SECONDS,
    COOKIE_SECONDS,
    Access,
    By,
    Caller,
    Code,
    Keys,
    login_link,
    server_address,
)

if TYPE_CHECKING:
    from tests.server.guard.conftest import Clock


def code_of(link: str) -> str:
    return link.partition("?code=")[2]


def changed(text: str, at: int) -> str:
    """With one character of it changed, into another of its kind."""
    other = {"0": "1", ".": ","}.get(text[at], "0")
    return text[:at] + other + text[at + 1 :]


def test_the_token_opens_everything(keys: Keys, files: TokenFiles) -> None:
    assert keys.by_token(token(files.full).encode()) == Caller(Access.FULL, By.TOKEN)


def test_the_read_only_token_opens_reading(keys: Keys, files: TokenFiles) -> None:
    assert keys.by_token(token(files.read_only).encode()) == Caller(Access.READ, By.TOKEN)


@pytest.mark.parametrize("presented", [b"", b"0" * 64, b"\xff\x00", b"a" * 100_000])
def test_nothing_else_is_a_token(keys: Keys, presented: bytes) -> None:
    assert keys.by_token(presented) is None


def test_a_read_only_token_is_not_there_until_it_is_wanted(keys: Keys, files: TokenFiles) -> None:
    assert keys.by_token(b"") is None
    assert not files.read_only.exists()
    with pytest.raises(UserError, match="no read-only token"):
        keys.code(Access.READ)


@pytest.mark.parametrize("access", Access)
def test_a_cookie_is_good_for_thirty_days_and_not_longer(
    keys: Keys, files: TokenFiles, clock: Clock, access: Access
) -> None:
    token(files.read_only)
    cookie = keys.cookie(access)
    clock.now += COOKIE_SECONDS - 1
    assert keys.by_cookie(cookie) == Caller(access, By.COOKIE)
    clock.now += 1
    assert keys.by_cookie(cookie) is None


def test_a_cookie_outlives_the_server(keys: Keys, files: TokenFiles, clock: Clock) -> None:
    cookie = keys.cookie(Access.FULL)
    again = Keys(files.now, lambda _code, _until: True, clock)
    assert again.by_cookie(cookie) == Caller(Access.FULL, By.COOKIE)


def test_a_cookie_that_was_changed_anywhere_is_worth_nothing(keys: Keys) -> None:
    cookie = keys.cookie(Access.FULL)
    for at in range(len(cookie)):
        assert keys.by_cookie(changed(cookie, at)) is None
    for text in ("", ".", cookie + "0", f" {cookie}", cookie.upper(), cookie + "\n", "٣" + cookie[1:]):
        assert keys.by_cookie(text) is None


def test_a_code_is_no_cookie_and_a_cookie_no_code(keys: Keys) -> None:
    assert keys.by_cookie(keys.code()) is None
    assert keys.redeem(keys.cookie(Access.FULL)) is Code.UNKNOWN


def test_a_code_is_good_once(keys: Keys) -> None:
    code = keys.code()
    assert keys.redeem(code) is Access.FULL
    assert keys.redeem(code) is Code.USED


def test_a_code_is_good_for_ten_minutes(keys: Keys, clock: Clock) -> None:
    code = keys.code()
    clock.now += CODE_SECONDS
    assert keys.redeem(code) is Code.EXPIRED


def test_a_used_code_stays_used_when_the_server_starts_again(
    keys: Keys, files: TokenFiles, tmp_path: Path, clock: Clock
) -> None:
    code = keys.code()
    assert keys.redeem(code) is Access.FULL
    again = Keys(files.now, SpentCodes(tmp_path / "state" / "spent-codes", clock).spend, clock)
    assert again.redeem(code) is Code.USED


def test_a_code_that_was_changed_anywhere_is_unknown(keys: Keys) -> None:
    code = keys.code()
    assert {keys.redeem(changed(code, at)) for at in range(len(code))} == {Code.UNKNOWN}
    assert keys.redeem(code) is Access.FULL


def test_rotation_ends_both_tokens_all_logins_and_all_links_at_once(keys: Keys, files: TokenFiles) -> None:
    full, read = token(files.full), token(files.read_only)
    cookies = [keys.cookie(access) for access in Access]
    codes = [keys.code(access) for access in Access]
    fresh = files.rotate()
    assert fresh not in {full, read}
    assert [keys.by_token(old.encode()) for old in (full, read)] == [None, None]
    assert [keys.by_cookie(cookie) for cookie in cookies] == [None, None]
    assert [keys.redeem(code) for code in codes] == [Code.UNKNOWN, Code.UNKNOWN]
    assert keys.by_token(fresh.encode()) == Caller(Access.FULL, By.TOKEN)


def test_rotating_the_read_only_token_leaves_the_other_alone(keys: Keys, files: TokenFiles) -> None:
    old = token(files.read_only)
    cookies = {access: keys.cookie(access) for access in Access}
    fresh = rotate(files.read_only)
    assert keys.by_token(old.encode()) is None
    assert keys.by_token(fresh.encode()) == Caller(Access.READ, By.TOKEN)
    assert keys.by_cookie(cookies[Access.READ]) is None
    assert keys.by_cookie(cookies[Access.FULL]) == Caller(Access.FULL, By.COOKIE)


def test_a_link_leads_to_the_login(keys: Keys) -> None:
    link = login_link(keys, "http://127.0.0.1:3001/")
    assert link.startswith("http://127.0.0.1:3001/login?code=")
    assert keys.redeem(code_of(link)) is Access.FULL


@pytest.mark.parametrize("url", ["https://plait.example.org", "http://[::1]:3001", "http://localhost"])
def test_addresses_of_servers(url: str) -> None:
    assert server_address(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:3001",
        "ftp://host",
        "http://",
        "http://a/b",
        "http://u:p@host",
        "http://a?x",
        "http://a\n",
        "http://a b",
    ],
)
def test_what_is_no_address_is_told(url: str) -> None:
    with pytest.raises(UserError, match="not the address of a server"):
        server_address(url)
