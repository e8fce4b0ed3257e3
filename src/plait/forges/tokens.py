"""Where a token for a forge is found: the environment, the forge's own program, what git keeps. It is never kept here.

A variable that is meant for one host is not told to another.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass as discreet, field
from typing import assert_never
from urllib.parse import urlsplit

from plait.core.errors import WorldError
from plait.forges.address import ForgeProvider, RepoAddress
from plait.forges.interfaces import ForgeError
from plait.git.command import Git

PLAIT_TOKEN_VARIABLE = "PLAIT_FORGE_TOKEN"  # noqa: S105 - a name


_VALID_TOKEN = re.compile(r"[\x21-\x7e]+")


_PROGRAM_TIMEOUT_SECONDS = 20.0  # seconds for a program; a keyring may be slow


_QUIET_VARIABLES = {"GH_PROMPT_DISABLED": "1", "NO_PROMPT": "1", "NO_COLOR": "1"}


# No window may open in the middle of the night; what needs none (GIT_ASKPASS) is the user's choice.
_NO_PROMPT_VARIABLES = {"GCM_INTERACTIVE": "never", "SSH_ASKPASS": ""}


def find_token(kind: ForgeProvider, where: RepoAddress, git: Git, environment: Mapping[str, str]) -> ForgeToken | None:
    for found in _find_candidates(kind, where, git, environment):
        if not _VALID_TOKEN.fullmatch(found.value):
            raise ForgeError(f"what {found.source} holds is no token: it has blanks or other odd characters")
        return found
    return None


def list_token_variables(kind: ForgeProvider, where: RepoAddress, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The names under which the environment may hold a token for this host."""
    match kind:
        case ForgeProvider.GITHUB:
            # On its own machines, GitHub says which host its token is for.
            home = urlsplit(environment.get("GITHUB_SERVER_URL", "")).hostname or "github.com"
            if where.host in {"github.com", home} or where.host.endswith(".ghe.com"):
                return PLAIT_TOKEN_VARIABLE, "GH_TOKEN", "GITHUB_TOKEN"
            return PLAIT_TOKEN_VARIABLE, "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"
        case ForgeProvider.GITLAB:
            said = environment.get("GITLAB_HOST") or environment.get("CI_SERVER_HOST") or where.host
            home = urlsplit(said if "://" in said else f"https://{said}").hostname or ""
            return (PLAIT_TOKEN_VARIABLE, "GITLAB_TOKEN") if home == where.host else (PLAIT_TOKEN_VARIABLE,)
        case ForgeProvider.GITEA:
            return PLAIT_TOKEN_VARIABLE, "GITEA_TOKEN"
    assert_never(kind)


def _find_candidates(
    kind: ForgeProvider, where: RepoAddress, git: Git, environment: Mapping[str, str]
) -> Iterator[ForgeToken]:
    for name in list_token_variables(kind, where, environment):
        if value := environment.get(name, "").strip():
            yield ForgeToken(value, name)
    for source, words in _list_programs(kind, where):
        if value := _read_program_output(words, git, environment):
            yield ForgeToken(value, source)
    if kept := _read_git_credential(where, git):
        yield kept


def _list_programs(kind: ForgeProvider, where: RepoAddress) -> Iterator[tuple[str, list[str]]]:
    match kind:
        case ForgeProvider.GITHUB:
            yield "gh", ["gh", "auth", "token", "--hostname", where.authority]
        case ForgeProvider.GITLAB:
            yield "glab", ["glab", "config", "get", "token", "--host", where.authority]
        case ForgeProvider.GITEA:
            return


def _read_program_output(words: list[str], git: Git, environment: Mapping[str, str]) -> str:
    """Empty where there is no such program, or it has nothing to say."""
    program = shutil.which(words[0], path=environment.get("PATH", ""))
    if program is None:
        return ""
    try:
        done = subprocess.run(  # a program that a person installed
            [program, *words[1:]],
            cwd=git.cwd,
            env={**environment, **_QUIET_VARIABLES},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
            timeout=_PROGRAM_TIMEOUT_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""


def _read_git_credential(where: RepoAddress, git: Git) -> ForgeToken | None:
    asked = f"protocol={where.scheme}\nhost={where.authority}\npath={where.path}.git\n\n"
    silent = git.with_options(variables=_NO_PROMPT_VARIABLES, settings=("credential.interactive=false",))
    try:
        said = silent.run("credential", "fill", stdin=asked.encode(), codes=range(256))
    except WorldError:
        return None
    told = dict(line.partition("=")[::2] for line in said.text.splitlines())
    password = told.get("password", "")
    return ForgeToken(password, "git's credentials", told.get("username", "")) if password else None


@discreet(frozen=True, slots=True)
class ForgeToken:
    """`source` is where it was found, for people. `user` is known where git keeps it with a name."""

    value: str = field(repr=False)
    source: str
    user: str = field(default="", repr=False)
