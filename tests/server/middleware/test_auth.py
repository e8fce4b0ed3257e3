"""Tokens, cookies and one-time codes: what each allows, and for how long."""

from __future__ import annotations

import hmac
from hmac import compare_digest
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

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
from plait.store.server_tokens import TokenFiles, read_or_create_token, replace_token

if TYPE_CHECKING:
    from tests.server.middleware.conftest import Clock


def code_of(link: str) -> str:
    return link.partition("?code=")[2]


def changed(text: str, at: int) -> str:
    """With one character of it changed, into another of its kind."""
    other = {"0": "1", ".": ","}.get(text[at], "0")
    return text[:at] + other + text[at + 1 :]


def test_the_token_gives_full_access(authenticator: Authenticator, token_files: TokenFiles) -> None:
    assert authenticator.check_token(read_or_create_token(token_files.full).encode()) == Caller(
        Access.FULL, AuthMethod.TOKEN
    )


def test_the_read_only_token_gives_read_access(authenticator: Authenticator, token_files: TokenFiles) -> None:
    assert authenticator.check_token(read_or_create_token(token_files.read_only).encode()) == Caller(
        Access.READ, AuthMethod.TOKEN
    )


@pytest.mark.parametrize("presented", [b"", b"0" * 64, b"\xff\x00", b"a" * 100_000])
def test_a_wrong_token_is_rejected(authenticator: Authenticator, presented: bytes) -> None:
    assert authenticator.check_token(presented) is None


def test_tokens_are_compared_in_constant_time(
    authenticator: Authenticator, token_files: TokenFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is compared with both, whether or not the first is right, and only by the function that takes equally long."""
    tokens = [read_or_create_token(path) for path in (token_files.full, token_files.read_only)]
    compared: list[str] = []

    def compare(known: bytes, presented: bytes) -> bool:
        compared.append(known.decode())
        return compare_digest(known, presented)

    monkeypatch.setattr(hmac, "compare_digest", compare)
    for presented in (*tokens, "wrong"):
        compared.clear()
        authenticator.check_token(presented.encode())
        assert compared == tokens


def test_there_is_no_read_only_token_until_one_is_created(
    authenticator: Authenticator, token_files: TokenFiles
) -> None:
    assert authenticator.check_token(b"") is None
    assert not token_files.read_only.exists()
    with pytest.raises(UserError, match="no read-only token"):
        authenticator.issue_code(Access.READ)


@pytest.mark.parametrize("access", Access)
def test_a_cookie_is_valid_for_thirty_days(
    authenticator: Authenticator, token_files: TokenFiles, clock: Clock, access: Access
) -> None:
    read_or_create_token(token_files.read_only)
    cookie = authenticator.issue_cookie(access)
    clock.now += COOKIE_SECONDS - 1
    assert authenticator.check_cookie(cookie) == Caller(access, AuthMethod.COOKIE)
    clock.now += 1
    assert authenticator.check_cookie(cookie) is None


def test_a_cookie_is_valid_after_a_server_restart(
    authenticator: Authenticator, token_files: TokenFiles, clock: Clock
) -> None:
    cookie = authenticator.issue_cookie(Access.FULL)
    again = Authenticator(token_files.read, lambda _code, _until: True, clock)
    assert again.check_cookie(cookie) == Caller(Access.FULL, AuthMethod.COOKIE)


def test_a_modified_cookie_is_invalid(authenticator: Authenticator) -> None:
    cookie = authenticator.issue_cookie(Access.FULL)
    for at in range(len(cookie)):
        assert authenticator.check_cookie(changed(cookie, at)) is None
    for text in ("", ".", cookie + "0", f" {cookie}", cookie.upper(), cookie + "\n", "٣" + cookie[1:]):
        assert authenticator.check_cookie(text) is None


def test_a_code_is_not_a_cookie_and_a_cookie_is_not_a_code(authenticator: Authenticator) -> None:
    assert authenticator.check_cookie(authenticator.issue_code()) is None
    assert authenticator.redeem_code(authenticator.issue_cookie(Access.FULL)) is InvalidCode.UNKNOWN


def test_a_login_link_works_once(authenticator: Authenticator) -> None:
    code = authenticator.issue_code()
    assert authenticator.redeem_code(code) is Access.FULL
    assert authenticator.redeem_code(code) is InvalidCode.USED


def test_a_login_link_works_for_ten_minutes(authenticator: Authenticator, clock: Clock) -> None:
    code = authenticator.issue_code()
    clock.now += CODE_SECONDS
    assert authenticator.redeem_code(code) is InvalidCode.EXPIRED


def test_a_used_login_link_stays_used_after_a_restart(
    authenticator: Authenticator, token_files: TokenFiles, tmp_path: Path, clock: Clock
) -> None:
    code = authenticator.issue_code()
    assert authenticator.redeem_code(code) is Access.FULL
    again = Authenticator(token_files.read, UsedCodes(tmp_path / "state" / "spent-codes", clock).redeem, clock)
    assert again.redeem_code(code) is InvalidCode.USED


def test_a_modified_code_is_unknown(authenticator: Authenticator) -> None:
    code = authenticator.issue_code()
    assert {authenticator.redeem_code(changed(code, at)) for at in range(len(code))} == {InvalidCode.UNKNOWN}
    assert authenticator.redeem_code(code) is Access.FULL


def test_rotation_invalidates_both_tokens_all_cookies_and_all_links(
    authenticator: Authenticator, token_files: TokenFiles
) -> None:
    full, read = read_or_create_token(token_files.full), read_or_create_token(token_files.read_only)
    cookies = [authenticator.issue_cookie(access) for access in Access]
    codes = [authenticator.issue_code(access) for access in Access]
    fresh = token_files.rotate()
    assert fresh not in {full, read}
    assert [authenticator.check_token(old.encode()) for old in (full, read)] == [None, None]
    assert [authenticator.check_cookie(cookie) for cookie in cookies] == [None, None]
    assert [authenticator.redeem_code(code) for code in codes] == [InvalidCode.UNKNOWN, InvalidCode.UNKNOWN]
    assert authenticator.check_token(fresh.encode()) == Caller(Access.FULL, AuthMethod.TOKEN)


def test_rotating_the_read_only_token_keeps_the_full_one(authenticator: Authenticator, token_files: TokenFiles) -> None:
    old = read_or_create_token(token_files.read_only)
    cookies = {access: authenticator.issue_cookie(access) for access in Access}
    fresh = replace_token(token_files.read_only)
    assert authenticator.check_token(old.encode()) is None
    assert authenticator.check_token(fresh.encode()) == Caller(Access.READ, AuthMethod.TOKEN)
    assert authenticator.check_cookie(cookies[Access.READ]) is None
    assert authenticator.check_cookie(cookies[Access.FULL]) == Caller(Access.FULL, AuthMethod.COOKIE)


def test_a_login_link_has_the_login_path_and_a_code(authenticator: Authenticator) -> None:
    link = make_login_link(authenticator, "http://127.0.0.1:3001/")
    assert link.startswith("http://127.0.0.1:3001/login?code=")
    assert authenticator.redeem_code(code_of(link)) is Access.FULL


@pytest.mark.parametrize("url", ["https://plait.example.org", "http://[::1]:3001", "http://localhost"])
def test_server_urls_are_accepted_with_scheme_host_and_port(url: str) -> None:
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
def test_an_invalid_server_url_is_an_error(url: str) -> None:
    with pytest.raises(UserError, match="not the address of a server"):
        parse_server_url(url)
