"""The remote that batch branches go to, and whether a pull request could be opened there. Nobody is asked over a network."""

from __future__ import annotations

from collections.abc import Sequence

from plait.adapters.checkup.model import Check, Verdict, ok, warning

_TOPIC = "remote"


def no_remote(name: str) -> Check:
    said = f"none is called {name}: batches are merged into a branch here, and can't be published"
    return Check(_TOPIC, Verdict.OK, said, "git remote add makes one; pr.remote names another.")


def no_forge(name: str, why: str) -> Check:
    """A bare repository on a disk is a good remote."""
    said = f"{name}: branches can be pushed, pull requests not opened: {why}"
    return Check(_TOPIC, Verdict.OK, said)


def odd_token(name: str, why: str) -> Check:
    return warning(_TOPIC, f"{name}: {why}")


def forge(name: str, host: str, kind: str, source: str | None, variables: Sequence[str]) -> Check:
    """`source` is where a token was found, and None where there is none; `variables` may hold one."""
    if source is not None:
        return ok(_TOPIC, f"{name} at {host} ({kind}), with a token from {source}")
    said = f"{name} at {host} ({kind}): no token was found, so pull requests are opened by hand"
    login = {"github": "gh auth login", "gitlab": "glab auth login"}.get(kind)
    ways = [f"set {' or '.join(variables)}", *([f"log in: {login}"] if login else [])]
    told = ", or ".join(ways)
    return Check(_TOPIC, Verdict.OK, said, f"{told[:1].upper()}{told[1:]}.")
