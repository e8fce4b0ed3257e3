"""Names: which batch and which tasks are meant."""

from __future__ import annotations

import pytest

from plait.client.batch_lookup import find_batch, find_batch_and_tasks, find_one_task
from plait.core.errors import UserError
from plait.core.state import State
from plait.testing.script import Script


def state(**batches: tuple[str, ...]) -> State:
    """Batches with their tasks, the last one the newest."""
    script = Script(start=False)
    for name, tasks in batches.items():
        script.submit(*tasks, batch=name)
    return script.state


TWO = {"b7f3a": ("01-walls", "02-paint"), "b7c11": ("01-walls", "03-door", "03-doorstep", "TODO:63", "b7")}


def find_names(words: str, **batches: tuple[str, ...]) -> str:
    found = find_batch_and_tasks(state(**(batches or TWO)), words.split())
    return " ".join([found.batch.id, *(task.task.id for task in found.tasks)])


def find_error(words: str, **batches: tuple[str, ...]) -> str:
    with pytest.raises(UserError) as raised:
        find_names(words, **batches)
    return str(raised.value)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("", "b7c11"),
        ("b7f", "b7f3a"),
        ("b7f3a", "b7f3a"),
        ("b7f 02", "b7f3a 02-paint"),
        ("b7f 02 01", "b7f3a 02-paint 01-walls"),
        ("b7f 02 02-p", "b7f3a 02-paint"),
        ("01", "b7c11 01-walls"),
        ("03-door", "b7c11 03-door"),
        ("03-doors 01", "b7c11 03-doorstep 01-walls"),
        ("63", "b7c11 TODO:63"),
        ("b7", "b7c11 b7"),
    ],
)
def test_a_batch_or_task_is_found_by_its_id_or_a_prefix(words: str, found: str) -> None:
    assert find_names(words) == found


def test_the_newest_batch_is_the_one_submitted_last() -> None:
    assert find_names("", zz=("a",), aa=("b",)) == "aa"


def test_a_batch_with_the_name_of_a_task_wins_and_the_task_can_still_be_named() -> None:
    batches = {"old": ("x",), "same": ("same", "other")}
    assert find_names("same", **batches) == "same"
    assert find_names("same same", **batches) == "same same"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("b", "b is ambiguous: batch b7f3a, batch b7c11 or task b7 of batch b7c11\n  Use more characters."),
        ("03", "03 is ambiguous: task 03-door or task 03-doorstep of batch b7c11\n  Use more characters."),
        (
            "b7f3a 03",
            "batch b7f3a has no task 03\n  `plait status b7f3a` lists its tasks.",
        ),
        (
            "b7f3a 02-paimt",
            "batch b7f3a has no task 02-paimt\n  Did you mean 02-paint?",
        ),
        (
            "wals",
            "there is no batch wals, and batch b7c11 has no such task\n  Did you mean 01-walls?",
        ),
        (
            "zzz",
            "there is no batch zzz, and batch b7c11 has no such task\n  `plait status` lists what there is.",
        ),
    ],
)
def test_an_ambiguous_or_unknown_name_is_an_error_with_a_hint(words: str, told: str) -> None:
    assert find_error(words) == told


def test_a_prefix_of_two_batches_is_ambiguous() -> None:
    assert find_error("a", ab=("x",), ac=("y",)) == "a is ambiguous: batch ab or batch ac\n  Use more characters."


def test_without_a_batch_the_error_says_how_to_start_one() -> None:
    for words in ([], ["7f3a"], ["7f3a", "01"]):
        with pytest.raises(UserError, match="there is no batch yet"):
            find_batch_and_tasks(State(), words)


def test_a_batch_is_found_by_a_prefix_but_not_by_the_name_of_a_task() -> None:
    assert find_batch(state(**TWO), None).id == "b7c11"
    assert find_batch(state(**TWO), "b7f").id == "b7f3a"
    with pytest.raises(UserError) as raised:
        find_batch(state(**TWO), "01")
    assert str(raised.value) == "there is no batch 01\n  It is a task of batch b7c11."


def test_one_task_is_found_with_or_without_its_batch() -> None:
    batch, task = find_one_task(state(**TWO), ["b7f", "01"])
    assert (batch.id, task.task.id) == ("b7f3a", "01-walls")
    assert find_one_task(state(one=("only",)), [])[1].task.id == "only"
    for words in ([], ["b7f3a"], ["01", "03-door"]):
        with pytest.raises(UserError, match="name one task of batch"):
            find_one_task(state(**TWO), words)
