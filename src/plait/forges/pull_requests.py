"""A forge over REST: one pull request for a branch, made once and brought up to date afterwards.

Plait's own part of a pull request's body: what people wrote around it, or as a title, stays theirs.

How a person does what plait could not: a link, and a command.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from shlex import quote as worded
from typing import TypeVar, assert_never
from urllib.parse import quote, urlencode

from plait.core.fast_dataclass import dataclass
from plait.forges.address import ForgeProvider, RepoAddress
from plait.forges.api import ForgeApi, OpenPullRequest, PullRequestContent, PullRequestRoute
from plait.forges.http_client import ForgeHttpClient, HttpRefusedError, HttpUnreachableError
from plait.forges.interfaces import ForgeError, PullRequestResult, PullRequestSpec
from plait.forges.tokens import ForgeToken

T = TypeVar("T")


_RETRY_PAUSES = (1.0, 4.0)  # seconds, after what may be otherwise in a moment


_ALREADY_EXISTS = re.compile(r"already exist", re.IGNORECASE)


_NO_DRAFTS = re.compile(r"draft", re.IGNORECASE)


_NO_COMMITS = re.compile(r"no commits between", re.IGNORECASE)


class ForgeUnreachableError(ForgeError):
    """Nobody could be asked: no network, no answer."""


class NothingToProposeError(ForgeError):
    """The branch has nothing that its target lacks."""


@dataclass(frozen=True, slots=True)
class ForgeLocation:
    """Where a pull request leads, and where its branch is: another repository if people push to a fork."""

    kind: ForgeProvider
    target: RepoAddress
    source: RepoAddress


class RestForge:
    def __init__(
        self,
        ends: ForgeLocation,
        dialect: ForgeApi,
        token: Callable[[], ForgeToken | None],
        wire: Callable[[ForgeToken], ForgeHttpClient],
        pause: Callable[[float], None],
    ) -> None:
        self._location = ends
        self._api = dialect
        self._find_token = token
        self._connect = wire
        self._sleep = pause

    def publish_pull_request(self, wanted: PullRequestSpec) -> PullRequestResult:
        """What was done before is found, also after an answer that never came: there is one for the branch."""
        return self._call(lambda wire: self._announce(wire, wanted), self.describe_manual_steps(wanted))

    def describe_manual_steps(self, wanted: PullRequestSpec) -> str:
        """How a person does it. Nobody is asked for it."""
        return describe_manual_steps(self._location.kind, self._location.target, self._location.source, wanted)

    def default_branch(self) -> str:
        found = self._call(
            lambda wire: self._api.get_repository(wire, self._location.target.path),
            "Name the branch that the batch is for, or see: git ls-remote --symref REMOTE HEAD",
        )
        if not found.branch:
            raise ForgeError(f"{self._location.target.web_url} has no branch yet")
        return found.branch

    def _announce(self, wire: ForgeHttpClient, wanted: PullRequestSpec) -> PullRequestResult:
        route = self._route(wire, wanted.branch)
        if found := self._find(wire, route, wanted):
            return self._update(wire, route, found, wanted)
        try:
            return self._create(wire, route, wanted, build_content(wanted))
        except HttpRefusedError as no:
            if not _ALREADY_EXISTS.search(no.detail):
                raise
            # Somebody was quicker, or an earlier try had come through.
            if (found := self._find(wire, route, wanted)) is None:
                raise
            return self._update(wire, route, found, wanted)

    def _route(self, wire: ForgeHttpClient, branch: str) -> PullRequestRoute:
        ends = self._location
        target = self._api.get_repository(wire, ends.target.path)
        same = ends.source == ends.target
        source = target if same else self._api.get_repository(wire, ends.source.path)
        return PullRequestRoute(target, source, branch)

    def _find(self, wire: ForgeHttpClient, route: PullRequestRoute, wanted: PullRequestSpec) -> OpenPullRequest | None:
        """If people opened several, the one for the same branch."""
        found = self._api.find_pull_requests(wire, route)
        return min(found, key=lambda pull: (pull.target != wanted.target, pull.number), default=None)

    def _update(
        self, wire: ForgeHttpClient, route: PullRequestRoute, found: OpenPullRequest, wanted: PullRequestSpec
    ) -> PullRequestResult:
        pull = self._api.update_pull_request(wire, route, found, update_content(found, wanted))
        note = "" if found.target == wanted.target else f"it is for {found.target}, not for {wanted.target}"
        return PullRequestResult(self._url(pull), created=False, note=note)

    def _create(
        self,
        wire: ForgeHttpClient,
        route: PullRequestRoute,
        wanted: PullRequestSpec,
        draft: PullRequestContent,
    ) -> PullRequestResult:
        try:
            return PullRequestResult(self._url(self._api.create_pull_request(wire, route, wanted.target, draft)))
        except HttpRefusedError as no:
            if not draft.is_draft or no.status not in {403, 422} or not _NO_DRAFTS.search(no.detail):
                raise
        pull = self._api.create_pull_request(wire, route, wanted.target, PullRequestContent(draft.title, draft.body))
        return PullRequestResult(self._url(pull), note=f"it is no draft: {self._location.target.host} has none here")

    def _url(self, pull: OpenPullRequest) -> str:
        """A link that can be shown: what a forge says may be anything."""
        return pull.url if re.fullmatch(r"https?://[!-~]+", pull.url) else self._location.target.web_url

    def _call(self, what: Callable[[ForgeHttpClient], T], hint: str) -> T:
        token, wire = self._connect_with_token(hint)
        try:
            return self._retry(lambda: what(wire), token, hint)
        finally:
            wire.close()

    def _retry(self, what: Callable[[], T], token: ForgeToken, hint: str) -> T:
        for usual in _RETRY_PAUSES:
            try:
                return what()
            except (HttpRefusedError, HttpUnreachableError) as no:
                pause = no.find_retry_pause(usual)
                if pause is None:
                    raise self._to_forge_error(no, token, hint) from None
                self._sleep(pause)
        try:
            return what()
        except (HttpRefusedError, HttpUnreachableError) as no:
            raise self._to_forge_error(no, token, hint) from None

    def _connect_with_token(self, hint: str) -> tuple[ForgeToken, ForgeHttpClient]:
        try:
            token = self._find_token()
            if token is not None:
                return token, self._connect(token)
        except HttpUnreachableError as no:
            raise ForgeUnreachableError(no.detail, hint=hint) from None
        except ForgeError as error:
            raise ForgeError(error.message, hint=hint) from None
        login = _describe_login(self._location)
        raise ForgeError(f"there is no token for {self._location.target.host}", hint=f"{login}\n  {hint}")

    def _to_forge_error(self, no: HttpRefusedError | HttpUnreachableError, token: ForgeToken, hint: str) -> ForgeError:
        if isinstance(no, HttpUnreachableError):
            return ForgeUnreachableError(no.detail, hint=hint)
        if _NO_COMMITS.search(no.detail):
            return NothingToProposeError(f"{self._location.target.host}: {no.detail}", hint=hint)
        return ForgeError(_describe_refusal(no, token, self._location), hint=hint)


def _describe_refusal(no: HttpRefusedError, token: ForgeToken, ends: ForgeLocation) -> str:
    host, said = ends.target.host, f": {no.detail}" if no.detail else ""
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


def _describe_login(ends: ForgeLocation) -> str:
    place = ends.target.authority
    match ends.kind:
        case ForgeProvider.GITHUB:
            variable = "GH_TOKEN" if place == "github.com" else "GH_ENTERPRISE_TOKEN"
            return f"Log in with `gh auth login --hostname {place}`, or set {variable}."
        case ForgeProvider.GITLAB:
            return f"Log in with `glab auth login --hostname {place}`, or set GITLAB_TOKEN."
        case ForgeProvider.GITEA:
            return "Set GITEA_TOKEN."


MAX_BODY_CHARS = 65_536  # characters that every forge takes


_SECTION_BEGIN = re.compile(r"<!-- plait ([0-9a-f]{12}) -->")


_SECTION_END = "<!-- /plait -->"


_TRUNCATION_NOTE = "\n\n(more than fits here)"


def build_content(wanted: PullRequestSpec) -> PullRequestContent:
    return PullRequestContent(wanted.title, _build_section(wanted, MAX_BODY_CHARS), wanted.draft)


def update_content(found: OpenPullRequest, wanted: PullRequestSpec) -> PullRequestContent:
    """The part is replaced, or added where there is none. The title is renewed where it is still the one that plait gave,
    or where somebody has just asked for another.
    """
    begin, end = _SECTION_BEGIN.search(found.body), found.body.rfind(_SECTION_END)
    if begin is None or end < begin.end():
        before, after, ours = f"{found.body.rstrip()}\n\n" if found.body.strip() else "", "", False
    else:
        before, after = found.body[: begin.start()], found.body[end + len(_SECTION_END) :]
        ours = begin[1] == _digest_title(found.title)
    section = _build_section(wanted, MAX_BODY_CHARS - len(before) - len(after))
    title = wanted.title if ours or wanted.renamed else found.title
    return PullRequestContent(title, f"{before}{section}{after}")


def _build_section(wanted: PullRequestSpec, room: int) -> str:
    begin = f"<!-- plait {_digest_title(wanted.title)} -->\n"
    body = wanted.body.replace(_SECTION_END, "").strip()
    room = max(0, room - len(begin) - len(_SECTION_END) - 1)
    if len(body) > room:
        short = body[: max(0, room - len(_TRUNCATION_NOTE))]
        body = (short.rpartition("\n")[0] or short) + _TRUNCATION_NOTE
    return f"{begin}{body}\n{_SECTION_END}"


def _digest_title(title: str) -> str:
    return hashlib.sha256(" ".join(title.split()).encode("utf-8", "replace")).hexdigest()[:12]


def describe_manual_steps(
    kind: ForgeProvider, target: RepoAddress, source: RepoAddress, wanted: PullRequestSpec
) -> str:
    """Nothing in it is a secret."""
    return f"By hand: {build_compare_link(kind, target, source, wanted)}\n  or: {build_command(kind, target, source, wanted)}"


def build_compare_link(kind: ForgeProvider, target: RepoAddress, source: RepoAddress, wanted: PullRequestSpec) -> str:
    """The page on which the pull request is opened."""
    match kind:
        case ForgeProvider.GITHUB | ForgeProvider.GITEA:
            ends = f"{quote(wanted.target)}...{_format_source(target, source, wanted.branch)}"
            return f"{target.web_url}/compare/{ends}" + ("?expand=1" if kind is ForgeProvider.GITHUB else "")
        case ForgeProvider.GITLAB:
            branches = {"source_branch": wanted.branch, "target_branch": wanted.target}
            query = urlencode({f"merge_request[{name}]": value for name, value in branches.items()})
            return f"{source.web_url}/-/merge_requests/new?{query}"
    assert_never(kind)


def build_command(kind: ForgeProvider, target: RepoAddress, source: RepoAddress, wanted: PullRequestSpec) -> str:
    head = wanted.branch if source == target else f"{source.owner}:{wanted.branch}"
    match kind:
        case ForgeProvider.GITHUB:
            words = ["gh", "pr", "create", "--repo", f"{target.authority}/{target.path}"]
            words += ["--base", wanted.target, "--head", head, *(["--draft"] if wanted.draft else [])]
        case ForgeProvider.GITLAB:
            words = ["glab", "mr", "create", "--repo", target.web_url]
            words += [] if source == target else ["--head", source.web_url]
            words += ["--target-branch", wanted.target, "--source-branch", wanted.branch]
            words += ["--draft"] if wanted.draft else []
        case ForgeProvider.GITEA:
            words = ["tea", "pulls", "create", "--repo", target.path, "--base", wanted.target, "--head", head]
        case _:
            assert_never(kind)
    return " ".join(map(worded, [*words, "--title", wanted.title]))


def _format_source(target: RepoAddress, source: RepoAddress, branch: str) -> str:
    if source == target:
        return quote(branch)
    return f"{quote(source.owner)}:{quote(branch)}"
