"""Who may come in: the holder of a token, and the browser that one of his links logged in.

Nothing is kept of a login but the cookie itself, which is signed with a key that follows from the token: so it outlives
the server, and dies with the token.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from enum import StrEnum
from hmac import compare_digest
from typing import TYPE_CHECKING

from plait.core.errors import UserError
from plait.core.frozen import dataclass
from plait.server.seal import Purpose, Sealed, seal, unseal

if TYPE_CHECKING:
    from plait.wiring.keys import Tokens

COOKIE = "plait_session"
LOGIN = "/login"
COOKIE_SECONDS = 30 * 86_400
CODE_SECONDS = 600
_ADDRESS = re.compile(r"https?://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?/?", re.ASCII)


class Access(StrEnum):
    FULL = "full"
    READ = "read"


class By(StrEnum):
    TOKEN = "token"  # noqa: S105 - no secret, but how one came in
    COOKIE = "cookie"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: what they may do, and how they came in."""

    access: Access
    by: By


class Code(StrEnum):
    """What became of a one-time code that is no good. A forged one, and one from before a rotation, are both unknown."""

    UNKNOWN = "unknown"
    EXPIRED = "expired"
    USED = "used"


class Keys:
    """`tokens` says which are good now, `spend` whether a code was unused until this moment. Both may raise WorldError."""

    def __init__(
        self,
        tokens: Callable[[], Tokens],
        spend: Callable[[str, float], bool],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._tokens = tokens
        self._spend = spend
        self._now = now

    def by_token(self, presented: bytes) -> Caller | None:
        """All comparisons are made, each in constant time: how long it takes tells nothing."""
        same = [access for access, token in self._each() if compare_digest(token.encode("ascii"), presented)]
        return Caller(same[0], By.TOKEN) if same else None

    def by_cookie(self, presented: str) -> Caller | None:
        found = self._opened(Purpose.COOKIE, presented)
        if found is None or found[1].until <= self._now():
            return None
        return Caller(found[0], By.COOKIE)

    def cookie(self, access: Access) -> str:
        return self._sealed(Purpose.COOKIE, access, COOKIE_SECONDS)

    def code(self, access: Access = Access.FULL) -> str:
        """Good once, for ten minutes. A read-only one needs that there is a read-only token."""
        return self._sealed(Purpose.CODE, access, CODE_SECONDS)

    def redeem(self, code: str) -> Access | Code:
        """The access that the code gives, this one time; else why it gives none."""
        found = self._opened(Purpose.CODE, code)
        if found is None:
            return Code.UNKNOWN
        access, sealed = found
        if sealed.until <= self._now():
            return Code.EXPIRED
        return access if self._spend(sealed.nonce, sealed.until) else Code.USED

    def _sealed(self, purpose: Purpose, access: Access, seconds: float) -> str:
        token = dict(self._each()).get(access)
        if token is None:
            raise UserError("there is no read-only token yet", hint="Make one: plait token --read-only.")
        return seal(token, purpose, int(self._now() + seconds))

    def _opened(self, purpose: Purpose, text: str) -> tuple[Access, Sealed] | None:
        for access, token in self._each():
            if sealed := unseal(token, purpose, text):
                return access, sealed
        return None

    def _each(self) -> Iterator[tuple[Access, str]]:
        tokens = self._tokens()
        yield Access.FULL, tokens.full
        if tokens.read_only is not None:
            yield Access.READ, tokens.read_only


def user_keys() -> Keys:
    """Those of the user whose server this is."""
    from plait.wiring.keys import spent_codes, token_files  # noqa: PLC0415 - not for those who bring their own

    return Keys(token_files().now, spent_codes().spend)


def login_link(keys: Keys, base_url: str, access: Access = Access.FULL) -> str:
    """One that logs a browser in, once, within ten minutes. Raises UserError if the address is none."""
    return f"{server_address(base_url)}{LOGIN}?code={keys.code(access)}"


def server_address(url: str) -> str:
    """Without a path, and nothing else that a server's address has not; else raises UserError."""
    if _ADDRESS.fullmatch(url) is None:
        raise UserError(f"{url} is not the address of a server", hint="Say it like http://127.0.0.1:3001.")
    return url.rstrip("/")
