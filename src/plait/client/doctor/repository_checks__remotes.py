"""The remote that batch branches go to, and whether a pull request could be opened there. Nobody is asked over a network."""

from __future__ import annotations

from collections.abc import Sequence

from plait.client.doctor.check import CheckStatus, DoctorCheck, ok, warning

_REMOTE = "remote"


def report_missing_remote(name: str) -> DoctorCheck:
    said = f"none is called {name}: batches are merged into a branch here, and can't be published"
    return DoctorCheck(_REMOTE, CheckStatus.OK, said, "git remote add makes one; pr.remote names another.")


def report_unknown_forge(name: str, why: str) -> DoctorCheck:
    """A bare repository on a disk is a good remote."""
    said = f"{name}: branches can be pushed, pull requests not opened: {why}"
    return DoctorCheck(_REMOTE, CheckStatus.OK, said)


def report_invalid_token(name: str, why: str) -> DoctorCheck:
    return warning(_REMOTE, f"{name}: {why}")


def report_forge(
    name: str, host: str, kind: str, source: str | None, variables: Sequence[str]
) -> DoctorCheck:
    """`source` is where a token was found, and None where there is none; `variables` may hold one."""
    if source is not None:
        return ok(_REMOTE, f"{name} at {host} ({kind}), with a token from {source}")
    said = f"{name} at {host} ({kind}): no token was found, so pull requests are opened by hand"
    login = {"github": "gh auth login", "gitlab": "glab auth login"}.get(kind)
    ways = [f"set {' or '.join(variables)}", *([f"log in: {login}"] if login else [])]
    told = ", or ".join(ways)
    return DoctorCheck(_REMOTE, CheckStatus.OK, said, f"{told[:1].upper()}{told[1:]}.")
