"""How a person does what plait could not: a link, and a command."""

from __future__ import annotations

from shlex import quote as worded
from typing import assert_never
from urllib.parse import quote, urlencode

from plait.forges.address import ForgeProvider, RepoAddress
from plait.store.interfaces import PullRequestSpec


def describe_manual_steps(
    kind: ForgeProvider, target: RepoAddress, source: RepoAddress, wanted: PullRequestSpec
) -> str:
    """Nothing in it is a secret."""
    return f"By hand: {build_compare_link(kind, target, source, wanted)}\n  or: {build_command(kind, target, source, wanted)}"


def build_compare_link(
    kind: ForgeProvider, target: RepoAddress, source: RepoAddress, wanted: PullRequestSpec
) -> str:
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


def build_command(
    kind: ForgeProvider, target: RepoAddress, source: RepoAddress, wanted: PullRequestSpec
) -> str:
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
