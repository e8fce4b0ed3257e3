from __future__ import annotations

from collections.abc import Mapping

import pytest

from plait.agents.model_jobs.answer import parse_answer
from plait.agents.model_jobs.context import ContextFile, JobContext
from plait.agents.model_jobs.job_prompts import (
    SYSTEM_PROMPTS,
    ChatMessage,
    ChatRole,
    PromptInputs,
    build_repair_prompt,
    build_retry_prompt,
    build_verification_prompt,
    build_writing_prompt,
    parse_prompt_name,
)
from plait.core.task import ModelJob, ModelJobMode

NO_CONTEXT = JobContext()
TEXTS = {"src/a.py": "old = 1\n"}


def ask(
    mode: ModelJobMode = ModelJobMode.REPLACE,
    context: JobContext = NO_CONTEXT,
    done: Mapping[str, str] | None = None,
    only: str | None = None,
    systems: Mapping[str, str] | None = None,
) -> PromptInputs:
    job = ModelJob("src/a.py", mode, targets=("src/a.py",), tests="tests/a.py", struct_name="Job", new_field="x: 1")
    return PromptInputs(job, "# Do it\n\nwell", context, TEXTS, done or {}, only, systems or {})


def user(messages: tuple[ChatMessage, ...]) -> str:
    assert [message.role for message in messages] == [ChatRole.SYSTEM, ChatRole.USER]
    return messages[1].text


@pytest.mark.parametrize("mode", list(ModelJobMode))
def test_each_mode_shows_the_task_the_files_and_the_answer_format(mode: ModelJobMode) -> None:
    said = user(build_writing_prompt(ask(mode)))
    assert "# Do it\n\nwell" in said
    assert "old = 1" in said
    assert "## How to answer" in said
    assert ("~~~worksplit:src/a.py" in said) == (mode in {ModelJobMode.REPLACE, ModelJobMode.SPLIT})
    assert ("FIND:" in said) == (mode in {ModelJobMode.EDIT, ModelJobMode.UPDATE_FIXTURES})
    assert ("AFTER:" in said) == (mode is ModelJobMode.REPLACE_PATTERN)
    assert ("`Job`" in said and "`x: 1`" in said) == (mode is ModelJobMode.UPDATE_FIXTURES)


def test_context_files_are_shown_with_what_was_left_out() -> None:
    said = user(build_writing_prompt(ask(context=JobContext((ContextFile("b.py", "b = 1\n", left_out=3),)))))
    assert "### b.py\n\n```\nb = 1\n```\n(its last 3 lines are not shown)" in said


def test_no_text_ends_its_fence() -> None:
    said = user(build_writing_prompt(ask(context=JobContext((ContextFile("b.md", "```\nx\n```\n"),)))))
    assert "````\n```\nx\n```\n````" in said


def test_tests_are_asked_for_first_and_shown_afterwards() -> None:
    first = build_writing_prompt(ask(only="tests/a.py"))
    assert first[0].text == SYSTEM_PROMPTS["test"]
    assert "~~~worksplit:tests/a.py" in user(first)
    then = user(build_writing_prompt(ask(done={"tests/a.py": "assert a\n"})))
    assert "## The tests that must pass (not to be changed)\n\n### tests/a.py\n\n```\nassert a" in then
    assert "~~~worksplit:src/a.py" in then


def test_files_are_asked_for_one_by_one_with_those_written_before() -> None:
    job = ModelJob("a.py", outputs=("a.py", "b.py"), sequential=True)
    said = user(build_writing_prompt(PromptInputs(job, "Do", done={"a.py": "a = 1\n"}, only="b.py")))
    assert "Write only `b.py` now" in said
    assert "## Files of this job that are written already\n\n### a.py" in said
    assert "~~~worksplit:b.py" in said


def test_each_system_prompt_can_be_overridden() -> None:
    names = {ModelJobMode.REPLACE: "create"} | {
        mode: mode.value for mode in ModelJobMode if mode is not ModelJobMode.REPLACE
    }
    for mode, name in names.items():
        assert build_writing_prompt(ask(mode))[0].text == SYSTEM_PROMPTS[name]
        assert build_writing_prompt(ask(mode, systems={name: "mine\n"}))[0].text == "mine"
        assert build_writing_prompt(ask(mode, systems={name: " "}))[0].text == SYSTEM_PROMPTS[name]
        assert build_writing_prompt(ask(mode, systems={name: "mine"}))[1] == build_writing_prompt(ask(mode))[1]
    assert build_writing_prompt(ask(only="tests/a.py", systems={"test": "mine"}))[0].text == "mine"
    assert build_verification_prompt(ask(systems={"verify": "mine"}), {})[0].text == "mine"
    assert build_verification_prompt(ask(ModelJobMode.EDIT, systems={"verify_edit": "mine"}), {})[0].text == "mine"
    assert build_repair_prompt(ask(systems={"fix": "mine"}), {}, "make", "")[0].text == "mine"


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("_systemprompt_create.md", "create"),
        ("_systemprompt_verify_edit.md", "verify_edit"),
        ("_system_prompt_test.md", "test"),
        ("_systemprompt_nope.md", None),
        ("systemprompt_create.md", None),
        ("_jobstatus.json", None),
    ],
)
def test_a_system_prompt_is_named_by_its_file(file: str, name: str | None) -> None:
    assert parse_prompt_name(file) == name


def test_a_verification_prompt_shows_the_result_and_asks_for_a_verdict() -> None:
    said = user(build_verification_prompt(ask(), {"src/a.py": "new = 1\n"}))
    assert "## The result\n\n### src/a.py\n\n```\nnew = 1\n```" in said
    assert "## The files as they are now" not in said
    assert all(word in said for word in ("PASS", "PASS_WITH_WARNINGS", "FAIL_SOFT", "FAIL_HARD"))


def test_a_repair_prompt_shows_the_failed_output_without_escapes() -> None:
    said = user(build_repair_prompt(ask(), {"src/a.py": "new = 1\n"}, "make test", "\x1b[31mE  boom\x1b[0m\n"))
    assert "## `make test` failed\n\n```\nE  boom\n```" in said


def test_a_repair_prompt_shows_the_tests_as_read_only() -> None:
    job = ModelJob("src/a.py", tests="tests/a.py")
    said = user(
        build_repair_prompt(PromptInputs(job, "Do it."), {"tests/a.py": "t\n", "src/a.py": "x\n"}, "make test", "boom")
    )
    assert "## The tests that must pass (not to be changed)\n\n### tests/a.py" in said
    assert "## The files as they are now\n\n### src/a.py" in said
    assert said.endswith("Only these files may be changed: `src/a.py`\n")


def test_a_retry_prompt_has_the_answer_and_its_errors() -> None:
    first = build_writing_prompt(ask())
    more = build_retry_prompt(first, "half", "- src/a.py: it was cut off")
    assert more[:2] == first
    assert more[2] == ChatMessage(ChatRole.ASSISTANT, "half")
    assert "- src/a.py: it was cut off" in more[3].text
    assert all(message.text for message in build_retry_prompt(first, "", ""))


def test_a_path_in_braces_is_a_path() -> None:
    job = ModelJob("src/{x}.py", tests="{0}.py", outputs=("src/{x}.py", "{y}"))
    assert "~~~worksplit:src/{x}.py" in user(build_writing_prompt(PromptInputs(job, "{z}")))
    assert "`{y}`" in user(build_writing_prompt(PromptInputs(job, "{z}", only="{y}")))
    assert "{0}.py" in user(build_writing_prompt(PromptInputs(job, "{z}", only="{0}.py")))
    assert "{z}" in build_retry_prompt((), "", "{z}")[1].text


def test_the_example_in_a_prompt_can_be_parsed() -> None:
    said = user(build_writing_prompt(ask()))
    example = said[said.index("~~~worksplit") :]
    assert parse_answer(ask().job, example, {}).files == {"src/a.py": "the file, from its first line to its last\n"}
