from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

import pytest
from hypothesis import given, strategies as st

from plait.agents.prompts import (
    PriorFeedback,
    PromptRules,
    build_continuation,
    build_prompt,
    render_task_file,
)
from plait.agents.templates import check_template
from plait.core.errors import ConfigError
from plait.core.task import Origin, Task

OWN = Task("04-split", "Split it", "# Task 04: Split it\n\nMove Order.\n", origin=Origin("tasks/04-split.md", 1))
LISTED = Task("1.2", "Read it", "In src/read.py.", origin=Origin("plan.md", 15))


PLAIN = PromptRules()


def sections(text: str) -> list[str]:
    return [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]


def test_a_body_with_its_own_heading_keeps_it() -> None:
    assert build_prompt(OWN, PLAIN).startswith("# Task 04: Split it\n\nMove Order.\n\n## Rules\n\n- ")


def test_a_body_without_a_heading_gets_the_title() -> None:
    assert build_prompt(LISTED, PLAIN).startswith("# Read it\n\nIn src/read.py.\n\n## ")
    assert build_prompt(Task("t"), PLAIN).startswith("# t\n\n## ")


def test_the_rules_of_a_worktree_and_of_a_checkout_differ() -> None:
    worktree, checkout = build_prompt(OWN, PLAIN), build_prompt(OWN, PromptRules(isolated=False))
    for rules in (worktree, checkout):
        assert "Work only in the folder" in rules
        assert "push" in rules
        assert "other worktrees" in rules
        assert "`tasks/04-split.md`. Boxes and lines there that tell a status are plait's" in rules
        assert rules.endswith("decide, and state your assumptions at the end.\n")
    assert "plait captures whatever is left" in worktree
    assert "Do not commit" in checkout
    assert "captures" not in checkout


def test_the_check_and_the_expected_files_are_part_of_the_rules() -> None:
    plain = build_prompt(LISTED, PLAIN)
    assert "must pass" not in plain
    assert "expected to change" not in plain
    told = build_prompt(replace(LISTED, touches=("src/a.py", "b `c`.md")), PromptRules(verify="make `x`\n  test"))
    assert "expected to change `src/a.py`, `` b `c`.md ``" in told
    assert "must not modify" in told
    assert "must pass: `` make `x` test ``" in told


def test_feedback_has_sections_of_its_own() -> None:
    said = PriorFeedback(
        "verification failed\n", "\x1b[31mE   assert 1 == 2\x1b[0m\n  ```\n1 failed\n", "<<<<<<< ours\n"
    )
    told = build_prompt(LISTED, PLAIN, said)
    assert sections(told) == [
        "Rules",
        "Feedback on the attempt before this one",
        "The end of what the check printed",
        "The conflict",
    ]
    assert (
        "## Feedback on the attempt before this one\n\nverification failed\n\n"
        "## The end of what the check printed\n\n````\nE   assert 1 == 2\n  ```\n1 failed\n````\n\n## The conflict"
    ) in told
    assert told.endswith("so that both changes work.\n\n```\n<<<<<<< ours\n```\n")


def test_a_continued_session_does_not_get_the_task_again() -> None:
    said = PriorFeedback("the button is still red", "1 failed", "<<<<<<<")
    told = build_continuation(LISTED, said)
    first, _, rest = told.partition("\n\n")
    assert first == "This is still about the task Read it (1.2): it is not done yet."
    assert sections(rest) == [
        "Feedback on the attempt before this one",
        "The end of what the check printed",
        "The conflict",
    ]
    assert "In src/read.py." not in told
    assert "read it again, it is in `/t/1.2.md`." in build_continuation(LISTED, said, "/t/1.2.md").partition("\n\n")[0]
    assert "Rules" not in told


def test_an_interrupted_session_is_asked_to_continue() -> None:
    assert build_continuation(LISTED, PriorFeedback()) == (
        "This is still about the task Read it (1.2): you were interrupted; continue where you left off.\n"
    )


@given(st.text(max_size=200))
def test_the_output_of_a_check_stays_in_its_section(printed: str) -> None:
    told = build_prompt(LISTED, PLAIN, PriorFeedback("no", printed))
    _, _, section = told.partition("## The end of what the check printed\n\n")
    if section:
        fence, *inside, last = section.removesuffix("\n").split("\n")
        assert fence == last
        assert not any(line.strip().startswith(fence) for line in inside)


def test_a_template_keeps_its_own_text() -> None:
    template = "You are {id} in {workspace}.\r\n\n\n\n{title}:\n{task}\n\n{files}\n\nRun {verify}.\n"
    told = build_prompt(replace(OWN, touches=("a", "b")), PromptRules(verify="make"), workspace="/w", template=template)
    assert told == (
        "You are 04-split in /w.\n\nSplit it:\n# Task 04: Split it\n\nMove Order.\n\n`a`, `b`\n\nRun make.\n"
    )


def test_a_paragraph_without_values_is_left_out() -> None:
    template = (
        "{task}\n\nRun {verify} before you end.\n\nTouch {files}; run {verify}; be {id}.\n\n## Last time\n{feedback}"
    )
    assert build_prompt(LISTED, PLAIN, template=template) == ("# Read it\n\nIn src/read.py.\n\nTouch ; run ; be 1.2.\n")


def test_required_sections_are_appended_to_a_template() -> None:
    told = build_prompt(LISTED, PLAIN, PriorFeedback("do it", "1 failed", "<<<"), template="Hello.\n\n{rules}")
    assert told.startswith("Hello.\n\n## Rules")
    assert told.index("# Read it") < told.index("do it") < told.index("1 failed") < told.index("<<<")
    assert build_prompt(LISTED, PLAIN, template="Hello {task}") == "Hello # Read it\n\nIn src/read.py.\n"


@pytest.mark.parametrize(
    "text", ["{title} {feedback} {nothing}", "{{task}}", "{", "}}{{", "${HOME}", "%s", "\\1 \\g<0>"]
)
def test_a_filled_in_value_is_not_expanded_again(text: str) -> None:
    task = Task("t", text, f"```\n{text}\n````", touches=(text,))
    told = build_prompt(
        task, PromptRules(verify=text), PriorFeedback(text, text, text), template="{task}|{verify}|{title}"
    )
    assert told.startswith(f"# {text}\n\n```\n{text}\n````|{text}|{text}\n")
    assert f"before this one\n\n{text}\n" in told


@given(st.text(), st.text())
def test_no_text_of_a_task_breaks_a_prompt(title: str, body: str) -> None:
    assert body.strip("\n").rstrip() in build_prompt(Task("t", title, body), PLAIN)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "{task}\n\n{tusk}",
            "p.md:3: the prompt template has an unknown placeholder {tusk}",
        ),
        ("{HOME}", "p.md:1: the prompt template has an unknown placeholder {HOME}"),
        (" \n", "p.md: the prompt template is empty"),
    ],
)
def test_an_invalid_template_is_an_error_with_its_line(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        check_template(text, "p.md")
    assert error.value.message.startswith(said)


def test_an_unknown_placeholder_has_a_suggestion() -> None:
    with pytest.raises(ConfigError) as error:
        check_template("{feedbak}", "p.md")
    assert error.value.hint == "Did you mean {feedback}? A text in braces is written {{feedbak}}."


def test_other_braces_are_no_placeholders() -> None:
    text = 'Say {{task}}, ${HOME}, {} and {"a": 1}. {task}'
    check_template(text, "p.md")
    assert build_prompt(Task("t"), PLAIN, template=text) == 'Say {task}, ${HOME}, {} and {"a": 1}. # t\n'


@pytest.mark.parametrize(
    ("task", "name"),
    [
        (OWN, "04-split.md"),
        (LISTED, "1.2.md"),
        (Task("a", origin=Origin("x/Über uns.md", 1)), "Über uns.md"),
        (Task("a", origin=Origin("x/..", 1)), "a.md"),
        (Task("a", origin=Origin("x/.md", 1)), "a.md"),
        (Task("a", origin=Origin("x/write-1", 1)), "a.md"),
        (Task("a", origin=Origin("x/y\n.md", 1)), "a.md"),
        (Task("a", origin=Origin("issues.jsonl", 1)), "a.md"),
        (Task("a", origin=Origin("ü" * 120 + ".md", 1)), "a.md"),
        (Task("../../etc/passwd"), "etc-passwd.md"),
        (Task("läuft"), "l-uft.md"),
        (Task("///"), "task.md"),
        (Task("x" * 500), "x" * 60 + ".md"),
    ],
)
def test_a_task_file_is_named_like_its_source_or_by_its_id(task: Task, name: str) -> None:
    assert render_task_file(task)[0] == name


@given(st.text(), st.text())
def test_the_name_of_a_task_file_never_leaves_its_folder(task_id: str, file: str) -> None:
    name, _ = render_task_file(Task(task_id, origin=Origin(file, 1)))
    assert PurePosixPath(name).name == name
    assert name.isprintable()
    assert "." in name.lstrip(".")
    assert len(name.encode()) < 255


def test_a_task_file_contains_only_the_task() -> None:
    assert render_task_file(LISTED)[1] == "# Read it\n\nIn src/read.py.\n"
