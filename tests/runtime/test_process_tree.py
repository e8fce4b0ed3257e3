from __future__ import annotations

import os

from plait.runtime.process_tree import TreeRoot, find_trees
from plait.system.process_identity import Process

OURS = "here-"


def process(pid: int, parent: int = 1, session: int = 1, start: int = 50, marker: str = "") -> Process:
    return Process(pid, parent, session, session, start, tag=marker)


def found(processes: list[Process], *roots: TreeRoot, scoped: dict[int, str] | None = None) -> dict[str, list[int]]:
    trees_ = find_trees(processes, roots, OURS, scoped or {})
    return {marker: [process.pid for process in tree] for marker, tree in trees_.items()}


def test_a_tagged_process_is_found_in_any_session() -> None:
    assert found([process(10, marker="here-a"), process(11)], TreeRoot("here-a")) == {"here-a": [10]}


def test_a_child_with_a_scrubbed_environment_is_found_by_its_parents() -> None:
    tree = [process(12, parent=11), process(11, parent=10), process(10, marker="here-a"), process(13)]
    assert found(tree, TreeRoot("here-a")) == {"here-a": [12, 11, 10]}


def test_a_child_without_parents_is_found_by_its_session() -> None:
    assert found([process(20, session=10), process(21, session=11)], TreeRoot("here-a", session=10)) == {"here-a": [20]}


def test_a_session_counts_for_processes_started_while_its_supervisor_lived() -> None:
    """Once a session is empty its number may become another one's."""
    tree = [
        process(20, session=10, start=50),
        process(21, session=10, start=51),
        process(22, session=10, start=52),
    ]
    assert found(tree, TreeRoot("here-a", session=10, until=51)) == {"here-a": [20]}


def test_a_child_in_the_cgroup_is_found() -> None:
    assert found([process(20), process(21)], TreeRoot("here-a"), scoped={20: "here-a"}) == {"here-a": [20]}


def test_a_known_process_stays_known_and_a_later_one_with_its_pid_does_not() -> None:
    root = TreeRoot("here-a")
    assert found([process(10, marker="here-a"), process(11, parent=10)], root) == {"here-a": [10, 11]}
    assert found([process(11), process(12)], root) == {"here-a": [11]}
    assert found([process(11, start=70)], root) == {"here-a": []}


def test_a_tag_of_this_state_folder_outweighs_parents_session_and_cgroup() -> None:
    """No process of one attempt is ever taken for another's."""
    tree = [process(10, marker="here-a"), process(11, parent=10, session=10, marker="here-b")]
    roots = TreeRoot("here-a", session=10), TreeRoot("here-b")
    assert found(tree, *roots, scoped={11: "here-a"}) == {"here-a": [10], "here-b": [11]}
    assert found(tree, roots[0]) == {"here-a": [10]}


def test_an_attempt_of_another_state_folder_belongs_to_the_one_that_started_it() -> None:
    tree = [process(10, marker="here-a"), process(11, parent=10, marker="there-x")]
    assert found(tree, TreeRoot("here-a")) == {"here-a": [10, 11]}


def test_this_process_is_in_no_tree_and_neither_is_what_it_started() -> None:
    """An engine that was started from inside an attempt carries the attempt's marker."""
    me = os.getpid()
    tree = [process(me, parent=10, marker="here-a"), process(10, marker="here-a"), process(11, parent=me)]
    assert found(tree, TreeRoot("here-a")) == {"here-a": [10]}


def test_a_zombie_is_in_no_tree() -> None:
    dead = Process(10, 1, 1, 1, 50, is_zombie=True, tag="here-a")
    assert found([dead], TreeRoot("here-a")) == {"here-a": []}


def test_a_cycle_of_parents_does_no_harm() -> None:
    """The list of processes is read while it changes, and pids are used again."""
    assert found([process(10, parent=11), process(11, parent=10), process(12, parent=12)], TreeRoot("here-a")) == {
        "here-a": []
    }


def test_the_tree_of_an_attempt_without_processes_is_empty() -> None:
    assert found([], TreeRoot("here-a"), TreeRoot("here-b")) == {"here-a": [], "here-b": []}
