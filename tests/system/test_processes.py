from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from signal import SIGKILL, SIGSTOP
from subprocess import DEVNULL, PIPE, Popen, run

import pytest

from plait.system import processes, procfs, psutil_processes
from tests.support.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what Linux tells is compared with what psutil tells")


@pytest.fixture
def child() -> Iterator[Popen[bytes]]:
    """A process in a session of its own; its command line and its environment are not everybody's."""
    command = ["sh", "-c", "echo up; read line", "a b", "", "ü"]
    environment = {"X": "PLAIT_MARK=no", "PLAIT_MARK": "here-1", "Z": "1" * 100_000}
    with Popen(command, stdin=PIPE, stdout=PIPE, env=environment, start_new_session=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def test_a_process_is_read_with_all_its_fields(child: Popen[bytes]) -> None:
    process_read = processes.read_process(child.pid)
    assert process_read is not None
    assert (process_read.parent, process_read.group, process_read.session) == (os.getpid(), child.pid, child.pid)
    assert (process_read.tag, process_read.is_zombie, process_read.is_stopped) == ("here-1", False, False)
    assert abs(process_read.start - processes.clock_ticks()) < 100 * 60
    assert processes.command_line(child.pid)[1:] == ["-c", "echo up; read line", "a b", "", "ü"]


def test_proc_and_psutil_agree(child: Popen[bytes]) -> None:
    linux, other = processes.read_process(child.pid), psutil_processes.read_process(child.pid)
    assert linux is not None
    assert other is not None
    assert (linux.pid, linux.parent, linux.group, linux.session, linux.tag, linux.is_zombie) == (
        other.pid,
        other.parent,
        other.group,
        other.session,
        other.tag,
        other.is_zombie,
    )
    assert processes.command_line(child.pid) == psutil_processes.command_line(child.pid)
    assert psutil_processes.memory_footprint([child.pid]) > 0
    assert processes.memory_footprint([child.pid]) > 0
    assert child.pid in {process.pid for process in psutil_processes.list_processes()}


def test_every_process_is_listed(child: Popen[bytes]) -> None:
    process_read = {process.pid: process for process in processes.list_processes()}
    assert process_read[child.pid] == processes.read_process(child.pid)
    assert {1, os.getpid()} <= process_read.keys()


def test_a_missing_process_is_none(child: Popen[bytes]) -> None:
    child.kill()
    child.wait()
    for module in (processes, psutil_processes):
        assert module.read_process(child.pid) is None
        assert module.command_line(child.pid) == []
        assert module.memory_footprint([child.pid]) == 0


def test_a_zombie_is_recognised(child: Popen[bytes]) -> None:
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    for module in (processes, psutil_processes):
        process_read = module.read_process(child.pid)
        assert process_read is not None
        assert (process_read.is_zombie, process_read.tag) == (True, "")


def test_a_group_is_alive_while_a_process_in_it_is_more_than_a_zombie(child: Popen[bytes]) -> None:
    assert list(psutil_processes.list_group(child.pid)) == [child.pid]
    assert processes.is_group_alive(child.pid)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    os.killpg(child.pid, 0)  # the zombie is there
    assert not processes.is_group_alive(child.pid)
    child.wait()
    assert not processes.is_group_alive(child.pid)


def test_a_stopped_process_is_recognised(child: Popen[bytes]) -> None:
    child.send_signal(SIGSTOP)
    os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WNOWAIT)
    for module in (processes, psutil_processes):
        process_read = module.read_process(child.pid)
        assert process_read is not None
        assert process_read.is_stopped


def test_a_process_name_with_brackets_and_blanks_is_parsed() -> None:
    rename = "import sys; open('/proc/self/comm', 'w').write(') R 1 (x'); print(flush=True); sys.stdin.read()"
    with Popen([sys.executable, "-Sc", rename], stdin=PIPE, stdout=PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process_read = processes.read_process(process.pid)
        process.kill()
    assert process_read is not None
    assert process_read.parent == os.getpid()


def test_a_signal_ends_a_process_and_is_ignored_by_an_ended_one(child: Popen[bytes]) -> None:
    process_read = processes.read_process(child.pid)
    assert process_read is not None
    processes.send_signal(process_read, SIGKILL)
    assert child.wait(30) == -SIGKILL
    processes.send_signal(process_read, SIGKILL)


def test_a_signal_never_reaches_a_later_process_with_the_same_pid(child: Popen[bytes]) -> None:
    process_read = processes.read_process(child.pid)
    assert process_read is not None
    processes.send_signal(replace(process_read, start=process_read.start - 1), SIGKILL)
    child.communicate(b"go on\n", timeout=TIMEOUT_SECONDS)
    assert child.returncode == 0


def test_the_end_of_a_process_can_be_waited_for_by_a_descriptor() -> None:
    with Popen(["true"], stdin=DEVNULL) as process:
        fd = processes.open_pidfd(process.pid)
    assert fd is not None
    os.close(fd)
    assert processes.open_pidfd(process.pid) is None


def test_only_a_variable_of_the_exact_name_is_the_tag() -> None:
    for environment, marker in {
        b"PLAIT_MARK=a\0B=1\0": "a",
        b"B=1\0PLAIT_MARK=a": "a",
        b"X=PLAIT_MARK=a\0": "",
        b"XPLAIT_MARK=a\0": "",
        b"": "",
        b"PLAIT_MARK=\0": "",
    }.items():
        assert procfs._parse_tag(environment) == marker, environment


def test_every_function_comes_from_psutil_where_there_is_no_proc() -> None:
    code = """if True:
        import psutil, sys  # before the platform changes
        sys.platform = "darwin"
        from plait.system import processes, psutil_processes
        names = [name for name, value in vars(psutil_processes).items() if getattr(value, "__module__", "") == psutil_processes.__name__]
        print(*[name for name in names if getattr(processes, name) is getattr(psutil_processes, name)])
    """
    printed = run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert set(printed.split()) == {
        "boot_id",
        "clock_ticks",
        "command_line",
        "list_group",
        "list_processes",
        "memory_footprint",
        "read_process",
        "start_time",
    }
