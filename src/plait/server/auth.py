"""A text that only the holder of a token could have made: until when it is good, a random word, and a signature over both.

Who may come in: the holder of a token, and the browser that one of his links logged in.

Nothing is kept of a login but the cookie itself, which is signed with a key that follows from the token: so it outlives
the server, and dies with the token.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from collections.abc import Callable, Iterator
from enum import StrEnum
from hmac import compare_digest
from secrets import token_hex
from typing import TYPE_CHECKING

from plait.core.errors import UserError
from plait.core.fast_dataclass import dataclass

if TYPE_CHECKING:
    from plait.client.server_tokens import ServerTokens


_TOKEN_PATTERN = re.compile(r"([0-9]{1,12})\.([0-9a-f]{32})\.([0-9a-f]{64})", re.ASCII)


class TokenPurpose(StrEnum):
    """What is sealed for one is worth nothing for the other."""

    COOKIE = "cookie"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class SignedToken:
    """`until` in seconds since 1970."""

    expires_at: int
    nonce: str


def sign_token(token: str, purpose: TokenPurpose, expires_at: int) -> str:
    payload = f"{expires_at}.{token_hex(16)}"
    return f"{payload}.{_signature(token, purpose, payload)}"


def verify_token(token: str, purpose: TokenPurpose, text: str) -> SignedToken | None:
    """None unless it was sealed with this token for this purpose. Whether it is still good is the caller's to say."""
    parsed = _TOKEN_PATTERN.fullmatch(text)
    if parsed is None:
        return None
    expires_at, nonce, signature = parsed.groups()
    if not hmac.compare_digest(signature, _signature(token, purpose, f"{expires_at}.{nonce}")):
        return None
    return SignedToken(int(expires_at), nonce)


def _signature(token: str, purpose: TokenPurpose, payload: str) -> str:
    """By a key of its own for each purpose, from which nobody gets back to the token."""
    key = hmac.digest(token.encode("ascii"), f"plait {purpose.value}".encode("ascii"), "sha256")
    return hmac.new(key, payload.encode("ascii"), hashlib.sha256).hexdigest()


SESSION_COOKIE = "plait_session"


LOGIN_PATH = "/login"


COOKIE_SECONDS = 30 * 86_400


CODE_SECONDS = 600


_SERVER_URL = re.compile(r"https?://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?/?", re.ASCII)


class Access(StrEnum):
    FULL = "full"
    READ = "read"


class AuthMethod(StrEnum):
    TOKEN = "token"  # noqa: S105 - no secret, but how one came in
    COOKIE = "cookie"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: what they may do, and how they came in."""

    access: Access
    by: AuthMethod


class InvalidCode(StrEnum):
    """What became of a one-time code that is no good. A forged one, and one from before a rotation, are both unknown."""

    UNKNOWN = "unknown"
    EXPIRED = "expired"
    USED = "used"


class Authenticator:
    """`tokens` says which are good now, `spend` whether a code was unused until this moment. Both may raise WorldError."""

    def __init__(
        self,
        tokens: Callable[[], ServerTokens],
        use_code: Callable[[str, float], bool],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._tokens = tokens
        self._use_code = use_code
        self._now = now

    def check_token(self, presented: bytes) -> Caller | None:
        """All comparisons are made, each in constant time: how long it takes tells nothing."""
        matching = [access for access, token in self._iter_tokens() if compare_digest(token.encode("ascii"), presented)]
        return Caller(matching[0], AuthMethod.TOKEN) if matching else None

    def check_cookie(self, presented: str) -> Caller | None:
        found = self._verify(TokenPurpose.COOKIE, presented)
        if found is None or found[1].expires_at <= self._now():
            return None
        return Caller(found[0], AuthMethod.COOKIE)

    def issue_cookie(self, access: Access) -> str:
        return self._sign(TokenPurpose.COOKIE, access, COOKIE_SECONDS)

    def issue_code(self, access: Access = Access.FULL) -> str:
        """Good once, for ten minutes. A read-only one needs that there is a read-only token."""
        return self._sign(TokenPurpose.CODE, access, CODE_SECONDS)

    def redeem_code(self, code: str) -> Access | InvalidCode:
        """The access that the code gives, this one time; else why it gives none."""
        found = self._verify(TokenPurpose.CODE, code)
        if found is None:
            return InvalidCode.UNKNOWN
        access, signed = found
        if signed.expires_at <= self._now():
            return InvalidCode.EXPIRED
        return access if self._use_code(signed.nonce, signed.expires_at) else InvalidCode.USED

    def _sign(self, purpose: TokenPurpose, access: Access, seconds: float) -> str:
        token = dict(self._iter_tokens()).get(access)
        if token is None:
            raise UserError("there is no read-only token yet", hint="Make one: plait token --read-only.")
        return sign_token(token, purpose, int(self._now() + seconds))

    def _verify(self, purpose: TokenPurpose, text: str) -> tuple[Access, SignedToken] | None:
        for access, token in self._iter_tokens():
            if signed := verify_token(token, purpose, text):
                return access, signed
        return None

    def _iter_tokens(self) -> Iterator[tuple[Access, str]]:
        tokens = self._tokens()
        yield Access.FULL, tokens.full
        if tokens.read_only is not None:
            yield Access.READ, tokens.read_only


def create_authenticator() -> Authenticator:
    """Those of the user whose server this is."""
    from plait.client.server_tokens import open_token_files  # not for those who bring their own
    from plait.server.used_codes import open_used_codes  # not for those who bring their own

    return Authenticator(open_token_files().read, open_used_codes().redeem)


def make_login_link(authenticator: Authenticator, base_url: str, access: Access = Access.FULL) -> str:
    """One that logs a browser in, once, within ten minutes. Raises UserError if the address is none."""
    return f"{parse_server_url(base_url)}{LOGIN_PATH}?code={authenticator.issue_code(access)}"


def parse_server_url(url: str) -> str:
    """Without a path, and nothing else that a server's address has not; else raises UserError."""
    if _SERVER_URL.fullmatch(url) is None:
        raise UserError(f"{url} is not the address of a server", hint="Say it like http://127.0.0.1:3001.")
    return url.rstrip("/")
