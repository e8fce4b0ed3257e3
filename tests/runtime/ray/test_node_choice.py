"""Which node takes an attempt."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, strategies as st

from plait.runtime.ray.node_choice import (
    Node,
    Wanted,
    choose_node,
    count_slots,
    explain_no_slots,
    explain_unsuitable,
    list_suitable,
)

ONE, TWO = Node("1", "one", 4), Node("2", "two", 4)


def choose(wanted: Wanted, *nodes: Node) -> str:
    found = choose_node(nodes, wanted)
    return found.name if found is not None else ""


def test_the_node_with_the_most_room_is_chosen() -> None:
    assert choose(Wanted(), replace(ONE, used=2), replace(TWO, used=1)) == "two"


def test_a_task_stays_where_its_workspace_is() -> None:
    assert choose(Wanted(home="1"), replace(ONE, used=3), TWO) == "one"
    assert choose(Wanted(home="1"), replace(ONE, used=4), TWO) == "two"


def test_a_node_that_names_the_agent_goes_first_even_if_it_is_full() -> None:
    labelled = replace(ONE, labels=("claude",))
    assert choose(Wanted("claude"), replace(labelled, used=3), TWO) == "one"
    assert choose(Wanted("claude"), replace(labelled, used=4), TWO) == ""
    assert choose(Wanted("codex"), replace(labelled, used=3), TWO) == "two"
    assert choose(Wanted("claude"), replace(labelled, problem="it has not answered yet", is_new=True), TWO) == ""
    assert choose(Wanted("claude"), replace(labelled, problem="its disk is full"), TWO) == "two"


def test_a_node_without_the_program_is_left_out() -> None:
    without = replace(ONE, lacks={"claude": "there is no claude"})
    wanted = Wanted("claude", tools="claude")
    assert choose(wanted, without, replace(TWO, used=3)) == "two"
    assert choose(Wanted("codex", tools="codex"), without) == "one"


def test_it_is_explained_when_no_node_has_the_program() -> None:
    wanted = Wanted("claude", tools="claude")
    one, two = (replace(node, lacks={"claude": "there is no claude"}) for node in (ONE, TWO))
    assert explain_unsuitable([one, two], wanted) == "no node of the cluster can run it: there is no claude (one, two)"
    assert explain_unsuitable([one, replace(TWO, problem="it has no git")], wanted)
    assert not explain_unsuitable([one, TWO], wanted)
    assert not explain_unsuitable([one, replace(TWO, problem="it has not answered yet", is_new=True)], wanted)
    assert not explain_unsuitable([], wanted)


def test_what_stays_with_its_workspace_runs_nowhere_else() -> None:
    wanted = Wanted(home="1", stays=True)
    assert choose(wanted, replace(ONE, used=3), TWO) == "one"
    assert choose(wanted, replace(ONE, used=4), TWO) == ""
    assert list_suitable([replace(ONE, used=4), TWO], wanted)
    assert not list_suitable([TWO], wanted)
    assert not list_suitable([replace(ONE, problem="its disk is full"), TWO], wanted)


def test_the_memory_that_an_agent_took_must_be_free() -> None:
    small, large = replace(ONE, memory_total=8, free_memory=2), replace(TWO, memory_total=8, free_memory=4, used=3)
    assert choose(Wanted(memory=3), small, large) == "two"


def test_an_agent_that_took_more_memory_than_any_node_has_waits_only_for_other_attempts() -> None:
    small, large = replace(ONE, memory_total=8, free_memory=2), replace(TWO, memory_total=8, free_memory=4)
    assert choose(Wanted(memory=9), small, replace(large, used=1)) == ""
    assert choose(Wanted(memory=9), small, large) == "two"


def test_a_thousand_nodes_are_not_compared_with_each_other() -> None:
    compared = 0

    class Name(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, str(other))

        __hash__ = str.__hash__

    nodes = [Node(Name(number), "node", 4, labels=("claude",)) for number in range(1000)]
    assert choose_node(nodes, Wanted("claude")) is not None
    assert compared < 10 * len(nodes)


def test_why_there_are_no_slots() -> None:
    assert "ray start" in explain_no_slots([replace(ONE, slots=0)])
    broken = [replace(ONE, problem="it has no git"), replace(TWO, problem="its disk is full")]
    assert explain_no_slots(broken) == "no node of the cluster can be used (one: it has no git, two: its disk is full)"


NODES = st.lists(
    st.builds(
        Node,
        st.sampled_from("123"),
        st.just("node"),
        st.integers(0, 3),
        st.integers(0, 4),
        problem=st.sampled_from(["", "", "it has no git"]),
        is_refusing=st.booleans(),
        lacks=st.sampled_from([{}, {"claude": "there is no claude"}]),
    ),
    max_size=3,
    unique_by=lambda node: node.id,
)


@given(NODES, st.sampled_from(["", "1", "9"]))
def test_what_is_chosen_has_room_and_no_problem(nodes: list[Node], home: str) -> None:
    wanted = Wanted("claude", "claude", home=home)
    found = choose_node(nodes, wanted)
    if found is None:
        assert not any(node.free > 0 and not node.problem and not node.is_refusing and not node.lacks for node in nodes)
    else:
        assert found.free > 0
        assert not found.problem
        assert not found.lacks
        assert found.slots <= count_slots(nodes)
