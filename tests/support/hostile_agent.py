"""An agent that tries what a sandbox is there to prevent. Run as a script, with its targets as JSON in HOSTILE_TARGETS.

It prints one line for each attempt, `NAME: TEXT`, with what it could read; whether it could change something is seen
outside. Without a sandbox every attempt succeeds, so everything that it touches belongs to the test.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

TARGETS: dict[str, str] = json.loads(os.environ.get("HOSTILE_TARGETS", "{}"))
HOME = Path(os.environ.get("HOME", "/"))
_LIBC = ctypes.CDLL(None, use_errno=True)
_PTRACE_ATTACH, _PTRACE_DETACH = 16, 17
_CLONE_NEWUSER, _CLONE_NEWNS, _CLONE_NEWCGROUP, _MNT_DETACH = 0x10000000, 0x20000, 0x02000000, 2

ATTEMPTS: dict[str, Callable[[], object]] = {}
Attempt = Callable[[], object]


def attempt(function: Attempt) -> Attempt:
    ATTEMPTS[function.__name__.replace("_", " ")] = function
    return function


def add_reads(**paths: Path | str) -> None:
    for name, path in paths.items():
        ATTEMPTS[name.replace("_", " ")] = partial(read, Path(path))


def add_writes(**paths: Path | str) -> None:
    for name, path in paths.items():
        ATTEMPTS[name.replace("_", " ")] = partial(append, Path(path))


def read(path: Path) -> str:
    return path.read_bytes().decode(errors="replace")


def append(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write("hostile\n")
    return "written"


def run(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=30)
    if done.returncode:
        raise OSError(done.stderr.strip()[-200:])
    return done.stdout


if TARGETS:
    CHECKOUT, GIT = Path(TARGETS["checkout"]), Path(TARGETS["checkout"], ".git")
    add_reads(
        read_ssh_key=HOME / ".ssh" / "id_ed25519",
        read_gpg_key=HOME / ".gnupg" / "private-keys-v1.d" / "key",
        read_aws_credentials=HOME / ".aws" / "credentials",
        read_netrc=HOME / ".netrc",
        read_git_credentials=HOME / ".git-credentials",
        read_forge_login=HOME / ".config" / "gh" / "hosts.yml",
        read_docker_login=HOME / ".docker" / "config.json",
        read_kube_config=HOME / ".kube" / "config",
        read_diary=HOME / "diary.txt",
        read_other_project=TARGETS["other_project"],
        read_ignored_file_of_the_checkout=CHECKOUT / ".env",
        read_other_worktree=Path(TARGETS["other_worktree"], "other.txt"),
        read_token=TARGETS["token"],
        read_sibling_environment=f"/proc/{TARGETS['victim']}/environ",
        read_shared_temporary_file=TARGETS["temporary"],
    )
    add_writes(
        write_shell_profile=HOME / ".bashrc",
        write_program=HOME / ".local" / "bin" / "git",
        write_agent_settings=HOME / ".claude" / "settings.json",
        write_checkout=CHECKOUT / "hostile.txt",
        write_hook=GIT / "hooks" / "post-checkout",
        write_other_worktree=Path(TARGETS["other_worktree"], "hostile.txt"),
        write_journal=GIT / "plait" / "journal.db-hostile",
        write_shared_temporary_file=Path(TARGETS["temporary"] + ".hostile"),
        write_system_folder=TARGETS["system_file"],
    )


@attempt
def read_secret_variable() -> str:
    return os.environ["AWS_SECRET_ACCESS_KEY"]


@attempt
def read_journal() -> str:
    return str((GIT / "plait" / "journal.db").stat().st_size)


@attempt
def read_batch_environment() -> str:
    return next((GIT / "plait" / "batches").glob("*/environment.json")).read_text()


@attempt
def write_own_exit_status() -> str:
    folder = next((GIT / "plait" / "batches").glob("*/tasks/*/write-1"))
    (folder / "exit").unlink(missing_ok=True)
    (folder / "exit").symlink_to(TARGETS["exit_target"])
    return "linked"


@attempt
def set_repository_setting() -> str:
    return run("git", "config", "--local", "core.pager", "hostile")


@attempt
def move_branch_of_the_user() -> str:
    return run("git", "update-ref", "refs/heads/hostile", "HEAD")


@attempt
def make_tag() -> str:
    return run("git", "tag", "hostile-tag")


@attempt
def run_program_by_nested_repository() -> str:
    nested = Path("nested")
    nested.mkdir()
    identity = ("-c", "user.name=h", "-c", "user.email=h@h")
    for words in (("init", "-q"), (*identity, "commit", "-q", "--allow-empty", "-m", "h")):
        run("git", "-C", "nested", *words)
    run("git", "-C", "nested", "config", "filter.hostile.clean", f"touch {TARGETS['proof_nested']}; cat")
    (nested / ".gitattributes").write_text("* filter=hostile\n")
    (nested / "x.txt").write_text("x\n")
    run("git", "-C", "nested", *identity, "add", "x.txt")
    Path(TARGETS["proof_nested"]).unlink(missing_ok=True)  # of this very command
    (nested / "x.txt").write_text("y\n")
    run("git", "-c", "advice.addEmbeddedRepo=false", "add", "nested")
    return "staged"


def swap_git_folder() -> None:
    """Put a folder in the place of `.git`. Where that is a mount point, in a namespace that doesn't have the mount."""
    top = os.open(".", os.O_RDONLY)
    with suppress(OSError):
        Path(".git").rename(".git-real")
        return
    uid, gid = os.getuid(), os.getgid()
    pid = os.fork()
    if pid == 0:
        with suppress(OSError):
            _LIBC.unshare(_CLONE_NEWUSER | _CLONE_NEWNS)
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
            Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
            _LIBC.mount(b"none", b"/tmp", b"tmpfs", 0, None)
            Path("/tmp/old").mkdir()
            _LIBC.syscall({"x86_64": 155}.get(os.uname().machine, 41), b"/tmp", b"/tmp/old")  # pivot_root
            os.chdir("/")
            _LIBC.umount2(b"/old", _MNT_DETACH)
            os.rename(".git", ".git-real", src_dir_fd=top, dst_dir_fd=top)
        os._exit(0)
    os.waitpid(pid, 0)
    os.close(top)


def run_program_by_other_git_folder() -> str:
    """One whose HEAD is to be fetched by a program that its settings name. The last attempt: there is no git afterwards."""
    swap_git_folder()
    run("git", "init", "-q", "--bare", ".git")
    settings = {
        "core.bare": "false",
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "hostile",
        "remote.hostile.url": ".",
        "remote.hostile.promisor": "true",
        "remote.hostile.uploadpack": f"touch {TARGETS['proof_git']};",
    }
    for name, value in settings.items():
        run("git", "config", "-f", ".git/config", name, value)
    Path(".git/HEAD").write_text(f"{'1' * 40}\n")
    return "made"


@attempt
def see_other_processes() -> str:
    return Path(f"/proc/{TARGETS['victim']}/cmdline").read_text()


@attempt
def stop_other_process() -> str:
    os.kill(int(TARGETS["victim"]), signal.SIGUSR1)
    return "signalled"


@attempt
def trace_other_process() -> str:
    victim = int(TARGETS["traced"])
    if _LIBC.ptrace(_PTRACE_ATTACH, victim, None, None):
        raise OSError(ctypes.get_errno(), "ptrace")
    os.waitpid(victim, 0)
    _LIBC.ptrace(_PTRACE_DETACH, victim, None, None)
    return "traced"


@attempt
def outlive_the_attempt() -> str:
    """Without a parent, a session or a variable in common with it."""
    return run(
        "sh", "-c", f"env -i setsid sleep 600.{int(TARGETS['survivor'], 16)} </dev/null >/dev/null 2>&1 & echo $!"
    )


@attempt
def mount_a_file_system() -> str:
    folder = Path("mounted").resolve()
    folder.mkdir()
    if _LIBC.mount(b"none", str(folder).encode(), b"tmpfs", 0, b""):
        raise OSError(ctypes.get_errno(), "mount")
    _LIBC.umount2(str(folder).encode(), _MNT_DETACH)
    return "mounted"


@attempt
def unmount_the_home_folder() -> str:
    """In a user namespace of its own; where nothing is mounted there, the diary is readable anyway."""
    pid = os.fork()
    if pid == 0:
        _LIBC.unshare(_CLONE_NEWUSER | _CLONE_NEWNS)
        for _ in range(5):
            _LIBC.umount2(str(HOME).encode(), _MNT_DETACH)
        os._exit(0 if (HOME / "diary.txt").exists() else 1)
    _, status = os.waitpid(pid, 0)
    if status:
        raise PermissionError("umount")
    return "seen"


@attempt
def mount_the_control_groups() -> str:
    """Writable: with them, all processes of another attempt can be killed at once."""
    pid = os.fork()
    if pid == 0:
        _LIBC.unshare(_CLONE_NEWUSER | _CLONE_NEWNS | _CLONE_NEWCGROUP)
        os._exit(1 if _LIBC.mount(b"none", b"/sys", b"cgroup2", 0, None) else 0)
    _, status = os.waitpid(pid, 0)
    if status:
        raise PermissionError("mount")
    return "mounted"


@attempt
def change_root() -> str:
    pid = os.fork()
    if pid == 0:
        os._exit(1 if _LIBC.chroot(b"/usr") else 0)
    _, status = os.waitpid(pid, 0)
    if status:
        raise PermissionError("chroot")
    return "changed"


@attempt
def make_a_device() -> str:
    os.mknod("device", 0o20600, os.makedev(1, 3))
    Path("device").unlink()
    return "made"


@attempt
def write_kernel_setting() -> str:
    """The value that it has: the kernel would run this program for every crash on the machine."""
    path = Path("/proc/sys/kernel/core_pattern")
    path.write_text(path.read_text())
    return "written"


@attempt
def read_password_hashes() -> str:
    size = len(Path("/etc/shadow").read_bytes())
    if not size:
        raise OSError("empty")
    return str(size)


def connect(path: str | bytes) -> str:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        client.connect(path)
    return "connected"


@attempt
def reach_ssh_agent() -> str:
    return connect(TARGETS["ssh_agent"])


@attempt
def reach_docker() -> str:
    return connect(TARGETS["docker"])


@attempt
def reach_service_in_run() -> str:
    return connect(TARGETS["run_socket"])


@attempt
def reach_abstract_socket() -> str:
    return connect(b"\0" + TARGETS["abstract"].encode())


@attempt
def reach_blocked_host() -> str:
    with socket.create_connection(("127.0.0.1", int(TARGETS["port"])), timeout=5):
        return "connected"


@attempt
def send_a_datagram() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.sendto(b"hostile", ("127.0.0.1", int(TARGETS["udp"])))
    return "sent"


@attempt
def fill_the_disk() -> str:
    """A file that is larger than the limit of the strict sandbox in this test."""
    path = Path("/tmp", f"{TARGETS['survivor']}.fill")
    try:
        with path.open("wb") as file:
            for _ in range(48):
                file.write(bytes(1 << 20))
    finally:
        path.unlink(missing_ok=True)
    return "filled"


@attempt
def start_many_processes() -> str:
    children: list[subprocess.Popen[bytes]] = []
    try:
        children.extend(subprocess.Popen(["sleep", "30"]) for _ in range(int(TARGETS["processes"])))
    finally:
        for child in children:
            child.kill()
            child.wait()
    return "started"


@attempt
def take_much_memory() -> str:
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)
        try:
            taken = bytearray(int(TARGETS["memory"]))
            os._exit(0 if taken else 1)
        finally:
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    if status:
        raise MemoryError
    return "taken"


attempt(run_program_by_other_git_folder)


def main() -> None:
    for name, try_it in ATTEMPTS.items():
        try:
            said = str(try_it()).replace("\n", " ").replace("\0", " ")
        except (OSError, KeyError, StopIteration, MemoryError, subprocess.SubprocessError) as error:
            said = f"refused ({type(error).__name__}: {error})".replace("\n", " ")
        print(f"{name}: {said[:300]}", flush=True)


if __name__ == "__main__":
    main()
