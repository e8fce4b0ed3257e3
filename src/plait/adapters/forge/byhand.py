"""How a person does what plait could not: a link, and a command."""

from __future__ import annotations

from shlex import quote as worded
from typing import assert_never
from urllib.parse import quote, urlencode

from plait.adapters.forge.address import Address, Kind
from plait.ports import Announcement


def by_hand(kind: Kind, target: Address, source: Address, wanted: Announcement) -> str:
    """Nothing in it is a secret."""
    return f"By hand: {link(kind, target, source, wanted)}\n  or: {command(kind, target, source, wanted)}"


def link(kind: Kind, target: Address, source: Address, wanted: Announcement) -> str:
    """The page on which the pull request is opened."""
    match kind:
        case Kind.GITHUB | Kind.GITEA:
            ends = f"{quote(wanted.target)}...{_from(target, source, wanted.branch)}"
            return f"{target.web}/compare/{ends}" + ("?expand=1" if kind is Kind.GITHUB else "")
        case Kind.GITLAB:
            branches = {"source_branch": wanted.branch, "target_branch": wanted.target}
            query = urlencode({f"merge_request[{name}]": value for name, value in branches.items()})
            return f"{source.web}/-/merge_requests/new?{query}"
    assert_never(kind)


def command(kind: Kind, target: Address, source: Address, wanted: Announcement) -> str:
    head = wanted.branch if source == target else f"{source.owner}:{wanted.branch}"
    match kind:
        case Kind.GITHUB:
            words = ["gh", "pr", "create", "--repo", f"{target.place}/{target.path}"]
            words += ["--base", wanted.target, "--head", head, *(["--draft"] if wanted.draft else [])]
        case Kind.GITLAB:
            words = ["glab", "mr", "create", "--repo", target.web]
            words += [] if source == target else ["--head", source.web]
            words += ["--target-branch", wanted.target, "--source-branch", wanted.branch]
            words += ["--draft"] if wanted.draft else []
        case Kind.GITEA:
            words = ["tea", "pulls", "create", "--repo", target.path, "--base", wanted.target, "--head", head]
        case _:
            assert_never(kind)
    return " ".join(map(worded, [*words, "--title", wanted.title]))


def _from(target: Address, source: Address, branch: str) -> str:
    if source == target:
        return quote(branch)
    return f"{quote(source.owner)}:{quote(branch)}"
