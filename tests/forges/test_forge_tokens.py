from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.config.git_keys import ForgeKind
from plait.forges.forge import ForgeError, ForgeToken, PullRequestSpec, RepoAddress, load_forges
from plait.forges.gitea import Gitea
from plait.forges.pull_requests import ForgeClient, HttpOptions
from plait.forges.remote import push_branch, resolve_address
from plait.forges.tokens import find_token
from plait.git.command import Git

if TYPE_CHECKING:
    from tests.forges.conftest import Clone

HUB = RepoAddress("github.com", "acme/widgets")
OWN_HUB = RepoAddress("git.example.org", "acme/widgets")
LAB = RepoAddress("gitlab.com", "acme/widgets")
SECRET = "s3cr3t-T0ken-0123456789"


def program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def found(clone: Clone, kind: ForgeKind, where: RepoAddress, **environment: str) -> ForgeToken | None:
    return find_token(load_forges()[kind], where, clone.git, {**clone.environment, **environment})


@pytest.mark.parametrize(
    ("kind", "where", "name"),
    [
        (ForgeKind.GITHUB, HUB, "GH_TOKEN"),
        (ForgeKind.GITHUB, HUB, "GITHUB_TOKEN"),
        (ForgeKind.GITHUB, OWN_HUB, "GH_ENTERPRISE_TOKEN"),
        (ForgeKind.GITLAB, LAB, "GITLAB_TOKEN"),
        (ForgeKind.GITEA, OWN_HUB, "GITEA_TOKEN"),
        (ForgeKind.GITHUB, OWN_HUB, "PLAIT_FORGE_TOKEN"),
    ],
)
def test_a_token_in_the_environment_comes_first(clone: Clone, kind: ForgeKind, where: RepoAddress, name: str) -> None:
    assert found(clone, kind, where, **{name: f" {SECRET}\n"}) == ForgeToken(SECRET, name)


@pytest.mark.parametrize(
    ("kind", "where", "environment"),
    [
        (ForgeKind.GITHUB, OWN_HUB, {"GH_TOKEN": SECRET, "GITHUB_TOKEN": SECRET, "GITLAB_TOKEN": SECRET}),
        (ForgeKind.GITHUB, HUB, {"GH_ENTERPRISE_TOKEN": SECRET}),
        (ForgeKind.GITHUB, HUB, {"GITHUB_TOKEN": "", "GH_TOKEN": " "}),
        (ForgeKind.GITLAB, LAB, {"GITLAB_TOKEN": SECRET, "GITLAB_HOST": "https://lab.example.org"}),
        (ForgeKind.GITLAB, LAB, {"GH_TOKEN": SECRET, "GITEA_TOKEN": SECRET}),
    ],
)
def test_a_token_for_one_host_is_not_used_for_another(
    clone: Clone, kind: ForgeKind, where: RepoAddress, environment: dict[str, str]
) -> None:
    assert found(clone, kind, where, **environment) is None


def test_in_github_actions_the_token_is_for_its_server(clone: Clone) -> None:
    result = {"GITHUB_SERVER_URL": "https://git.example.org", "GITHUB_TOKEN": SECRET}
    assert found(clone, ForgeKind.GITHUB, OWN_HUB, **result) == ForgeToken(SECRET, "GITHUB_TOKEN")


def test_the_forges_own_program_comes_second(clone: Clone, programs: Path) -> None:
    program(programs / "gh", f'[ "$*" = "auth token --hostname github.com" ] && echo {SECRET}')
    program(programs / "glab", f'[ "$*" = "config get token --host gitlab.com" ] && echo {SECRET}')
    assert found(clone, ForgeKind.GITHUB, HUB) == ForgeToken(SECRET, "gh")
    assert found(clone, ForgeKind.GITLAB, LAB) == ForgeToken(SECRET, "glab")
    assert found(clone, ForgeKind.GITHUB, OWN_HUB) is None


def test_a_program_that_fails_gives_no_token(clone: Clone, programs: Path) -> None:
    program(programs / "gh", f"echo {SECRET}; exit 1")
    assert found(clone, ForgeKind.GITHUB, HUB) is None


def test_gits_credentials_come_last(clone: Clone, programs: Path) -> None:
    helper = programs / "helper"
    program(helper, f'cat > {programs}/asked; echo username=ada; echo "password={SECRET}"')
    clone.git.run("config", "credential.helper", str(helper))
    assert found(clone, ForgeKind.GITHUB, RepoAddress("github.com", "acme/widgets", 8443)) == ForgeToken(
        SECRET, "git's credentials", "ada"
    )
    assert "protocol=https\nhost=github.com:8443\n" in (programs / "asked").read_text()


def test_git_never_prompts_for_a_password(clone: Clone, programs: Path) -> None:
    program(programs / "window", f"touch {programs}/opened; echo x")
    clone.environment["SSH_ASKPASS"] = str(programs / "window")
    clone.git = Git(clone.where, environment=clone.environment)
    assert found(clone, ForgeKind.GITHUB, HUB) is None
    assert not (programs / "opened").exists()


def test_a_token_is_not_in_its_repr(clone: Clone) -> None:
    assert SECRET not in repr(found(clone, ForgeKind.GITHUB, HUB, GH_TOKEN=SECRET))


def test_gitea_gets_basic_authentication_if_there_is_a_user_name() -> None:
    assert Gitea().build_headers(ForgeToken("b", "git", "a"))["Authorization"] == "Basic YTpi"


def test_no_token_is_on_a_command_line(clone: Clone, bare: Git, programs: Path) -> None:
    """Every program that is started writes down what it was called with."""
    for name in ("git", "gh", "ssh"):
        real = shutil.which(name, path=os.environ["PATH"])
        program(programs / name, f'echo "{name} $@" >> {programs}/words\nexec {real or "true"} "$@"')
    helper = programs / "helper"
    program(helper, f'echo username=ada; echo "password={SECRET}"')
    clone.git.run("config", "credential.helper", str(helper))
    clone.git.run("remote", "set-url", "origin", f"https://ada:{SECRET}@127.0.0.1:1/acme/widgets.git")
    hasty = HttpOptions(sleep=lambda _: None)
    forge = ForgeClient(clone.git, "origin", environment=clone.environment, kind=ForgeKind.GITHUB, http=hasty)
    messages = []
    for act in (
        lambda: forge.publish_pull_request(PullRequestSpec("plait/batch-x", "main", "t", "b")),
        lambda: push_branch(clone.git, "origin", "plait/batch-x", clone.first),
    ):
        with pytest.raises(ForgeError) as caught:
            act()
        messages.append(str(caught.value))
    assert "127.0.0.1" in "".join(messages)
    lines = (programs / "words").read_text().splitlines()
    assert any("credential fill" in line for line in lines)
    ours = [line for line in lines if "set-url" not in line and "remote-http" not in line]
    assert SECRET not in "".join([*messages, *ours])
    assert bare.cwd.is_dir()


def test_an_ssh_host_alias_is_resolved(clone: Clone, programs: Path) -> None:
    program(programs / "ssh", 'echo "user git"; [ "$*" = "-G -- work" ] && echo "hostname github.com"')
    assert resolve_address("git@work:acme/widgets.git", clone.environment) == HUB
    assert resolve_address("https://work/acme/widgets.git", clone.environment) == RepoAddress("work", "acme/widgets")


def test_url_rewrites_of_the_user_apply(clone: Clone) -> None:
    clone.git.run("config", "url.https://github.com/.insteadOf", "gh:")
    clone.git.run("remote", "add", "origin", "gh:acme/widgets.git")
    forge = ForgeClient(clone.git, "origin", environment=clone.environment)
    with pytest.raises(ForgeError, match=r"no token for github\.com"):
        forge.publish_pull_request(PullRequestSpec("plait/batch-7f3a", "main", "Title", ""))


def test_the_users_ssh_command_is_kept_and_plaits_never_prompts(clone: Clone, programs: Path) -> None:
    program(programs / "ssh", f'echo "$@" >> {programs}/words; exit 255')
    clone.git.run("remote", "add", "origin", "git@git.example.org:a/b.git")
    with pytest.raises(ForgeError):
        push_branch(clone.git, "origin", "plait/batch-x", clone.first)
    assert "-oBatchMode=yes" in (programs / "words").read_text()
    (programs / "words").unlink()
    clone.git.run("config", "core.sshCommand", f"{programs}/ssh -F mine")
    with pytest.raises(ForgeError):
        push_branch(clone.git, "origin", "plait/batch-x", clone.first)
    assert "-F mine" in (programs / "words").read_text()
    assert "BatchMode" not in (programs / "words").read_text()
