"""Every mode of a job, through an OpenAI-compatible endpoint: what is asked, and what comes of the answer."""

from __future__ import annotations

import json

import pytest

from plait.agents.interface import Price, SpendUpdated
from plait.core.settings import Spend
from plait.core.status import Category
from plait.core.task import ModelJob, ModelJobMode
from tests.support.model_job_bench import API_KEY, ModelJobBench, edit_answer, whole_file_answer
from tests.support.model_server.messages import Reply, Usage


def test_replace_rewrites_a_file(bench: ModelJobBench) -> None:
    bench.write("src/a.py", "old\n")
    bench.server.queue_replies(whole_file_answer("src/a.py", "new = 1\nmore = 2"))
    done = bench.run(ModelJob("src/a.py"))
    assert done.outcome.category is Category.OK, done.last_error
    assert bench.read("src/a.py") == "new = 1\nmore = 2\n"
    assert done.result["status"] == "passed"
    assert done.result["outputs"] == [{"path": "src/a.py", "lines": 2}]


def test_the_model_sees_the_file_its_context_and_the_task(bench: ModelJobBench) -> None:
    bench.write("src/a.py", "the old text\n")
    bench.write("doc/given.md", "given on purpose\n")
    bench.server.queue_replies(whole_file_answer("src/a.py", "x"))
    assert not bench.run(ModelJob("src/a.py", context=("doc/given.md",)), "Make it blue.").last_error
    (request,) = bench.server.requests
    assert (request.protocol, request.model, request.key) == ("chat", "scripted", API_KEY)
    for text in ("the old text", "given on purpose", "Make it blue.", "The job"):
        assert text in request.text


def test_files_named_in_the_task_are_added_to_the_context_and_reported(bench: ModelJobBench) -> None:
    bench.write("src/helper.py", "def help_me(): ...\n")
    bench.write("src/far.txt", "nobody names me\n")
    bench.git("add", "--all")
    bench.server.queue_replies(whole_file_answer("src/a.py", "x"))
    done = bench.run(ModelJob("src/a.py"), "Use `src/helper.py`.")
    assert "def help_me" in bench.server.requests[0].text
    assert "src/helper.py" in str(done.result["implicit_context"])


def test_context_stays_within_its_line_limit(bench: ModelJobBench) -> None:
    bench.settings["context_lines"] = 10
    bench.write("doc/long.md", "".join(f"line {number}\n" for number in range(100)))
    bench.server.queue_replies(whole_file_answer("src/a.py", "x"))
    done = bench.run(ModelJob("src/a.py", context=("doc/long.md",)))
    assert "line 3\n" in bench.server.requests[0].text
    assert "line 50\n" not in bench.server.requests[0].text
    assert "doc/long.md" in str(done.result["warnings"])


def test_edit_changes_quoted_lines_in_several_files(bench: ModelJobBench) -> None:
    bench.write("a.py", "one\ntwo\nthree\n")
    bench.write("b.py", "    deep\n")
    bench.server.queue_replies(edit_answer("a.py", "two", "2") + edit_answer("b.py", "    deep", "    deeper"))
    done = bench.run(ModelJob("a.py", ModelJobMode.EDIT, targets=("a.py", "b.py")))
    assert done.outcome.category is Category.OK, done.last_error
    assert (bench.read("a.py"), bench.read("b.py")) == ("one\n2\nthree\n", "    deeper\n")


def test_split_makes_several_files_from_one(bench: ModelJobBench) -> None:
    bench.write("big.py", "def a(): ...\ndef b(): ...\n")
    bench.server.queue_replies(whole_file_answer("a.py", "def a(): ...") + whole_file_answer("b.py", "def b(): ..."))
    done = bench.run(ModelJob("a.py", ModelJobMode.SPLIT, outputs=("a.py", "b.py"), targets=("big.py",)))
    assert done.outcome.category is Category.OK, done.last_error
    assert (bench.read("a.py"), bench.read("b.py")) == ("def a(): ...\n", "def b(): ...\n")
    assert "def b(): ..." in bench.server.requests[0].text


def test_replace_pattern_changes_every_occurrence(bench: ModelJobBench) -> None:
    bench.write("t.py", "begin\n  go\nbegin\n  stop\n")
    bench.server.queue_replies("AFTER:\nbegin\nINSERT:\nthen\nEND\n")
    done = bench.run(ModelJob("t.py", ModelJobMode.REPLACE_PATTERN, targets=("t.py",)))
    assert done.outcome.category is Category.OK, done.last_error
    assert bench.read("t.py") == "begin\nthen\n  go\nbegin\nthen\n  stop\n"


def test_update_fixtures_adds_a_field_to_fixtures(bench: ModelJobBench) -> None:
    bench.write("t.rs", "let p = Point {\n    x: 1,\n};\n")
    bench.server.queue_replies(edit_answer("t.rs", "    x: 1,", "    x: 1,\n    y: 0,"))
    job = ModelJob("t.rs", ModelJobMode.UPDATE_FIXTURES, targets=("t.rs",), struct_name="Point", new_field="y")
    done = bench.run(job)
    assert done.outcome.category is Category.OK, done.last_error
    assert bench.read("t.rs") == "let p = Point {\n    x: 1,\n    y: 0,\n};\n"
    assert "Point" in bench.server.requests[0].text


def test_one_answer_can_contain_several_files(bench: ModelJobBench) -> None:
    bench.server.queue_replies(whole_file_answer("a.py", "a") + whole_file_answer("deep/er/b.py", "b"))
    done = bench.run(ModelJob("a.py", outputs=("a.py", "deep/er/b.py")))
    assert done.outcome.category is Category.OK, done.last_error
    assert len(bench.server.requests) == 1
    assert bench.read("deep/er/b.py") == "b\n"


def test_sequential_files_are_written_one_by_one_with_the_earlier_ones_shown(
    bench: ModelJobBench,
) -> None:
    bench.server.queue_replies(
        whole_file_answer("a.py", "first_text"),
        whole_file_answer("b.py", "second_text"),
        whole_file_answer("c.py", "third"),
    )
    done = bench.run(ModelJob("a.py", outputs=("a.py", "b.py", "c.py"), sequential=True))
    assert done.outcome.category is Category.OK, done.last_error
    first, second, third = bench.server.requests
    assert "first_text" not in first.text
    assert "first_text" in second.text
    assert "first_text" in third.text
    assert "second_text" in third.text
    assert [bench.read(name) for name in ("a.py", "b.py", "c.py")] == [
        "first_text\n",
        "second_text\n",
        "third\n",
    ]
    assert done.phases == ["preflight", "writing a.py", "writing b.py", "writing c.py"]


def test_tests_are_written_first_and_the_code_sees_them(bench: ModelJobBench) -> None:
    bench.server.queue_replies(whole_file_answer("test_a.py", "assert blue"), whole_file_answer("a.py", "blue = True"))
    done = bench.run(ModelJob("a.py", tests="test_a.py"))
    assert done.outcome.category is Category.OK, done.last_error
    assert "assert blue" in bench.server.requests[1].text
    assert bench.files() == {"a.py": "blue = True\n", "test_a.py": "assert blue\n"}
    assert [one["path"] for one in done.result["outputs"]] == ["a.py"]  # type: ignore[attr-defined]
    assert [one["path"] for one in done.result["tests"]] == ["test_a.py"]  # type: ignore[attr-defined]


def test_an_ordinary_task_may_write_the_files_it_touches(bench: ModelJobBench) -> None:
    bench.write("src/app.py", "colour = 'red'\n")
    bench.server.queue_replies("Here it is.\n\n" + edit_answer("src/app.py", "colour = 'red'", "colour = 'blue'"))
    done = bench.run(None, "Make it blue.", touches=("src/app.py",))
    assert done.outcome.category is Category.OK, done.last_error
    assert bench.read("src/app.py") == "colour = 'blue'\n"
    assert "colour = 'red'" in bench.server.requests[0].text


def test_a_task_without_touches_may_write_any_file(
    bench: ModelJobBench,
) -> None:
    bench.server.queue_replies("FILE: new/place.md\n```\nhello\n```\nFILE: other.txt\n```\nthere\n```\n")
    done = bench.run(None, "Say hello.")
    assert done.outcome.category is Category.OK, done.last_error
    assert bench.files() == {"new/place.md": "hello\n", "other.txt": "there\n"}


def test_system_prompts_beside_the_jobs_replace_the_defaults(bench: ModelJobBench) -> None:
    bench.write("jobs/_systemprompt_create.md", "You are a poet.\n")
    bench.server.queue_replies(whole_file_answer("a.md", "x"))
    bench.run(ModelJob("a.md"))
    assert bench.server.requests[0].parsed.system == "You are a poet."


def test_system_prompts_can_be_in_another_folder(bench: ModelJobBench) -> None:
    bench.write("jobs/_systemprompt_create.md", "You are a poet.\n")
    bench.write("prompts/_systemprompt_create.md", "You are a clerk.\n")
    bench.settings["prompts"] = "prompts"
    bench.server.queue_replies(whole_file_answer("a.md", "x"))
    bench.run(ModelJob("a.md"))
    assert bench.server.requests[0].parsed.system == "You are a clerk."


def test_a_retry_with_feedback_uses_the_whole_prompt(bench: ModelJobBench) -> None:
    """Feedback comes with what a check printed, or with both sides of a conflict: the prompt has it."""
    bench.server.queue_replies(whole_file_answer("a.md", "x"))
    task = bench.task(ModelJob("a.md"), "Write it.")
    done = bench.run_task(task, "verification failed", "# The job\n\nWrite it.\n\nthe check said: no\n")
    assert done.outcome.category is Category.OK, done.last_error
    assert "the check said: no" in bench.server.requests[0].text


def test_tokens_are_reported_and_priced(bench: ModelJobBench) -> None:
    bench.prices = (Price("scripted", 2.0, 10.0, 1.0),)
    bench.server.queue_replies(Reply(whole_file_answer("a.md", "x"), usage=Usage(1000, 100, 400)))
    done = bench.run(ModelJob("a.md"))
    assert done.outcome.spend == Spend(600 * 2 + 400 * 1 + 100 * 10, 1100)
    assert done.signals.count(SpendUpdated(done.outcome.spend)) == 1


@pytest.mark.parametrize("heat", [None, 0.25])
def test_a_temperature_is_sent_only_if_one_is_set(bench: ModelJobBench, heat: float | None) -> None:
    bench.settings["temperature"] = heat
    bench.server.queue_replies(whole_file_answer("a.md", "x"))
    bench.run(ModelJob("a.md"))
    assert bench.server.requests[0].body.get("temperature") == heat


def test_a_think_block_is_not_part_of_the_answer(bench: ModelJobBench) -> None:
    bench.server.queue_replies(
        f"<think>\n{whole_file_answer('a.md', 'a draft')}</think>\n{whole_file_answer('a.md', 'the text')}"
    )
    bench.run(ModelJob("a.md"))
    assert bench.read("a.md") == "the text\n"


def test_prompts_and_answers_are_kept_in_the_attempts_folder(bench: ModelJobBench) -> None:
    bench.server.queue_replies(whole_file_answer("a.md", "x"))
    bench.run(ModelJob("a.md"), "Make it blue.")
    assert "Make it blue." in (bench.folder / "01-prompt.md").read_text()
    assert (bench.folder / "02-answer.md").read_text() == whole_file_answer("a.md", "x")
    assert json.loads((bench.folder / "result.json").read_text())["status"] == "passed"
