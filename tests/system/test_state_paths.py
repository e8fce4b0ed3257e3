from __future__ import annotations

from pathlib import Path

from hypothesis import given, strategies as st

from plait.core.task import Attempt, Step
from plait.system.state_paths import StateFolder, safe_filename

names = st.text(max_size=300) | st.sampled_from(
    ["", ".", "..", "../..", "/etc", "a/b", "A", "a", "a.", "~", "con", "\0"]
)


@given(names)
def test_no_name_escapes_its_folder(name: str) -> None:
    made = safe_filename(name)
    assert made not in {"", ".", ".."}
    assert not set(made) & set("/\\\0\n")
    assert len(made.encode()) <= 80


@given(names, names)
def test_no_two_names_share_a_folder_whatever_the_case(one: str, other: str) -> None:
    assert (safe_filename(one).lower() == safe_filename(other).lower()) == (one == other)


def test_a_plain_name_stays_as_it_is() -> None:
    assert safe_filename("04-split-app") == "04-split-app"


def test_an_attempt_lies_in_the_folder_of_its_task() -> None:
    folder = StateFolder(Path("/state"))
    attempt = folder.attempt(Attempt("7f3a", "one", Step.VERIFY, 2))
    assert attempt.path == Path("/state/batches/7f3a/tasks/one/verify-2")
    assert attempt.path.parent == folder.task("7f3a", "one")
    files = {attempt.transcript, attempt.pidfile, attempt.exit_status}
    assert {file.parent for file in files} == {attempt.path}
    assert len(files) == 3
