"""The process that serves engines on a node: `python -m plait.runtime.ray.node_daemon [--detach] FOLDER`.

It belongs to no Ray process, not even as a child: it outlives the actor that brings it requests, and Ray's own process
on the node, so that leases end attempts also when these no longer run. It ends by itself when no engine has anything
here.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path

from plait.core.errors import PlaitError, WorldError
from plait.runtime.ray.node_service import NodeService
from plait.runtime.reactor import SelectReactor
from plait.runtime.termination import GracePeriods
from plait.system import log
from plait.system.atomic_files import make_private_folder
from plait.system.flock import try_lock

DETACH = "--detach"
LOCK_FILE, SOCKET, LOG_FILE, ENDED_FILE = "lock", "socket", "log", "ended"
GRACES_VARIABLE = "PLAIT_NODE_GRACES"  # seconds of GracePeriods' first three, for tests
CHECK_SECONDS = 0.25
START_SECONDS = 60.0
MAX_LOG_BYTES = 1 << 20  # of earlier daemons
_FULL = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
KEY_REQUEST, KEY_PREFIX = b"key", b"K"
ANSWER_PREFIX, ERROR_PREFIX = b"A", b"E"


@contextmanager
def _open_address(folder: Path) -> Iterator[str]:
    """Yield the socket's address, which must be short whatever the folder's path is."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{fd}/{SOCKET}" if Path("/proc/self/fd").is_dir() else str(folder / SOCKET)
    finally:
        os.close(fd)


def run(folder: Path, *, detaches: bool = False) -> int:
    """Serve engines; return an exit status. `detaches`: in a process that is no child of the caller's. A worker of
    Ray's kills its children when it exits.
    """
    make_private_folder(folder)
    with try_lock(folder / LOCK_FILE) as is_ours:
        if not is_ours:
            return 0  # another one serves
        if detaches and os.fork():
            os._exit(0)  # the child has the lock
        (folder / ENDED_FILE).unlink(missing_ok=True)
        (folder / SOCKET).unlink(missing_ok=True)
        stopped = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.set())
        with (
            closing(SelectReactor()) as reactor,
            closing(NodeService(folder, reactor, _read_graces())) as service,
            _open_address(folder) as address,  # until the listener is closed, which removes the socket
            Listener(address, family="AF_UNIX", backlog=64) as listener,
        ):
            threading.Thread(target=_accept, args=(listener, service), daemon=True).start()
            while not stopped.is_set() and not service.is_finished:
                reactor.step(CHECK_SECONDS)
                service.check()
        if not stopped.is_set():
            (folder / ENDED_FILE).touch()
        (folder / SOCKET).unlink(missing_ok=True)
    return 0


def _read_graces() -> GracePeriods | None:
    words = os.environ.get(GRACES_VARIABLE, "").split()
    return GracePeriods(*map(float, words)) if words else None


def _accept(listener: Listener, service: NodeService) -> None:
    while True:
        try:
            connection = listener.accept()
        except OSError as error:
            if error.errno not in _FULL:
                return
            time.sleep(CHECK_SECONDS)  # until another request is answered
            continue
        threading.Thread(target=_serve, args=(connection, service), daemon=True).start()


def _serve(connection: Connection, service: NodeService) -> None:
    with connection, suppress(OSError, EOFError):
        data = connection.recv_bytes()
        if data == KEY_REQUEST:
            connection.send_bytes(KEY_PREFIX + service.sealer.key)
            return
        try:
            answer = ANSWER_PREFIX + service.answer(data)
        except PlaitError as error:
            answer = ERROR_PREFIX + error.message.encode()
        except Exception as error:  # noqa: BLE001 - a request must not end the service
            log.write_traceback(error)
            answer = ERROR_PREFIX + type(error).__name__.encode()
        connection.send_bytes(answer)


def ask(folder: Path, data: bytes) -> bytes:
    """Return the answer of the daemon in this folder. Raises OSError or EOFError if it no longer runs."""
    with _open_address(folder) as address, Client(address, family="AF_UNIX") as connection:
        connection.send_bytes(data)
        return connection.recv_bytes()


def is_running(folder: Path) -> bool:
    if not folder.is_dir():
        return False
    with try_lock(folder / LOCK_FILE) as is_free:
        return not is_free


def ensure_running(folder: Path) -> bytes:
    """Start the daemon if it does not run; return its public key. Raises WorldError."""
    make_private_folder(folder)
    deadline = time.monotonic() + START_SECONDS
    process: subprocess.Popen[bytes] | None = None
    while time.monotonic() < deadline:
        with suppress(OSError, EOFError):
            answer = ask(folder, KEY_REQUEST)
            if answer[:1] == KEY_PREFIX:
                if process is not None:
                    process.wait()
                return answer[1:]
        if process is None or (process.poll() is not None and not is_running(folder)):
            process = _launch(folder)
        time.sleep(0.02)
    raise WorldError(f"the service in {folder} does not start", hint=f"See {folder / LOG_FILE} there.")


def _launch(folder: Path) -> subprocess.Popen[bytes]:
    log_file = folder / LOG_FILE
    is_long = log_file.exists() and log_file.stat().st_size > MAX_LOG_BYTES
    with log_file.open("wb" if is_long else "ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", __name__, DETACH, str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            start_new_session=True,
        )


if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[-1]), detaches=DETACH in sys.argv))
