"""A forge over REST: one pull request for a branch, made once and brought up to date afterwards."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from plait.adapters.forge.address import Address, Kind
from plait.adapters.forge.byhand import by_hand
from plait.adapters.forge.model import Dialect, Draft, Pull, Route, Token
from plait.adapters.forge.section import fresh, renewed
from plait.adapters.forge.wire import Refused, Unreachable, Wire
from plait.core.frozen import dataclass
from plait.ports import Announced, Announcement, ForgeError

T = TypeVar("T")

_PAUSES = (1.0, 4.0)  # seconds, after what may be otherwise in a moment
_EXISTS = re.compile(r"already exist", re.IGNORECASE)
_NO_DRAFTS = re.compile(r"draft", re.IGNORECASE)
_NOTHING = re.compile(r"no commits between", re.IGNORECASE)


class ForgeUnreachableError(ForgeError):
    """Nobody could be asked: no network, no answer."""


class NothingToProposeError(ForgeError):
    """The branch has nothing that its target lacks."""


@dataclass(frozen=True, slots=True)
class Ends:
    """Where a pull request leads, and where its branch is: another repository if people push to a fork."""

    kind: Kind
    target: Address
    source: Address


class RestForge:
    def __init__(
        self,
        ends: Ends,
        dialect: Dialect,
        token: Callable[[], Token | None],
        wire: Callable[[Token], Wire],
        pause: Callable[[float], None],
    ) -> None:
        self._ends = ends
        self._dialect = dialect
        self._find_token = token
        self._connect = wire
        self._pause = pause

    def announce(self, wanted: Announcement) -> Announced:
        """What was done before is found, also after an answer that never came: there is one for the branch."""
        return self._ask(lambda wire: self._announce(wire, wanted), self.by_hand(wanted))

    def by_hand(self, wanted: Announcement) -> str:
        """How a person does it. Nobody is asked for it."""
        return by_hand(self._ends.kind, self._ends.target, self._ends.source, wanted)

    def target(self) -> str:
        found = self._ask(
            lambda wire: self._dialect.repository(wire, self._ends.target.path),
            "Name the branch that the batch is for, or see: git ls-remote --symref REMOTE HEAD",
        )
        if not found.branch:
            raise ForgeError(f"{self._ends.target.web} has no branch yet")
        return found.branch

    def _announce(self, wire: Wire, wanted: Announcement) -> Announced:
        route = self._route(wire, wanted.branch)
        if found := self._found(wire, route, wanted):
            return self._renew(wire, route, found, wanted)
        try:
            return self._make(wire, route, wanted, fresh(wanted))
        except Refused as no:
            if not _EXISTS.search(no.said):
                raise
            # Somebody was quicker, or an earlier try had come through.
            if (found := self._found(wire, route, wanted)) is None:
                raise
            return self._renew(wire, route, found, wanted)

    def _route(self, wire: Wire, branch: str) -> Route:
        ends = self._ends
        target = self._dialect.repository(wire, ends.target.path)
        same = ends.source == ends.target
        source = target if same else self._dialect.repository(wire, ends.source.path)
        return Route(target, source, branch)

    def _found(self, wire: Wire, route: Route, wanted: Announcement) -> Pull | None:
        """If people opened several, the one for the same branch."""
        found = self._dialect.find(wire, route)
        return min(found, key=lambda pull: (pull.target != wanted.target, pull.number), default=None)

    def _renew(self, wire: Wire, route: Route, found: Pull, wanted: Announcement) -> Announced:
        pull = self._dialect.update(wire, route, found, renewed(found, wanted))
        note = "" if found.target == wanted.target else f"it is for {found.target}, not for {wanted.target}"
        return Announced(self._url(pull), made=False, note=note)

    def _make(self, wire: Wire, route: Route, wanted: Announcement, draft: Draft) -> Announced:
        try:
            return Announced(self._url(self._dialect.create(wire, route, wanted.target, draft)))
        except Refused as no:
            if not draft.draft or no.status not in {403, 422} or not _NO_DRAFTS.search(no.said):
                raise
        pull = self._dialect.create(wire, route, wanted.target, Draft(draft.title, draft.body))
        return Announced(self._url(pull), note=f"it is no draft: {self._ends.target.host} has none here")

    def _url(self, pull: Pull) -> str:
        """A link that can be shown: what a forge says may be anything."""
        return pull.url if re.fullmatch(r"https?://[!-~]+", pull.url) else self._ends.target.web

    def _ask(self, what: Callable[[Wire], T], hint: str) -> T:
        token, wire = self._prepare(hint)
        try:
            return self._patiently(lambda: what(wire), token, hint)
        finally:
            wire.close()

    def _patiently(self, what: Callable[[], T], token: Token, hint: str) -> T:
        for usual in _PAUSES:
            try:
                return what()
            except (Refused, Unreachable) as no:
                pause = no.pause(usual)
                if pause is None:
                    raise self._error(no, token, hint) from None
                self._pause(pause)
        try:
            return what()
        except (Refused, Unreachable) as no:
            raise self._error(no, token, hint) from None

    def _prepare(self, hint: str) -> tuple[Token, Wire]:
        try:
            token = self._find_token()
            if token is not None:
                return token, self._connect(token)
        except Unreachable as no:
            raise ForgeUnreachableError(no.said, hint=hint) from None
        except ForgeError as error:
            raise ForgeError(error.message, hint=hint) from None
        login = _login(self._ends)
        raise ForgeError(f"there is no token for {self._ends.target.host}", hint=f"{login}\n  {hint}")

    def _error(self, no: Refused | Unreachable, token: Token, hint: str) -> ForgeError:
        if isinstance(no, Unreachable):
            return ForgeUnreachableError(no.said, hint=hint)
        if _NOTHING.search(no.said):
            return NothingToProposeError(f"{self._ends.target.host}: {no.said}", hint=hint)
        return ForgeError(_meaning(no, token, self._ends), hint=hint)


def _meaning(no: Refused, token: Token, ends: Ends) -> str:
    host, said = ends.target.host, f": {no.said}" if no.said else ""
    if no.wait is not None:
        return f"{host} asks to wait {no.wait:.0f} s{said}"
    match no.status:
        case 401:
            return f"{host} does not take the token from {token.source}{said}"
        case 403:
            return f"{host} does not allow it with the token from {token.source}{said}"
        case 404:
            return f"{host} has no {ends.target.path}, or does not show it to the token from {token.source}{said}"
        case status if status >= 500:
            return f"{host} is in trouble (status {status}){said}"
        case status:
            return f"{host} refused (status {status}){said}"


def _login(ends: Ends) -> str:
    place = ends.target.place
    match ends.kind:
        case Kind.GITHUB:
            variable = "GH_TOKEN" if place == "github.com" else "GH_ENTERPRISE_TOKEN"
            return f"Log in with `gh auth login --hostname {place}`, or set {variable}."
        case Kind.GITLAB:
            return f"Log in with `glab auth login --hostname {place}`, or set GITLAB_TOKEN."
        case Kind.GITEA:
            return "Set GITEA_TOKEN."
