"""A filter for the system calls of a sandboxed attempt that no namespace confines: https://docs.kernel.org/bpf/ and seccomp(2).

A network namespace doesn't confine AF_VSOCK, by which a virtual machine reaches services of its host. io_uring makes sockets
without a system call that a filter sees. The key ring of a login session, with Kerberos tickets and passwords of disks,
goes to all its processes. In a control group namespace of its own, which needs no power outside, an attempt could mount the
control groups writable, lift its limits, and freeze or kill other attempts of the same user. Everything else is allowed.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from plait.core.fast_dataclass import dataclass

_FILTER_FD = 9
_LOAD, _EQUAL, _AT_LEAST, _HAS_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # in struct seccomp_data
_ALLOW, _REFUSE, _UNKNOWN = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS
_AF_VSOCK = 40
_CLONE_NEWCGROUP = 0x02000000
_IO_URING_SETUP, _CLONE3 = 425, 435  # everywhere
_X32_CALLS = 0x40000000

Instruction = tuple[int, int, int, int]  # code, how many to skip if true and if false, value


@dataclass(frozen=True, slots=True)
class _Calls:
    """The numbers of system calls on one architecture of a machine. `key_ring` is the first of three; `socketcall`
    hides its arguments; all numbers are below `highest`.
    """

    architecture: int
    socket: int
    key_ring: int
    clone: int
    unshare: int
    socketcall: int | None = None
    highest: int | None = None


_MACHINES = {
    "x86_64": (
        _Calls(0xC000003E, 41, 248, 56, 272, highest=_X32_CALLS),
        _Calls(0x40000003, 359, 286, 120, 310, socketcall=102),
    ),
    "aarch64": (_Calls(0xC00000B7, 198, 217, 220, 97), _Calls(0x40000028, 281, 309, 120, 337)),
}


def add_filter(command: Sequence[str], folder: Path) -> tuple[tuple[str, ...], str]:
    """Add the filter to a command of bwrap. Returns the command, and the redirection by which a shell opens the filter,
    a file in the folder.

    On a machine whose calls aren't known here, the command is returned unchanged.
    """
    data = build_filter(platform.machine())
    if not data:
        return tuple(command), ""
    (folder / "filter").write_bytes(data)
    return (command[0], "--seccomp", str(_FILTER_FD), *command[1:]), f"{_FILTER_FD}<{quote(str(folder / 'filter'))}"


def redirect(redirection: str, command: Sequence[str], line: str = "") -> tuple[str, ...]:
    """Build a shell command that runs a line, opens files and becomes the command."""
    if not redirection and not line:
        return tuple(command)
    return ("/bin/sh", "-c", "; ".join(filter(None, (line, f'exec "$0" "$@" {redirection}'))), *command)


def build_filter(machine: str) -> bytes:
    """Build the filter's program; empty for an unknown machine."""
    blocks = [_build_block(calls) for calls in _MACHINES.get(machine, ())]
    program: list[Instruction] = [(_LOAD, 0, 0, _ARCHITECTURE)] if blocks else []
    for architecture, block in blocks:
        program += [(_EQUAL, 0, len(block), architecture), *block]
    program += [(_RETURN, 0, 0, _REFUSE)] if blocks else []
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def _build_block(calls: _Calls) -> tuple[int, list[Instruction]]:
    block: list[Instruction] = [(_LOAD, 0, 0, _NUMBER)]
    if calls.highest is not None:
        block += [(_AT_LEAST, 0, 1, calls.highest), (_RETURN, 0, 0, _REFUSE)]
    for number in (_IO_URING_SETUP, *range(calls.key_ring, calls.key_ring + 3), calls.socketcall):
        if number is not None:
            block += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE)]
    # Its flags are in memory. Programs use `clone` where there is none.
    block += [(_EQUAL, 0, 1, _CLONE3), (_RETURN, 0, 0, _UNKNOWN)]
    for number in (calls.clone, calls.unshare):
        block += [(_EQUAL, 0, 4, number), (_LOAD, 0, 0, _FIRST_ARGUMENT), (_HAS_BITS, 0, 1, _CLONE_NEWCGROUP)]
        block += [(_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)]
    block += [(_EQUAL, 1, 0, calls.socket), (_RETURN, 0, 0, _ALLOW), (_LOAD, 0, 0, _FIRST_ARGUMENT)]
    block += [(_EQUAL, 0, 1, _AF_VSOCK), (_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)]
    return calls.architecture, block
