"""Who may use the server: tokens, session cookies and one-time login codes.

Cookies and codes are signed with keys derived from the token, so they outlive the server but not the token.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from secrets import token_hex

from plait.core.errors import UserError, WorldError
from plait.core.fast_dataclass import dataclass
from plait.server import DEFAULT_URL
from plait.store.server_tokens import ServerTokens, open_token_files
from plait.store.state_claim import find_user_folder
from plait.system.atomic_files import fsync_path, make_private_folder

SESSION_COOKIE = "plait_session"
LOGIN_PATH = "/login"
COOKIE_SECONDS = 30 * 86_400
CODE_SECONDS = 600
_RETENTION_SECONDS = 86_400  # after a code's expiry: a clock that is set back must not make it valid again
_SERVER_URL = re.compile(r"https?://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?/?", re.ASCII)
_TOKEN_PATTERN = re.compile(r"([0-9]{1,12})\.([0-9a-f]{32})\.([0-9a-f]{64})", re.ASCII)


class TokenPurpose(StrEnum):
    """What a signed token is for; a signature for one purpose is not valid for the other."""

    COOKIE = "cookie"
    CODE = "code"


def sign_token(token: str, purpose: TokenPurpose, expires_at: int) -> str:
    """Sign a token that is valid until `expires_at`, in seconds since 1970."""
    payload = f"{expires_at}.{token_hex(16)}"
    return f"{payload}.{_compute_signature(token, purpose, payload)}"


def _compute_signature(token: str, purpose: TokenPurpose, payload: str) -> str:
    """Compute a signature with the key of this purpose, from which the token can't be derived."""
    key = hmac.digest(token.encode("ascii"), f"plait {purpose.value}".encode("ascii"), "sha256")
    return hmac.new(key, payload.encode("ascii"), hashlib.sha256).hexdigest()


class Access(StrEnum):
    FULL = "full"
    READ = "read"


class AuthMethod(StrEnum):
    TOKEN = "token"  # noqa: S105 - the name of a method, not a secret
    COOKIE = "cookie"


@dataclass(frozen=True, slots=True)
class Caller:
    """What a caller may do, and how they authenticated."""

    access: Access
    by: AuthMethod


class InvalidCode(StrEnum):
    """Why a one-time code is invalid. Forged ones, and those from before a token rotation, are unknown."""

    UNKNOWN = "unknown"
    EXPIRED = "expired"
    USED = "used"


class Authenticator:
    """Checks credentials. `tokens` reads the current ones, `use_code` returns whether a code was unused; both may raise
    WorldError.
    """

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
        """Return the caller with this token. The duration reveals nothing: comparisons take constant time."""
        matching = [
            access for access, token in self._iter_tokens() if hmac.compare_digest(token.encode("ascii"), presented)
        ]
        return Caller(matching[0], AuthMethod.TOKEN) if matching else None

    def check_cookie(self, presented: str) -> Caller | None:
        match self._verify(TokenPurpose.COOKIE, presented):
            case (access, expires_at, _) if expires_at > self._now():
                return Caller(access, AuthMethod.COOKIE)
            case _:
                return None

    def issue_cookie(self, access: Access) -> str:
        return self._sign(TokenPurpose.COOKIE, access, COOKIE_SECONDS)

    def issue_code(self, access: Access = Access.FULL) -> str:
        """Issue a code that is valid once, for ten minutes. A read-only code needs a read-only token."""
        return self._sign(TokenPurpose.CODE, access, CODE_SECONDS)

    def redeem_code(self, code: str) -> Access | InvalidCode:
        """Return the access that the code gives, once; else why it is invalid."""
        verified = self._verify(TokenPurpose.CODE, code)
        if verified is None:
            return InvalidCode.UNKNOWN
        access, expires_at, nonce = verified
        if expires_at <= self._now():
            return InvalidCode.EXPIRED
        return access if self._use_code(nonce, expires_at) else InvalidCode.USED

    def _sign(self, purpose: TokenPurpose, access: Access, seconds: float) -> str:
        token = dict(self._iter_tokens()).get(access)
        if token is None:
            raise UserError("there is no read-only token yet", hint="Create one: plait token --read-only.")
        return sign_token(token, purpose, int(self._now() + seconds))

    def _verify(self, purpose: TokenPurpose, text: str) -> tuple[Access, int, str] | None:
        """Return access, expiry and nonce if a current token signed the text for this purpose."""
        tokens, parsed = [*self._iter_tokens()], _TOKEN_PATTERN.fullmatch(text)
        if parsed is None:
            return None
        expires_at, nonce, signature = parsed.groups()
        for access, token in tokens:
            if hmac.compare_digest(signature, _compute_signature(token, purpose, f"{expires_at}.{nonce}")):
                return access, int(expires_at), nonce
        return None

    def _iter_tokens(self) -> Iterator[tuple[Access, str]]:
        tokens = self._tokens()
        yield Access.FULL, tokens.full
        if tokens.read_only is not None:
            yield Access.READ, tokens.read_only


class UsedCodes:
    """The codes that were used: an empty file for each, whose name says when it can be deleted.

    A name can be created only once, so of two concurrent uses one succeeds, whichever server gets them.
    """

    def __init__(self, folder: Path, now: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._now = now

    def redeem(self, code: str, until: float) -> bool:
        """Mark a code as used; return whether it was unused. Durable on return; raises WorldError if that can't be
        saved, and then the code must not be accepted.
        """
        name = f"{int(until)}-{hashlib.sha256(code.encode('utf-8', 'surrogatepass')).hexdigest()}"
        try:
            make_private_folder(self._folder)
            self._delete_expired()
            return self._claim(self._folder / name)
        except OSError as error:
            raise WorldError(
                f"can't save the used code in {self._folder}: {error.strerror}",
                hint="Check permissions and free disk space.",
            ) from error

    def _claim(self, path: Path) -> bool:
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        except FileExistsError:
            return False
        fsync_path(self._folder)
        return True

    def _delete_expired(self) -> None:
        cutoff = self._now() - _RETENTION_SECONDS
        for name in os.listdir(self._folder):  # noqa: PTH208 - names are wanted
            until = name.partition("-")[0]
            if until.isascii() and until.isdigit() and int(until) < cutoff:
                with suppress(OSError):  # another server deletes too
                    (self._folder / name).unlink()


def create_authenticator() -> Authenticator:
    """Create an authenticator with the token files and used codes of the current user."""
    return Authenticator(open_token_files().read, UsedCodes(find_user_folder() / "spent-codes").redeem)


def make_login_link(authenticator: Authenticator, base_url: str, access: Access = Access.FULL) -> str:
    """Make a link that logs a browser in, once, within ten minutes. Raises UserError for an invalid URL."""
    return f"{parse_server_url(base_url)}{LOGIN_PATH}?code={authenticator.issue_code(access)}"


def parse_server_url(url: str) -> str:
    """Return the URL if it has only scheme, host and port; else raise UserError."""
    if _SERVER_URL.fullmatch(url) is None:
        raise UserError(f"{url} is not the address of a server", hint=f"Use the form {DEFAULT_URL}.")
    return url.rstrip("/")
