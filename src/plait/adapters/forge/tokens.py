"""Where a token for a forge is found: the environment, the forge's own program, what git keeps. It is never kept here.

A variable that is meant for one host is not told to another.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from typing import assert_never
from urllib.parse import urlsplit

from plait.adapters.forge.address import Address, Kind
from plait.adapters.forge.model import Token
from plait.core.errors import WorldError
from plait.ports import ForgeError
from plait.site.git import Git

OWN = "PLAIT_FORGE_TOKEN"
_SOUND = re.compile(r"[\x21-\x7e]+")
_PATIENCE = 20.0  # seconds for a program; a keyring may be slow
_QUIET = {"GH_PROMPT_DISABLED": "1", "NO_PROMPT": "1", "NO_COLOR": "1"}
# No window may open in the middle of the night; what needs none (GIT_ASKPASS) is the user's choice.
_NO_WINDOW = {"GCM_INTERACTIVE": "never", "SSH_ASKPASS": ""}


def find_token(kind: Kind, where: Address, git: Git, environment: Mapping[str, str]) -> Token | None:
    for found in _candidates(kind, where, git, environment):
        if not _SOUND.fullmatch(found.value):
            raise ForgeError(f"what {found.source} holds is no token: it has blanks or other odd characters")
        return found
    return None


def variables(kind: Kind, where: Address, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The names under which the environment may hold a token for this host."""
    match kind:
        case Kind.GITHUB:
            # On its own machines, GitHub says which host its token is for.
            home = urlsplit(environment.get("GITHUB_SERVER_URL", "")).hostname or "github.com"
            if where.host in {"github.com", home} or where.host.endswith(".ghe.com"):
                return OWN, "GH_TOKEN", "GITHUB_TOKEN"
            return OWN, "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"
        case Kind.GITLAB:
            said = environment.get("GITLAB_HOST") or environment.get("CI_SERVER_HOST") or where.host
            home = urlsplit(said if "://" in said else f"https://{said}").hostname or ""
            return (OWN, "GITLAB_TOKEN") if home == where.host else (OWN,)
        case Kind.GITEA:
            return OWN, "GITEA_TOKEN"
    assert_never(kind)


def _candidates(kind: Kind, where: Address, git: Git, environment: Mapping[str, str]) -> Iterator[Token]:
    for name in variables(kind, where, environment):
        if value := environment.get(name, "").strip():
            yield Token(value, name)
    for source, words in _programs(kind, where):
        if value := _said(words, git, environment):
            yield Token(value, source)
    if kept := _kept_by_git(where, git):
        yield kept


def _programs(kind: Kind, where: Address) -> Iterator[tuple[str, list[str]]]:
    match kind:
        case Kind.GITHUB:
            yield "gh", ["gh", "auth", "token", "--hostname", where.place]
        case Kind.GITLAB:
            yield "glab", ["glab", "config", "get", "token", "--host", where.place]
        case Kind.GITEA:
            return


def _said(words: list[str], git: Git, environment: Mapping[str, str]) -> str:
    """Empty where there is no such program, or it has nothing to say."""
    program = shutil.which(words[0], path=environment.get("PATH", ""))
    if program is None:
        return ""
    try:
        done = subprocess.run(  # noqa: S603 - a program that a person installed
            [program, *words[1:]],
            cwd=git.where,
            env={**environment, **_QUIET},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
            timeout=_PATIENCE,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""


def _kept_by_git(where: Address, git: Git) -> Token | None:
    asked = f"protocol={where.scheme}\nhost={where.place}\npath={where.path}.git\n\n"
    silent = git.with_(variables=_NO_WINDOW, settings=("credential.interactive=false",))
    try:
        said = silent.run("credential", "fill", feed=asked.encode(), codes=range(256))
    except WorldError:
        return None
    told = dict(line.partition("=")[::2] for line in said.text.splitlines())
    password = told.get("password", "")
    return Token(password, "git's credentials", told.get("username", "")) if password else None
