"""Who may come in: tokens, cookies and one-time codes, and how long each is good."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.client.server_tokens import TokenFiles, read_or_create_token, replace_token
from plait.core.errors import UserError
from plait.server.auth import (
    CODE_SECONDS,
    COOKIE_SECONDS,
    Access,
    Authenticator,
    AuthMethod,
    Caller,
    InvalidCode,
    UsedCodes,
    make_login_link,
    parse_server_url,
)

if TYPE_CHECKING:
    from tests.server.middleware.conftest import Clock


def code_of(link: str) -> str:
    return link.partition("?code=")[2]


def changed(text: str, at: int) -> str:
    """With one character of it changed, into another of its kind."""
    other = {"0": "1", ".": ","}.get(text[at], "0")
    return text[:at] + other + text[at + 1 :]


def test_the_token_opens_everything(keys: Authenticator, files: TokenFiles) -> None:
    assert keys.check_token(read_or_create_token(files.full).encode()) == Caller(Access.FULL, AuthMethod.TOKEN)


def test_the_read_only_token_opens_reading(keys: Authenticator, files: TokenFiles) -> None:
    assert keys.check_token(read_or_create_token(files.read_only).encode()) == Caller(Access.READ, AuthMethod.TOKEN)


@pytest.mark.parametrize("presented", [b"", b"0" * 64, b"\xff\x00", b"a" * 100_000])
def test_nothing_else_is_a_token(keys: Authenticator, presented: bytes) -> None:
    assert keys.check_token(presented) is None


def test_a_read_only_token_is_not_there_until_it_is_wanted(keys: Authenticator, files: TokenFiles) -> None:
    assert keys.check_token(b"") is None
    assert not files.read_only.exists()
    with pytest.raises(UserError, match="no read-only token"):
        keys.issue_code(Access.READ)


@pytest.mark.parametrize("access", Access)
def test_a_cookie_is_good_for_thirty_days_and_not_longer(
    keys: Authenticator, files: TokenFiles, clock: Clock, access: Access
) -> None:
    read_or_create_token(files.read_only)
    cookie = keys.issue_cookie(access)
    clock.now += COOKIE_SECONDS - 1
    assert keys.check_cookie(cookie) == Caller(access, AuthMethod.COOKIE)
    clock.now += 1
    assert keys.check_cookie(cookie) is None


def test_a_cookie_outlives_the_server(keys: Authenticator, files: TokenFiles, clock: Clock) -> None:
    cookie = keys.issue_cookie(Access.FULL)
    again = Authenticator(files.read, lambda _code, _until: True, clock)
    assert again.check_cookie(cookie) == Caller(Access.FULL, AuthMethod.COOKIE)


def test_a_cookie_that_was_changed_anywhere_is_worth_nothing(keys: Authenticator) -> None:
    cookie = keys.issue_cookie(Access.FULL)
    for at in range(len(cookie)):
        assert keys.check_cookie(changed(cookie, at)) is None
    for text in ("", ".", cookie + "0", f" {cookie}", cookie.upper(), cookie + "\n", "٣" + cookie[1:]):
        assert keys.check_cookie(text) is None


def test_a_code_is_no_cookie_and_a_cookie_no_code(keys: Authenticator) -> None:
    assert keys.check_cookie(keys.issue_code()) is None
    assert keys.redeem_code(keys.issue_cookie(Access.FULL)) is InvalidCode.UNKNOWN


def test_a_code_is_good_once(keys: Authenticator) -> None:
    code = keys.issue_code()
    assert keys.redeem_code(code) is Access.FULL
    assert keys.redeem_code(code) is InvalidCode.USED


def test_a_code_is_good_for_ten_minutes(keys: Authenticator, clock: Clock) -> None:
    code = keys.issue_code()
    clock.now += CODE_SECONDS
    assert keys.redeem_code(code) is InvalidCode.EXPIRED


def test_a_used_code_stays_used_when_the_server_starts_again(
    keys: Authenticator, files: TokenFiles, tmp_path: Path, clock: Clock
) -> None:
    code = keys.issue_code()
    assert keys.redeem_code(code) is Access.FULL
    again = Authenticator(files.read, UsedCodes(tmp_path / "state" / "spent-codes", clock).redeem, clock)
    assert again.redeem_code(code) is InvalidCode.USED


def test_a_code_that_was_changed_anywhere_is_unknown(keys: Authenticator) -> None:
    code = keys.issue_code()
    assert {keys.redeem_code(changed(code, at)) for at in range(len(code))} == {InvalidCode.UNKNOWN}
    assert keys.redeem_code(code) is Access.FULL


def test_rotation_ends_both_tokens_all_logins_and_all_links_at_once(keys: Authenticator, files: TokenFiles) -> None:
    full, read = read_or_create_token(files.full), read_or_create_token(files.read_only)
    cookies = [keys.issue_cookie(access) for access in Access]
    codes = [keys.issue_code(access) for access in Access]
    fresh = files.rotate()
    assert fresh not in {full, read}
    assert [keys.check_token(old.encode()) for old in (full, read)] == [None, None]
    assert [keys.check_cookie(cookie) for cookie in cookies] == [None, None]
    assert [keys.redeem_code(code) for code in codes] == [InvalidCode.UNKNOWN, InvalidCode.UNKNOWN]
    assert keys.check_token(fresh.encode()) == Caller(Access.FULL, AuthMethod.TOKEN)


def test_rotating_the_read_only_token_leaves_the_other_alone(keys: Authenticator, files: TokenFiles) -> None:
    old = read_or_create_token(files.read_only)
    cookies = {access: keys.issue_cookie(access) for access in Access}
    fresh = replace_token(files.read_only)
    assert keys.check_token(old.encode()) is None
    assert keys.check_token(fresh.encode()) == Caller(Access.READ, AuthMethod.TOKEN)
    assert keys.check_cookie(cookies[Access.READ]) is None
    assert keys.check_cookie(cookies[Access.FULL]) == Caller(Access.FULL, AuthMethod.COOKIE)


def test_a_link_leads_to_the_login(keys: Authenticator) -> None:
    link = make_login_link(keys, "http://127.0.0.1:3001/")
    assert link.startswith("http://127.0.0.1:3001/login?code=")
    assert keys.redeem_code(code_of(link)) is Access.FULL


@pytest.mark.parametrize("url", ["https://plait.example.org", "http://[::1]:3001", "http://localhost"])
def test_addresses_of_servers(url: str) -> None:
    assert parse_server_url(url) == url


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
        parse_server_url(url)
