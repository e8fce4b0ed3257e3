"""Answers that can't be taken: contained, explained, and nothing written. The one retry is used first."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.core.status import Category
from plait.core.task import ModelJob, ModelJobMode
from tests.support.model_job_bench import ModelJobBench, ModelJobRun, edit_answer, whole_file_answer
from tests.support.model_server.messages import Reply

OLD = {"src/a.py": "one\ntwo\ntwo\n"}


@pytest.fixture
def old(bench: ModelJobBench) -> ModelJobBench:
    for path, text in OLD.items():
        bench.write(path, text)
    return bench


def refused(bench: ModelJobBench, done: ModelJobRun, *words: str) -> None:
    """Nothing but what was there before is there now, and it is said why."""
    assert done.outcome.category not in {Category.OK, Category.KILLED}, done.printed
    assert done.outcome.exit_code == 1
    assert bench.files() == OLD
    assert done.result["status"] == "failed"
    assert done.result["outputs"] == []
    for word in words:
        assert word in done.last_error


EDIT = ModelJob("src/a.py", ModelJobMode.EDIT, targets=("src/a.py",))
TWO = ModelJob("src/a.py", outputs=("src/a.py", "src/b.py"))
MALFORMED = {
    "nothing": (EDIT, "", ""),
    "only talk": (EDIT, "I would rather not.\n", "no edits"),
    "no fence, where two files are asked for": (TWO, "def a(): ...\n", ""),
    "a fence that is not closed": (
        TWO,
        whole_file_answer("src/b.py", "b") + "~~~worksplit:src/a.py\nhalf a fi",
        "",
    ),
    "one of two files": (TWO, whole_file_answer("src/a.py", "a"), "src/b.py"),
    "another path": (
        TWO,
        whole_file_answer("src/a.py", "a") + whole_file_answer("src/c.py", "c"),
        "src/c.py",
    ),
    "a path that leads out": (
        TWO,
        whole_file_answer("src/a.py", "a") + whole_file_answer("../b.py", "b"),
        "../b.py",
    ),
    "an absolute path": (
        TWO,
        whole_file_answer("src/a.py", "a") + whole_file_answer("/tmp/b.py", "b"),
        "/tmp/b.py",
    ),
    "git's own folder": (EDIT, edit_answer(".git/config", "[core]", "[evil]"), ".git/config"),
    "an edit of another file": (EDIT, edit_answer("src/b.py", "one", "1"), "src/b.py"),
    "an edit that fits twice": (EDIT, edit_answer("src/a.py", "two", "2"), "src/a.py"),
    "an edit that fits nowhere": (EDIT, edit_answer("src/a.py", "three", "3"), "src/a.py"),
    "one edit of two fits": (
        EDIT,
        edit_answer("src/a.py", "one", "1") + edit_answer("src/a.py", "three", "3"),
        "src/a.py",
    ),
    "an edit without its end": (EDIT, "FILE: src/a.py\nFIND:\none\nREPLACE:\n1\n", ""),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_answer_is_explained_and_nothing_is_written(old: ModelJobBench, name: str) -> None:
    job, said, word = MALFORMED[name]
    old.server.queue_replies(Reply(said), Reply(said))
    done = old.run(job)
    refused(old, done, "can't be taken", word)
    assert done.result["retry_used"] is True


def test_the_retry_prompt_says_what_was_wrong(old: ModelJobBench) -> None:
    old.server.queue_replies(edit_answer("src/a.py", "three", "3"), edit_answer("src/a.py", "one", "1"))
    done = old.run(EDIT)
    assert done.outcome.category is Category.OK, done.last_error
    assert old.read("src/a.py") == "1\ntwo\ntwo\n"
    first, second = old.server.requests
    assert [turn.role.value for turn in second.turns] == ["user", "model", "user"]
    assert second.turns[0] == first.turns[0]
    assert "not in the file" in second.last_user_text
    assert done.result["retry_used"] is True


def test_a_file_that_contains_fences_is_written_whole(old: ModelJobBench) -> None:
    text = "# Title\n\n```sh\nmake\n```\n\nEND"
    old.server.queue_replies(whole_file_answer("src/a.py", text))
    done = old.run(ModelJob("src/a.py"))
    assert done.outcome.category is Category.OK, done.last_error
    assert old.read("src/a.py") == f"{text}\n"


def test_an_answer_with_too_many_lines_is_refused(old: ModelJobBench) -> None:
    old.settings["output_lines"] = 10
    long = whole_file_answer("src/a.py", "\n".join(map(str, range(11))))
    old.server.queue_replies(long, long)
    refused(old, old.run(ModelJob("src/a.py")), "at most 10")


def test_an_endless_answer_is_stopped_and_explained(old: ModelJobBench) -> None:
    old.settings["output_lines"] = 1
    old.server.queue_replies(Reply("x" * 39_000, endless=True))
    refused(old, old.run(ModelJob("src/a.py")), "did not end")
    assert len(old.server.requests) == 1


def test_a_truncated_stream_is_a_network_error(old: ModelJobBench) -> None:
    old.server.set_faults("cut")
    old.server.queue_replies(whole_file_answer("src/a.py", "new"))
    done = old.run(ModelJob("src/a.py"))
    refused(old, done, "was cut off")
    assert done.outcome.category is Category.NETWORK


def test_an_answer_that_ends_at_the_length_limit_is_not_taken(old: ModelJobBench) -> None:
    """However complete it looks: more might have followed."""
    cut = Reply(whole_file_answer("src/a.py", "half"), truncated=True)
    old.server.queue_replies(cut, cut)
    done = old.run(ModelJob("src/a.py"))
    refused(old, done, "can't be taken", "the answer was cut off")
    assert done.result["retry_used"] is True


def test_an_answer_that_ends_at_the_length_limit_is_retried_once(old: ModelJobBench) -> None:
    old.server.queue_replies(
        Reply(whole_file_answer("src/a.py", "half"), truncated=True), whole_file_answer("src/a.py", "whole")
    )
    done = old.run(ModelJob("src/a.py"))
    assert done.outcome.category is Category.OK, done.last_error
    assert old.read("src/a.py") == "whole\n"
    assert "the answer was cut off" in old.server.requests[1].last_user_text


def test_a_repair_that_ends_at_the_length_limit_is_not_taken(old: ModelJobBench) -> None:
    old.settings |= {"checks": ["grep -q green src/a.py"], "fixes": 1}
    old.server.queue_replies(
        whole_file_answer("src/a.py", "red"), Reply(whole_file_answer("src/a.py", "green"), truncated=True)
    )
    done = old.run(ModelJob("src/a.py"))
    refused(old, done)
    assert done.outcome.category is Category.VERIFY
    assert done.result["fixes"] == 1


def test_an_empty_answer_is_retried_once(old: ModelJobBench) -> None:
    old.server.set_faults("empty")
    refused(old, old.run(EDIT), "can't be taken")
    assert len(old.server.requests) == 2


def test_a_link_out_of_the_workspace_is_not_written_through(old: ModelJobBench, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (old.workspace / "linked").symlink_to(outside)
    said = "FILE: linked/b.py\n```\nx\n```\n"
    old.server.queue_replies(said, said)
    done = old.run(None)
    assert done.outcome.category is Category.TASK
    assert "linked" in done.last_error
    assert not [*outside.iterdir()]


def test_a_job_that_names_a_link_does_not_start(old: ModelJobBench, tmp_path: Path) -> None:
    """Its text would be sent to a server."""
    secret = tmp_path / "secret"
    secret.write_text("mine\n")
    (old.workspace / "alias").symlink_to(secret)
    done = old.run(ModelJob("alias", ModelJobMode.EDIT, targets=("alias",)))
    assert done.outcome.category is Category.USAGE
    assert not old.server.requests
    assert secret.read_text() == "mine\n"


def test_a_link_in_the_context_is_not_read(old: ModelJobBench, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("mine alone\n")
    (old.workspace / "alias").symlink_to(secret)
    old.server.queue_replies(whole_file_answer("src/a.py", "x"))
    old.run(ModelJob("src/a.py", context=("alias", "../secret")))
    assert "mine alone" not in old.server.requests[0].text


@pytest.mark.parametrize("path", ["../b.py", "/tmp/b.py", ".git/hooks/post-checkout", "a/../../b.py"])
def test_an_answer_cannot_write_outside_the_repository(old: ModelJobBench, path: str) -> None:
    said = f"FILE: {path}\n```\nx\n```\n"
    old.server.queue_replies(said, said)
    refused(old, old.run(None), "can't be taken")


def test_a_file_that_the_task_does_not_touch_is_refused(old: ModelJobBench) -> None:
    said = "FILE: src/b.py\n```\nx\n```\n"
    old.server.queue_replies(said, said)
    refused(old, old.run(None, touches=("src/a.py",)), "src/b.py")


def test_a_file_to_edit_must_exist(old: ModelJobBench) -> None:
    done = old.run(ModelJob("gone.py", ModelJobMode.EDIT, targets=("gone.py",)))
    refused(old, done, "gone.py", "there is no such file")
    assert done.outcome.category is Category.USAGE
    assert not old.server.requests


def test_an_unusable_later_file_undoes_the_earlier_ones(old: ModelJobBench) -> None:
    old.server.queue_replies(whole_file_answer("src/a.py", "new"), Reply(""), Reply(""))
    job = ModelJob("src/a.py", outputs=("src/a.py", "src/b.py"), sequential=True)
    refused(old, old.run(job), "can't be taken")
