"""One pull request per batch branch: created once, updated afterwards, without changing what people wrote in it."""

from __future__ import annotations

import hashlib
import re
import shlex
import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from plait.config.git_keys import ForgeKind
from plait.core.fast_dataclass import dataclass
from plait.forges.forge import (
    Forge,
    ForgeError,
    ForgeToken,
    OpenPullRequest,
    PullRequestContent,
    PullRequestResult,
    PullRequestRoute,
    PullRequestSpec,
    RepoAddress,
    find_forge,
)
from plait.forges.http_client import ForgeHttpClient, HttpRefusedError, HttpUnreachableError
from plait.forges.remote import find_remote, resolve_address
from plait.forges.tokens import describe_login, find_token
from plait.git.command import Git

T = TypeVar("T")

MAX_BODY_CHARS = 65_536  # accepted by every forge

_RETRY_PAUSES = (1.0, 4.0)  # seconds
_ALREADY_EXISTS = re.compile(r"already exist", re.IGNORECASE)
_NO_DRAFTS = re.compile(r"draft", re.IGNORECASE)
_SECTION_BEGIN = re.compile(r"<!-- plait ([0-9a-f]{12}) -->")
_SECTION_END = "<!-- /plait -->"
_TRUNCATION_NOTE = "\n\n(truncated)"


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """Options for requests. `timeout` is for one answer, in seconds; `sleep` waits before a retry."""

    timeout: float = 30.0
    sleep: Callable[[float], None] = time.sleep


@dataclass(frozen=True, slots=True)
class ForgeLocation:
    """The repository that gets the pull request, and the one that has its branch: another one with a fork."""

    forge: Forge
    target: RepoAddress
    source: RepoAddress

    def describe_manual_steps(self, spec: PullRequestSpec) -> str:
        """Say how a person opens the pull request. The text holds no secret."""
        link = self.forge.build_compare_link(self.target, self.source, spec)
        command = [*self.forge.build_create_command(self.target, self.source, spec), "--title", spec.title]
        return f"By hand: {link}\n  or: {shlex.join(command)}"


def locate_forge(git: Git, remote: str, environment: Mapping[str, str], kind: ForgeKind) -> ForgeLocation:
    """Find out where pull requests for this remote belong. Uses no network."""
    urls = find_remote(git, remote)
    target = resolve_address(urls.fetch, environment)
    forge = find_forge(target, kind)
    if urls.push == urls.fetch:
        return ForgeLocation(forge, target, target)
    pushed = resolve_address(urls.push, environment)
    if pushed.host != target.host:
        raise ForgeError(
            f"{urls.name} is pushed to {pushed.host}, but its pull requests are on {target.host}",
            hint="Name another remote; see: git remote -v",
        )
    return ForgeLocation(forge, target, replace(target, path=pushed.path))


class ForgeClient:
    """Manages pull requests for one remote. Nothing is sent before it is needed."""

    def __init__(
        self,
        git: Git,
        remote: str,
        *,
        environment: Mapping[str, str],
        kind: ForgeKind = ForgeKind.AUTO,
        http: HttpOptions | None = None,
    ) -> None:
        self.location = locate_forge(git, remote, environment, kind)
        self._forge = self.location.forge
        self._git = git
        self._environment = environment
        self._http = http or HttpOptions()

    def publish_pull_request(self, spec: PullRequestSpec) -> PullRequestResult:
        """Create or update the branch's one pull request, even if an earlier call got no answer."""
        return self._call(lambda client: self._publish(client, spec), self.location.describe_manual_steps(spec))

    def _publish(self, client: ForgeHttpClient, spec: PullRequestSpec) -> PullRequestResult:
        target = self._forge.get_repository(client, self.location.target.path)
        source = (
            target
            if self.location.source == self.location.target
            else self._forge.get_repository(client, self.location.source.path)
        )
        route = PullRequestRoute(target, source, spec.branch)
        if pull := self._find(client, route, spec):
            return self._update(client, route, pull, spec)
        try:
            return self._create(client, route, spec, build_content(spec))
        except HttpRefusedError as refusal:
            if not _ALREADY_EXISTS.search(refusal.detail):
                raise
            # An earlier try succeeded without an answer, or another client was faster.
            if (pull := self._find(client, route, spec)) is None:
                raise
            return self._update(client, route, pull, spec)

    def _find(self, client: ForgeHttpClient, route: PullRequestRoute, spec: PullRequestSpec) -> OpenPullRequest | None:
        """Find the pull request; of several, the one with the same target."""
        pulls = self._forge.find_pull_requests(client, route)
        return min(pulls, key=lambda pull: (pull.target != spec.target, pull.number), default=None)

    def _update(
        self, client: ForgeHttpClient, route: PullRequestRoute, pull: OpenPullRequest, spec: PullRequestSpec
    ) -> PullRequestResult:
        updated = self._forge.update_pull_request(client, route, pull, update_content(pull, spec))
        note = "" if pull.target == spec.target else f"the pull request targets {pull.target}, not {spec.target}"
        return PullRequestResult(self._get_url(updated), created=False, note=note)

    def _create(
        self, client: ForgeHttpClient, route: PullRequestRoute, spec: PullRequestSpec, content: PullRequestContent
    ) -> PullRequestResult:
        try:
            return PullRequestResult(
                self._get_url(self._forge.create_pull_request(client, route, spec.target, content))
            )
        except HttpRefusedError as refusal:
            if not content.is_draft or refusal.status not in {403, 422} or not _NO_DRAFTS.search(refusal.detail):
                raise
        pull = self._forge.create_pull_request(client, route, spec.target, replace(content, is_draft=False))
        return PullRequestResult(
            self._get_url(pull), note=f"not a draft: {self.location.target.host} doesn't allow drafts here"
        )

    def _get_url(self, pull: OpenPullRequest) -> str:
        """Return a link that is safe to show: a forge's answer is not trusted."""
        return pull.url if re.fullmatch(r"https?://[!-~]+", pull.url) else self.location.target.web_url

    def _call(self, action: Callable[[ForgeHttpClient], T], hint: str) -> T:
        token, client = self._connect(hint)
        try:
            for default_pause in (*_RETRY_PAUSES, None):
                try:
                    return action(client)
                except (HttpRefusedError, HttpUnreachableError) as error:
                    pause = None if default_pause is None else error.find_retry_pause(default_pause)
                    if pause is None:
                        message = _describe_failure(error, token, self.location.target)
                        raise ForgeError(message, hint=hint) from None
                self._http.sleep(pause)
        finally:
            client.close()
        raise AssertionError  # the last round returns or raises

    def _connect(self, hint: str) -> tuple[ForgeToken, ForgeHttpClient]:
        target = self.location.target
        try:
            token = find_token(self._forge, target, self._git, self._environment)
            if token is not None:
                basic = b64encode(f"{token.user}:{token.value}".encode()).decode()  # as it may be sent and logged, too
                secrets = (token.value, basic)
                api, headers = self._forge.find_api_url(target), self._forge.build_headers(token)
                return token, ForgeHttpClient(api, headers, self._environment, secrets, self._http.timeout)
        except ForgeError as error:
            raise ForgeError(error.message, hint=hint) from None
        login = describe_login(self._forge, target, self._environment)
        raise ForgeError(f"no token for {target.host}", hint=f"{login}\n  {hint}")


def _describe_failure(error: HttpRefusedError | HttpUnreachableError, token: ForgeToken, target: RepoAddress) -> str:
    if isinstance(error, HttpUnreachableError):
        return error.detail
    host, detail = target.host, f": {error.detail}" if error.detail else ""
    if error.wait is not None:
        return f"{host} asks to wait {error.wait:.0f} s{detail}"
    match error.status:
        case 401:
            return f"{host} rejected the token from {token.source}{detail}"
        case 403:
            return f"{host} doesn't allow this with the token from {token.source}{detail}"
        case 404:
            return f"{host} has no {target.path}, or the token from {token.source} can't see it{detail}"
        case status if status >= 500:
            return f"{host} failed (status {status}){detail}"
        case status:
            return f"{host} refused (status {status}){detail}"


def build_content(spec: PullRequestSpec) -> PullRequestContent:
    return PullRequestContent(spec.title, _build_section(spec, MAX_BODY_CHARS), spec.draft)


def update_content(pull: OpenPullRequest, spec: PullRequestSpec) -> PullRequestContent:
    """Replace plait's section of the body, or add it. The title changes if plait set it, or if a person asked plait to."""
    begin, end = _SECTION_BEGIN.search(pull.body), pull.body.rfind(_SECTION_END)
    if begin is None or end < begin.end():
        before, after, has_own_title = f"{pull.body.rstrip()}\n\n" if pull.body.strip() else "", "", False
    else:
        before, after = pull.body[: begin.start()], pull.body[end + len(_SECTION_END) :]
        has_own_title = begin[1] == _digest_title(pull.title)
    section = _build_section(spec, MAX_BODY_CHARS - len(before) - len(after))
    title = spec.title if has_own_title or spec.renamed else pull.title
    return PullRequestContent(title, f"{before}{section}{after}")


def _build_section(spec: PullRequestSpec, max_chars: int) -> str:
    begin = f"<!-- plait {_digest_title(spec.title)} -->\n"
    body = spec.body.replace(_SECTION_END, "").strip()
    max_chars = max(0, max_chars - len(begin) - len(_SECTION_END) - 1)
    if len(body) > max_chars:
        short = body[: max(0, max_chars - len(_TRUNCATION_NOTE))]
        body = (short.rpartition("\n")[0] or short) + _TRUNCATION_NOTE
    return f"{begin}{body}\n{_SECTION_END}"


def _digest_title(title: str) -> str:
    """Return a digest that distinguishes a title that plait set from one that a person changed."""
    return hashlib.sha256(" ".join(title.split()).encode("utf-8", "replace")).hexdigest()[:12]
