"""The command lines of sandboxes."""

from __future__ import annotations

import pytest

from plait.config.sandbox_keys import pick_stronger
from plait.core.errors import WorldError
from plait.core.settings import SandboxMode
from plait.runtime.sandbox.bubblewrap import build_bubblewrap_command
from plait.runtime.sandbox.container import build_container_arguments, build_container_command
from plait.runtime.sandbox.layout import Access, Mount, SandboxLayout, is_inside
from plait.runtime.sandbox.seatbelt import build_profile
from plait.runtime.sandbox.spec import SandboxLimits
from plait.runtime.sandbox.task_variables import build_runner

OFF, AUTO, WORKTREE, STRICT, CONTAINER = SandboxMode


def test_outer_folders_are_mounted_before_what_is_in_them() -> None:
    mounts = (
        Mount("/home/me/work", Access.WRITE),
        Mount("/home", Access.HIDDEN),
        Mount("/home/me", Access.WRITE, "/private/home"),
        Mount("/etc/shadow", Access.EMPTY),
        Mount("/home/me/.gitconfig", Access.READ),
    )
    argv = build_bubblewrap_command(SandboxLayout("/home/me/work", mounts))
    text = " ".join(argv)
    assert (
        "--tmpfs /home --ro-bind /dev/null /etc/shadow --bind-try /private/home /home/me "
        "--ro-bind-try /home/me/.gitconfig /home/me/.gitconfig --bind-try /home/me/work /home/me/work "
        "--chdir /home/me/work -- "
    ) in text
    assert "--ro-bind / / --dev /dev --proc /proc " in text


def test_the_last_mount_of_a_path_counts() -> None:
    mounts = (Mount("/x", Access.HIDDEN), Mount("/x", Access.READ))
    assert SandboxLayout("/", mounts).ordered_mounts == [Mount("/x", Access.READ)]


def test_what_is_readable_anyway_is_not_mounted() -> None:
    tools, link = Mount("/home/tools", Access.READ), Mount("/home/tools/link", Access.READ)
    assert SandboxLayout("/", (link, tools)).ordered_mounts == [tools]
    hidden = Mount("/home/tools", Access.HIDDEN)
    assert SandboxLayout("/", (link, hidden)).ordered_mounts == [hidden, link]


def test_no_sandbox_shares_processes_or_powers_and_each_ends_with_its_supervisor() -> None:
    argv = build_bubblewrap_command(SandboxLayout("/", ()))
    assert {"--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc"} <= {*argv}
    assert argv[argv.index("--cap-drop") + 1] == "ALL"
    assert "--unshare-net" not in argv
    assert "--unshare-net" in build_bubblewrap_command(SandboxLayout("/", (), share_network=False))


def test_the_profile_of_macos_denies_before_it_allows() -> None:
    profile = build_profile(
        SandboxLayout(
            "/w", (Mount("/Users", Access.HIDDEN), Mount('/Users/me/a "b"', Access.WRITE)), share_network=False
        )
    )
    denied = profile.index('(deny file-read* file-write* network-outbound (subpath "/Users"))')
    assert denied < profile.index(r'(allow file-read* file-write* (subpath "/Users/me/a \"b\""))')
    assert "(deny file-write*)" in profile
    assert "(deny network*)" in profile


@pytest.mark.parametrize(
    ("path", "inside"), [("/a/b", True), ("/a", True), ("/ab", False), ("/", False), ("/c/d/e", True)]
)
def test_a_path_is_inside_of_a_folder(path: str, *, inside: bool) -> None:
    assert is_inside(path, ["/a", "/c/d/"]) is inside


@pytest.mark.parametrize(
    ("own", "other", "picked"),
    [
        (OFF, WORKTREE, WORKTREE),
        (WORKTREE, OFF, WORKTREE),
        (WORKTREE, AUTO, WORKTREE),  # which may be nothing here
        (AUTO, WORKTREE, AUTO),  # which may be more here
        (AUTO, CONTAINER, CONTAINER),
        (STRICT, WORKTREE, STRICT),
        (OFF, AUTO, AUTO),
    ],
)
def test_a_repository_or_task_can_only_ask_for_a_stronger_sandbox(
    own: SandboxMode, other: SandboxMode, picked: SandboxMode
) -> None:
    assert pick_stronger(own, other) is picked


def test_a_container_has_the_same_files_no_network_and_no_values_of_variables_in_its_arguments() -> None:
    mounts = (
        Mount("/home", Access.HIDDEN),
        Mount("/home/me/work", Access.WRITE),
        Mount("/home/me/.gitconfig", Access.READ),
        Mount("/tmp", Access.WRITE, "/private/tmp"),
        Mount("/repository/.git", Access.WRITE, "/private/view"),
    )
    limits = SandboxLimits(memory=1 << 30, processes=100, disk=1 << 20)
    layout = SandboxLayout("/home/me/work", mounts, share_network=False, limits=limits)
    argv = build_container_arguments("podman", layout, "image:1", ["PATH", "API_KEY"], (1000, 1000))
    text = " ".join(argv)
    assert text.endswith(
        "--volume /private/view:/repository/.git --volume /home/me/.gitconfig:/home/me/.gitconfig:ro --volume /home/me/work:/home/me/work"
        " --workdir /home/me/work image:1 " + " ".join(build_runner())
    )
    assert "--network none --userns keep-id --memory 1073741824 --pids-limit 100" in text
    assert "--env API_KEY" in text
    assert "PATH" not in text.split()
    assert "--tmpfs /tmp:size=1048576" in text
    assert "--cap-drop all --security-opt no-new-privileges --read-only" in text
    docker = build_container_arguments("docker", layout, "image:1", (), (1000, 100))
    assert "--user 1000:100" in " ".join(docker)


def test_what_runs_a_container_finds_its_service_where_the_user_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The attempt's environment has no such addresses, and the container gets none."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///run/user/1000/docker.sock")
    words = build_container_command("docker", "image:1", ("--name", "a"), ports=[3128], hosts=[], denials="/d")
    assert words[0] == "/usr/bin/env"
    assert "DOCKER_HOST=unix:///run/user/1000/docker.sock" in words[: words.index("-I")]


def test_a_path_with_a_colon_is_refused_in_a_container() -> None:
    layout = SandboxLayout("/a:b", (Mount("/a:b", Access.WRITE),))
    with pytest.raises(WorldError, match="colon"):
        build_container_arguments("podman", layout, "image", (), (0, 0))
