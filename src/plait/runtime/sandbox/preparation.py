"""Prepares a sandboxed attempt before it starts: its private folders, and the layout of what it will find at which
path.

The attempt's own files are in `sandbox/` of its folder: an empty home, /tmp, and the files that it reads and writes.
They are new for each attempt, because an agent may have left links in them.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import plait
from plait.agents.table import AgentFolder
from plait.core.fast_dataclass import dataclass
from plait.core.settings import SandboxMode
from plait.git.worktrees.metadata import read_gitdir_link
from plait.git.worktrees.sandbox_view import GitView
from plait.runtime.attempt_files import RECORD_FILES, FileTranscript
from plait.runtime.executor import AttemptKind, AttemptSpec
from plait.runtime.sandbox.container import remove_container
from plait.runtime.sandbox.layout import Access, Mount, SandboxLayout, is_inside
from plait.runtime.sandbox.limits import remove_limit_groups
from plait.runtime.sandbox.spec import SandboxLimits, SandboxSpec
from plait.system.atomic_files import make_private_folder, write_private_file
from plait.system.disk import remove_tree
from plait.system.state_paths import AttemptFolder

_HOME_PARENTS = ("/home", "/root", "/Users")
# Programs and their libraries that people install in their home folder, and who they are for git. No folder that also
# has keys, tokens or passwords in it.
_HOME_READABLE = (
    *(".local/bin", ".local/lib", ".local/share/claude", ".local/share/cursor-agent", ".local/share/pipx"),
    *(
        ".local/share/uv/python",
        ".local/share/uv/tools",
        ".local/share/mise",
        ".local/share/fnm",
        ".local/share/pnpm",
        ".local/share/virtualenvs",
    ),
    *(".nvm", ".volta", ".fnm", ".nodenv", ".bun", ".deno", ".npm-global", ".npm-packages"),
    *(".pyenv", ".rbenv", ".asdf", ".sdkman", ".rustup", ".cargo/bin", ".cargo/registry", ".cargo/git"),
    *("go/bin", "go/pkg", ".gem/ruby"),
    *("bin", "miniconda3", "anaconda3", "miniforge3", "mambaforge", ".linuxbrew", ".nix-profile"),
    *(".gitconfig", ".gitignore", ".gitignore_global", ".gitattributes"),
    *(".config/git/config", ".config/git/ignore", ".config/git/attributes"),
)
# In /run, which holds the sockets of the machine's services, so is hidden.
_RUN_READABLE = ("/run/current-system", "/run/opengl-driver", "/run/systemd/resolve")
# For root, who may read everything.
_SYSTEM_SECRETS = (
    *("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/krb5.keytab"),
    *("/etc/ssh", "/etc/ssl/private", "/etc/kubernetes", "/etc/rancher", "/etc/sudoers.d", "/etc/wireguard"),
    *(
        "/etc/letsencrypt",
        "/etc/pki/tls/private",
        "/etc/openvpn",
        "/etc/ipsec.secrets",
        "/etc/ipsec.d/private",
        "/etc/ppp",
    ),
    *("/etc/NetworkManager/system-connections", "/etc/wpa_supplicant", "/etc/security/opasswd", "/etc/docker/key.json"),
    *(
        "/etc/apt/auth.conf",
        "/etc/apt/auth.conf.d",
        "/etc/mysql/debian.cnf",
        "/etc/postfix/sasl_passwd",
        "/etc/msmtprc",
    ),
    *("/var/lib/docker", "/var/lib/containers", "/var/lib/kubelet", "/var/spool/cron", "/var/mail", "/var/spool/mail"),
    *("/var/lib/cloud", "/var/lib/private", "/var/lib/waagent", "/var/cache/debconf/passwords.dat"),
    *("/sys/kernel/debug", "/sys/kernel/tracing"),
)
# Variables that name a file of settings or certificates.
_FILE_VARIABLES = (
    *(
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_SYSTEM",
        "GIT_SSL_CAINFO",
        "SSL_CERT_FILE",
        "CURL_CA_BUNDLE",
        "REQUESTS_CA_BUNDLE",
    ),
    *("NODE_EXTRA_CA_CERTS", "PIP_CERT", "AWS_CA_BUNDLE"),
)
_XDG_FOLDERS = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_STATE_HOME": ".local/state",
    "XDG_CACHE_HOME": ".cache",
    "XDG_DATA_HOME": ".local/share",
}
# In an agent's folder: keys of servers outside that run any command, an editor's and the agent's own; and logs, which it
# has to write.
_LEFT_OUT_FOLDERS = frozenset({"ide", "daemon", "log", "logs"})
_MAX_COPIED_BYTES = 4 << 20  # of one file of an agent's folder
_MAX_COLLECTED_BYTES = 16 << 20  # of all files that an attempt leaves in its folder
_DENIALS_FILE = "blocked"  # in the attempt's private folder
_PROGRAMS_FILE = "programs"  # in the same
_SEARCHED_BYTES = 8 << 20  # at the end of a transcript
_NON_WORD = re.compile(r"[^A-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class SandboxPlaces:
    """Paths of this machine: `state` is plait's state folder, `worktrees` the folder of all workspaces."""

    attempt_folder: Path
    state: Path
    worktrees: Path | None = None
    git_view: GitView | None = None

    @property
    def private(self) -> Path:
        return AttemptFolder(self.attempt_folder).sandbox

    @property
    def files(self) -> Path:
        return AttemptFolder(self.attempt_folder).sandbox_files

    @property
    def denials(self) -> Path:
        """Return the file with the hosts that were blocked, which the attempt can't remove."""
        return self.private / _DENIALS_FILE


def prepare_layout(spec: AttemptSpec, sandbox: SandboxSpec, places: SandboxPlaces) -> SandboxLayout:
    """Make the private folders and find out what to mount. Raises OSError."""
    remove_tree(places.private)
    for name in ("home", "tmp", "files"):
        make_private_folder(places.private / name)
    home = _find_home(spec.env)
    hidden = list(_list_hidden(spec, places, home))
    mounts = [*(Mount(path, Access.HIDDEN) for path in hidden), *_list_system_secrets()]
    mounts += [Mount(path, Access.WRITE, str(places.private / "tmp")) for path in ("/tmp", "/var/tmp")]  # noqa: S108
    if home:
        mounts.append(Mount(home, Access.WRITE, str(places.private / "home")))
    concealed = [*hidden, "/tmp", "/var/tmp", *([home] if home else [])]  # noqa: S108
    if sandbox.mode is not SandboxMode.CONTAINER:  # whose programs are the image's
        mounts += _list_programs(spec.env, concealed, home)
        mounts += [mount for name in sandbox.programs for mount in _list_program(name, spec.env, concealed)]
    mounts += _list_agent_mounts(spec, sandbox, places, home)
    named = [*_list_named(spec, sandbox, home)]
    mounts += [*_list_sockets([*mounts, *named]), *named]
    mounts += [Mount(path, Access.WRITE) for path in (spec.workspace, *spec.checkouts)]
    mounts += _list_git_mounts(spec, places)
    mounts += _list_attempt_files(spec, places)
    if sandbox.mode is not SandboxMode.CONTAINER:
        mounts = _follow_links(mounts)
    is_strict = sandbox.mode in {SandboxMode.STRICT, SandboxMode.CONTAINER}
    limits = sandbox.limits if is_strict else SandboxLimits()
    return SandboxLayout(spec.workspace, tuple(mounts), share_network=not is_strict, limits=limits)


def _follow_links(mounts: Sequence[Mount]) -> list[Mount]:
    """Return the mounts with the links in their targets followed: nothing can be mounted through an absolute one."""
    replaced, targets = list[str](), dict[str, str]()
    for mount in sorted(mounts, key=lambda mount: mount.target.count("/")):
        target = targets[mount.target] = _follow_visible_links(mount.target, replaced)
        if mount.access in {Access.HIDDEN, Access.EMPTY} or mount.origin != mount.target:
            replaced.append(target)
    return [
        mount if mount.target == (target := targets[mount.target]) else Mount(target, mount.access, mount.origin)
        for mount in mounts
    ]


def _follow_visible_links(path: str, replaced: Sequence[str]) -> str:
    """Follow links, except inside folders in whose place the sandbox shows something else."""
    found, parts = "/", [part for part in path.split("/") if part]
    for at, part in enumerate(parts):
        found = os.path.join(found, part)  # noqa: PTH118
        if is_inside(found, replaced):
            return "/".join((found, *parts[at + 1 :]))
        if os.path.islink(found):  # noqa: PTH114 - faster
            found = os.path.realpath(found)
    return found


def collect_attempt_files(attempt_folder: Path) -> None:
    """Copy what a sandboxed attempt wrote into its folder to the real one, over nothing that is there.

    Regular files only; an agent may have left anything. Files that aren't kept are the executor's: from them, a later engine
    learns how an attempt ended and which processes to end.
    """
    source, room = AttemptFolder(attempt_folder).sandbox_files, _MAX_COLLECTED_BYTES
    for name in sorted(RECORD_FILES):  # not what is there: an agent can leave any number of files
        target = attempt_folder / name
        if not os.path.lexists(target):
            with suppress(OSError):
                fd = os.open(source / name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
                with open(fd, "rb") as file:  # noqa: PTH123 - opened without following links
                    status = os.fstat(fd)
                    if stat.S_ISREG(status.st_mode) and status.st_size <= room:
                        write_private_file(target, file.read(room))
                        room -= status.st_size


def read_denials(attempt_folder: Path) -> list[bytes]:
    """Read the lines on blocked hosts."""
    try:
        return (AttemptFolder(attempt_folder).sandbox / _DENIALS_FILE).read_bytes().splitlines(keepends=True)
    except OSError:
        return []


def restore_denials(attempt_folder: Path) -> None:
    """Add lines on blocked hosts to the transcript if they aren't near its end: an attempt can edit its own output."""
    transcript, lines = AttemptFolder(attempt_folder).transcript, read_denials(attempt_folder)
    with suppress(OSError):
        end = FileTranscript(transcript).tail(_SEARCHED_BYTES) if lines else b""
        fd = os.open(transcript, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
        with open(fd, "ab") as file:  # noqa: PTH123 - opened without following links
            file.writelines(line for line in lines if line not in end)


def remove_planted_link(git_dir: Path) -> None:
    """Remove a `commondir` that an agent in place may have left: git would use the settings, and run the programs, of
    that folder.

    Only the git folder of a linked worktree has one, and this is the repository's own.
    """
    link = git_dir / "commondir"
    if os.path.lexists(link) and (git_dir / "objects").is_dir() and (git_dir / "HEAD").is_file():
        remove_tree(link)


def remove_private_folder(private: Path) -> None:
    """Remove the home and /tmp of an attempt that has ended, and what limited the attempt."""
    remove_container(private)
    _remove_changed_programs(private)
    remove_limit_groups(private)
    with suppress(OSError):
        remove_tree(private)


def _save_fingerprint(private: Path, folder: Path) -> None:
    with (private / _PROGRAMS_FILE).open("a", encoding="ascii") as file:
        file.write(f"{_fingerprint(folder)} {os.fsencode(folder).hex()}\n")


def _remove_changed_programs(private: Path) -> None:
    """Remove an agent's programs that were changed; the agent downloads them again.

    A mount protects them in the sandbox's own namespace only: in another one, an attempt can put a folder in their
    place.
    """
    with suppress(OSError, ValueError):
        for line in (private / _PROGRAMS_FILE).read_text("ascii").splitlines():
            fingerprint, name = line.split(" ")
            folder = Path(os.fsdecode(bytes.fromhex(name)))
            if _fingerprint(folder) != fingerprint:
                remove_tree(folder)


def _fingerprint(folder: Path) -> str:
    """Return a hash that changes if a file of the folder does: it includes a time that programs can't set."""
    with suppress(OSError):
        status = [folder.lstat(), *(path.lstat() for path in sorted(folder.iterdir()))]
        facts = [(each.st_ino, each.st_mode, each.st_size, each.st_ctime_ns) for each in status]
        return hashlib.sha256(repr(facts).encode()).hexdigest()
    return "-"


def _find_home(env: Mapping[str, str]) -> str:
    """Find the home folder in the command's environment; "" if it has none that can be replaced."""
    home = os.path.normpath(env.get("HOME") or Path("~").expanduser())
    return home if home.startswith("/") and home != "/" and os.path.isdir(home) else ""  # noqa: PTH112


def _list_hidden(spec: AttemptSpec, places: SandboxPlaces, home: str) -> Iterator[str]:
    """Yield what is hidden: all users' homes, sockets of services, other worktrees, the checkout, and what plait keeps."""
    yield from (path for path in (*_HOME_PARENTS, "/run") if os.path.isdir(path))  # noqa: PTH112
    if home and os.path.realpath(home) != home:
        yield os.path.realpath(home)
    yield str(places.state)
    if places.worktrees is not None:
        yield str(places.worktrees)
    if spec.checkout and spec.kind is not AttemptKind.IN_PLACE and spec.checkout != "/":
        yield spec.checkout
    for variable, default in _XDG_FOLDERS.items():
        for environment in (spec.env, os.environ):
            folder = Path(environment.get(variable) or Path(home or "/", default), "plait")
            if folder.is_dir():
                yield os.path.realpath(folder)


def _list_system_secrets() -> Iterator[Mount]:
    for path in _SYSTEM_SECRETS:
        if os.path.isdir(path) and os.access(path, os.R_OK):  # noqa: PTH112
            yield Mount(os.path.realpath(path), Access.HIDDEN)
        elif os.path.isfile(path) and os.access(path, os.R_OK):  # noqa: PTH113
            yield Mount(path, Access.EMPTY)


def _list_sockets(mounts: Iterable[Mount]) -> Iterator[Mount]:
    """Yield sockets of services that are visible. Neither a read-only disk nor a network of its own keeps a process
    from using them.
    """
    by_target = {mount.target: mount for mount in mounts}
    with suppress(OSError):
        lines = Path("/proc/net/unix").read_text("utf-8", "replace").splitlines()
        names = {fields[7] for line in lines if len(fields := line.split(" ", 7)) > 7 and fields[7].startswith("/")}
        for path in sorted({os.path.realpath(name) for name in names}):
            around = next((by_target[str(each)] for each in Path(path).parents if str(each) in by_target), None)
            is_visible = around is None or (around.access is Access.READ and around.origin == around.target)
            if is_visible and os.access(path, os.W_OK) and stat.S_ISSOCK(os.stat(path).st_mode):  # noqa: PTH116
                yield Mount(path, Access.EMPTY)


def _list_programs(env: Mapping[str, str], concealed: Iterable[str], home: str) -> Iterator[Mount]:
    """Yield programs that would be hidden: those on the PATH, plait's own Python, and what is installed in the home
    folder.
    """
    folders = [*concealed]
    own = (sys.prefix, sys.base_prefix, sys.exec_prefix, *(str(Path(path).parent) for path in plait.__path__))
    # Normalised: `~/` must not be mistaken for a folder in the home folder.
    on_path = [os.path.normpath(path) for path in env.get("PATH", "").split(os.pathsep) if path.startswith("/")]
    for path in dict.fromkeys((*own, *on_path, *_RUN_READABLE)):
        if is_inside(path, folders) and path not in folders and os.path.isdir(path):  # noqa: PTH112
            yield Mount(path, Access.READ)
        real = os.path.realpath(path)
        if real != path and is_inside(real, folders) and real not in folders and os.path.isdir(real):  # noqa: PTH112
            yield Mount(real, Access.READ)
    resolver = os.path.realpath("/etc/resolv.conf")
    if is_inside(resolver, folders):
        yield Mount(resolver, Access.READ)
    for variable in _FILE_VARIABLES:
        file = env.get(variable, "")
        if is_inside(file, folders) and os.path.isfile(file):  # noqa: PTH113
            yield Mount(file, Access.READ)
    for name in _HOME_READABLE if home else ():
        if os.path.exists(f"{home}/{name}"):  # noqa: PTH110
            yield Mount(f"{home}/{name}", Access.READ)


def _list_program(name: str, env: Mapping[str, str], concealed: Sequence[str]) -> Iterator[Mount]:
    """Yield a program or file that would be hidden, with what it was installed with."""
    path = shutil.which(name, path=env.get("PATH"))
    path = path or (name if name.startswith("/") and os.path.isfile(name) else None)  # noqa: PTH113
    if path is None:
        return
    real = os.path.realpath(path)
    for each in dict.fromkeys((path, real)):
        if is_inside(each, concealed):
            yield Mount(each, Access.READ)
    if real != path or os.access(real, os.X_OK):
        root = _find_install_root(Path(real))
        if root is not None and is_inside(str(root), concealed) and str(root) not in concealed:
            yield Mount(str(root), Access.READ)


def _find_install_root(program: Path) -> Path | None:
    """Find the packages around a Node program, or the virtual environment of a Python program; None if there are none."""
    for parent in reversed(program.parents):
        if parent.name == "node_modules" or (parent / "pyvenv.cfg").is_file():
            return parent
    return None


def _list_agent_mounts(spec: AttemptSpec, sandbox: SandboxSpec, places: SandboxPlaces, home: str) -> Iterator[Mount]:
    """Yield the agent's folders, which are private, with copies of its settings; its login and its sessions are the
    real ones.
    """
    for number, folder in enumerate(sandbox.folders):
        place = spec.env.get(folder.variable) if folder.variable else None
        real = Path(place or _find_in_home(folder.path, spec.env, home))
        if home and real.is_absolute() and real != Path(home):
            yield from _list_folder_mounts(folder, real, places.private / "agent" / str(number), spec.workspace)
    for name in sandbox.copied_files if home else ():
        _copy_file(Path(home, name), places.private / "home" / name)


def _find_in_home(path: str, env: Mapping[str, str], home: str) -> str:
    """Return a path below the home folder, or where the XDG variables set the folder for such files."""
    for variable, start in _XDG_FOLDERS.items():
        if path.startswith(f"{start}/") and env.get(variable, "").startswith("/"):
            return f"{env[variable]}/{path.removeprefix(f'{start}/')}"
    return f"{home}/{path}"


def _list_folder_mounts(folder: AgentFolder, real: Path, private: Path, workspace: str) -> Iterator[Mount]:
    make_private_folder(private)
    yield Mount(str(real), Access.WRITE, str(private))
    writable = [each.replace("{workspace}", _NON_WORD.sub("-", workspace)) for each in folder.writable]
    for name in writable:
        if name.endswith("/"):
            with suppress(OSError):
                (real / name).mkdir(parents=True, exist_ok=True, mode=0o700)
        if (real / name).exists():
            yield Mount(str(real / name), Access.WRITE)
    for name in folder.programs:
        with suppress(OSError):
            (real / name).mkdir(parents=True, exist_ok=True, mode=0o700)  # otherwise the agent could make it
            _save_fingerprint(private.parents[1], real / name)
        yield Mount(str(real / name), Access.READ)
    with suppress(OSError), os.scandir(real) as found:
        for entry in found:
            if entry.name in _LEFT_OUT_FOLDERS or any(
                name == entry.name or name.startswith(f"{entry.name}/") for name in writable
            ):
                continue
            if entry.is_dir():
                yield Mount(entry.path, Access.READ)
            else:
                _copy_file(Path(entry.path), private / entry.name)


def _copy_file(source: Path, target: Path) -> None:
    with suppress(OSError):
        status = source.stat()
        if stat.S_ISREG(status.st_mode) and status.st_size <= _MAX_COPIED_BYTES:
            make_private_folder(target.parent)
            shutil.copy2(source, target)


def _list_named(spec: AttemptSpec, sandbox: SandboxSpec, home: str) -> Iterator[Mount]:
    """Yield the paths in the settings, and the targets of links into the checkout."""
    named = [(path, Access.READ) for path in (*spec.setup.link, *sandbox.readable)]
    named += [(path, Access.WRITE) for path in sandbox.writable]
    for path, access in named:
        place = f"{home}{path[1:]}" if path == "~" or path.startswith("~/") else path
        whole = os.path.normpath(Path(spec.checkout or spec.workspace, place))
        if os.path.exists(whole):  # noqa: PTH110
            yield Mount(whole, access)


def _list_git_mounts(spec: AttemptSpec, places: SandboxPlaces) -> Iterator[Mount]:
    view = places.git_view
    if view is not None:
        yield Mount(view.common, Access.WRITE, view.folder)
        yield from (Mount(target, Access.READ, source) for source, target in view.readable)
        for path in (spec.workspace, *spec.checkouts):
            yield Mount(f"{path}/.git", Access.READ)  # otherwise it could be replaced by a repository with hooks
    elif spec.kind is not AttemptKind.IN_PLACE:
        return  # what is there is no worktree of plait's, so git has nothing to work with
    elif places.state.parent.name == ".git" or (places.state.parent / "objects").is_dir():
        # In place: the repository is the agent's to work with, but not what others would run.
        common = places.state.parent
        for name in ("hooks", "worktrees", "modules"):
            (common / name).mkdir(exist_ok=True)
            yield Mount(str(common / name), Access.READ)
        yield Mount(str(common), Access.WRITE)
        yield Mount(str(common / "config"), Access.READ)
        if (gitdir := read_gitdir_link(Path(spec.workspace))) is not None:
            yield Mount(str(gitdir), Access.WRITE)


def _list_attempt_files(spec: AttemptSpec, places: SandboxPlaces) -> Iterator[Mount]:
    yield Mount(str(places.attempt_folder), Access.WRITE, str(places.files))
    for file in spec.files:
        if Path(file.path).parent != places.attempt_folder:
            yield Mount(file.path, Access.READ)
