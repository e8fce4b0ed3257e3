"""Blocks of ports: a task gets the same one each time, and no other task gets it."""

from __future__ import annotations

import os
import resource
import socket
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from subprocess import Popen

import pytest

from plait.system.port_leases import DEFAULT_PORTS, list_blocks, read_ephemeral_range
from plait.system.shared_state import SharedState

Child = Callable[..., Popen[str]]


def opened(folder: Path, name: str, ports: range) -> closing[SharedState]:
    return closing(SharedState(folder, engine=name, ports=ports))


def lease_all(shared: SharedState, batch: str = "b") -> list[range]:
    """Twenty: all there are."""
    return [shared.lease_ports(batch, str(number)) for number in range(20)]


def distinct(leased: list[range]) -> bool:
    every = [port for block in leased for port in block]
    return len(every) == len({*every})


def test_a_task_gets_ten_free_ports(folder: Path, ports: range) -> None:
    with opened(folder, "/a", ports) as shared:
        block = shared.lease_ports("b", "t")
        assert len(block) == 10
        assert {*block} <= {*ports}
        for port in block:
            with socket.socket() as server:
                server.bind(("127.0.0.1", port))


def test_a_task_keeps_its_ports_until_they_are_released(folder: Path, ports: range) -> None:
    with opened(folder, "/a", ports) as shared:
        block = shared.lease_ports("b", "t")
        with socket.socket() as server:
            server.bind(("127.0.0.1", block[3]))
            assert shared.lease_ports("b", "t") == block, "also while it uses them"
        shared.release_ports("b", "t")
        shared.release_ports("b", "t")
        shared.release_ports("b", "never leased")
        assert shared.lease_ports("b", "next") == block, "this engine's next task has them"
        shared.release_ports("b", "next")
    assert list((folder / "ports").iterdir()) == [], "and when it leaves, anybody"


def test_a_spare_block_is_leased_once(folder: Path, ports: range) -> None:
    with opened(folder, "/a", ports) as shared:
        shared.lease_ports("b", "1")
        shared.release_ports("b", "1")
        leased = [shared.lease_ports("b", str(number)) for number in range(2, 6)]
        assert all(leased)
        assert distinct(leased)
        assert shared.lease_ports("b", "2") == leased[0]


def test_a_spare_block_with_a_port_in_use_is_not_leased(folder: Path, ports: range) -> None:
    with opened(folder, "/a", ports) as shared, socket.socket() as server:
        block = shared.lease_ports("b", "1")
        shared.release_ports("b", "1")
        server.bind(("127.0.0.1", block[3]))
        server.listen()
        assert not {*shared.lease_ports("b", "2")} & {*block}


def test_a_lease_of_a_spare_block_survives_the_engine(folder: Path, ports: range) -> None:
    with opened(folder, "/a", ports) as shared:
        shared.lease_ports("b", "one with a long name")
        shared.release_ports("b", "one with a long name")
        block = shared.lease_ports("b", "2")
    with opened(folder, "/a", ports) as shared:
        assert shared.lease_ports("b", "2") == block


def test_leases_survive_the_engine(folder: Path, ports: range) -> None:
    with opened(folder, "/a", ports) as shared:
        leased = lease_all(shared)
    with opened(folder, "/a", ports) as shared:
        assert lease_all(shared) == leased
        shared.release_ports("b", "7")
    with opened(folder, "/b", ports) as other:
        assert other.lease_ports("b", "7") == leased[7]


def test_tasks_batches_and_engines_get_separate_ports(folder: Path, ports: range) -> None:
    with opened(folder, "/a", ports) as one, opened(folder, "/b", ports) as two:
        leased = [each.lease_ports(batch, task) for each in (one, two) for batch in "bc" for task in ("1", "2")]
        leased += [
            one.lease_ports("b\udcff", "\ud800"),
            one.lease_ports("b c", "d"),
            one.lease_ports("b", "c d"),
        ]
        assert all(leased)
        assert distinct(leased)
        assert one.lease_ports("b\udcff", "\ud800") == leased[8], "whatever its name is"


def test_a_block_with_a_port_in_use_is_skipped(folder: Path, ports: range) -> None:
    with ExitStack() as stack:
        for first in ports[:190:10]:
            server = stack.enter_context(socket.socket())
            server.bind(("127.0.0.1", first + 9))
            server.listen()
        shared = stack.enter_context(opened(folder, "/a", ports))
        assert shared.lease_ports("b", "t") == ports[190:]
        assert shared.lease_ports("b", "another") == range(0)


def test_a_task_gets_no_ports_when_none_are_left(folder: Path, ports: range) -> None:
    with opened(folder, "/a", ports) as one, opened(folder, "/b", ports) as two:
        assert distinct(lease_all(one))
        assert one.lease_ports("b", "one more") == range(0)
        assert two.lease_ports("b", "t") == range(0), "a live engine keeps its own"
        one.release_ports("b", "5")
        assert one.lease_ports("b", "one more")
        assert (one.problem, two.problem) == ("", "")


def test_the_oldest_lease_of_a_dead_engine_is_taken_over(folder: Path, ports: range) -> None:
    with opened(folder, "/gone", ports) as gone:
        leased = lease_all(gone)
    for age, block in enumerate(leased):
        os.utime(folder / "ports" / str(block.start), (1000 - age, 1000 - age))
    with opened(folder, "/gone", ports) as gone:
        gone.lease_ports("b", "19")  # asked for again: not the oldest any more
    with opened(folder, "/a", ports) as one:
        assert one.lease_ports("b", "x") == leased[18]
        assert one.lease_ports("b", "y") == leased[17]
        assert one.lease_ports("b", "x") == leased[18]
    with opened(folder, "/gone", ports) as gone:
        assert gone.lease_ports("b", "18") == leased[17], "whose next engine takes from who is gone now"
        assert gone.lease_ports("b", "16") == leased[16]


def test_leases_of_running_attempts_are_not_taken_over(folder: Path, ports: range) -> None:
    gone = SharedState(folder, engine="/gone", ports=ports)
    lease_all(gone)
    gone.record_usage(1, [os.getpid()])
    gone.close()
    with opened(folder, "/a", ports) as one:
        assert one.lease_ports("b", "t") == range(0)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"key": 1}'])
def test_an_unreadable_lease_is_taken_over_when_no_other_is_left(text: str, folder: Path, ports: range) -> None:
    with opened(folder, "/a", ports) as one, opened(folder, "/b", ports) as two:
        leased = lease_all(one)
        (folder / "ports" / str(leased[4].start)).write_text(text)
        (folder / "ports" / "note").write_text(text)
        assert two.lease_ports("b", "t") == leased[4]
        assert one.lease_ports("b", "4") == range(0), "one's own leases are not taken from oneself"
        assert one.lease_ports("b", "3") == leased[3]


def test_removed_lease_files_never_lead_to_two_holders(folder: Path, ports: range) -> None:
    with opened(folder, "/a", ports) as one, opened(folder, "/b", ports) as two:
        leased = lease_all(one)
        for path in (folder / "ports").iterdir():
            path.unlink()
        assert one.lease_ports("b", "1") == leased[1]
        taken = two.lease_ports("b", "t")
        again = lease_all(one)
        assert distinct([*again, taken])
        assert [block for block in again if block] == [block for block in leased if block != taken]


def test_ten_engines_never_lease_the_same_block(folder: Path, ports: range, child: Child) -> None:
    others = [child("lease", folder, f"/{number}", ports.start, ports.stop, 4) for number in range(10)]
    for other in others:
        assert other.stdout
        assert other.stdout.readline() == "ready\n"
    for other in others:
        assert other.stdin
        other.stdin.write("go\n")
        other.stdin.flush()
    leased: list[int] = []
    for other in others:
        assert other.stdout
        leased += map(int, other.stdout.readline().split())
    assert sorted(leased) == [*ports[::10]], "each once, and none left"


def test_blocks_of_different_ranges_never_overlap() -> None:
    assert list_blocks(range(20003, 20031), range(0)) == (20010, 20020)
    assert list_blocks(range(20000, 20009), range(0)) == ()
    assert list_blocks(range(1050), range(0)) == (1030, 1040)
    assert list_blocks(range(65500, 99999), range(0)) == (65500, 65510, 65520)


def test_ephemeral_ports_are_used_only_if_there_are_no_others() -> None:
    assert list_blocks(range(32740, 32800), range(32768, 61000)) == (32740, 32750)
    assert list_blocks(range(60980, 61020), range(32768, 61000)) == (61000, 61010)
    assert list_blocks(range(40000, 40020), range(32768, 61000)) == (40000, 40010)
    assert len(list_blocks(DEFAULT_PORTS, read_ephemeral_range())) > 0


def test_a_full_disk_stops_sharing_and_leaves_no_partial_file(folder: Path, ports: range) -> None:
    """As a limit on the size of files: Python ignores the signal that comes with it."""
    with opened(folder, "/a", ports) as shared:
        taken = shared.lease_ports("b", "before")
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
        try:
            block = shared.lease_ports("b", "t")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert len(block) == 10
        assert "File too large" in shared.problem
        assert [path.name for path in (folder / "ports").iterdir()] == [str(taken.start)]
        assert shared.lease_ports("b", "t") == block, "it is told as soon as that can be done"
        assert shared.problem == ""
        assert len([*(folder / "ports").iterdir()]) == 2


def test_an_empty_range_leases_nothing(folder: Path) -> None:
    with opened(folder, "/a", range(0)) as shared:
        assert shared.lease_ports("b", "t") == range(0)
        assert shared.problem == ""
