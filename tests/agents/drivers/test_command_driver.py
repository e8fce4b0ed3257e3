"""Any command as an agent: what a person writes, and what its process gets."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings, strategies as st

from plait.agents.drivers.command import CommandAgent, build_command_spec, check_command, split_command
from plait.agents.interface import AgentSpec, AttemptContext
from plait.agents.templates import COMMAND_PLACEHOLDERS, fill_word
from plait.config.agent_keys import PromptDelivery
from plait.core.errors import ConfigError
from plait.core.task import Attempt, Step, Task

# What task files may say: anything that is text, and what shells and options are made of more often than not.
values = st.one_of(
    st.text(max_size=40),
    st.text(alphabet="-$`\"'\\;|&(){}* \n\ttitle", max_size=40),
    st.sampled_from(["--help", "-rf", "$(touch x)", "`touch x`", '"; touch x; "', "'", "a b", "{title}", "{{x}}", "-"]),
)


def brief(title: str = "A title", task_id: str = "04-split") -> AttemptContext:
    return AttemptContext(
        Attempt("7f3a", task_id, Step.WRITE, 2),
        Task(task_id, title),
        workspace="/work/tree",
        task_file="/state/04-split.md",
        prompt_file="/state/prompt.md",
    )


def argv(text: str, told: AttemptContext, *, shell: bool = False) -> tuple[str, ...]:
    return CommandAgent(build_command_spec(text, shell=shell)).build_command(told).argv


def heard(words: tuple[str, ...]) -> list[str]:
    """The arguments that a process really gets from these words."""
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=60)
    return list(json.loads(done.stdout))


TELL = f"{sys.executable} -c 'import json, sys; print(json.dumps(sys.argv[1:]))'"


def test_every_placeholder_is_filled_in() -> None:
    text = "tool " + " ".join(f"{name}={{{name}}}" for name in COMMAND_PLACEHOLDERS)
    assert argv(text, brief()) == (
        "tool",
        "task_file=/state/04-split.md",
        "prompt_file=/state/prompt.md",
        "task_id=04-split",
        "title=A title",
        "workspace=/work/tree",
        "batch=7f3a",
        "attempt=2",
    )


def test_a_command_is_split_by_shell_quotes() -> None:
    assert split_command("""tool 'a b' "c d" e\\ f g'h'""") == ("tool", "a b", "c d", "e f", "gh")


@given(values, values)
def test_a_value_never_changes_the_number_of_words(title: str, task_id: str) -> None:
    words = argv("tool {title} --id={task_id} '{task_id} of {batch}'", brief(title, task_id))
    assert len(words) == 4
    assert words[0] == "tool"


@given(values, values)
def test_a_value_never_becomes_an_option(title: str, task_id: str) -> None:
    words = argv("tool {title} {task_id}", brief(title, task_id or "x"))
    assert not any(word.startswith("-") for word in words)


@given(values)
def test_a_value_that_looks_like_a_placeholder_is_not_expanded(title: str) -> None:
    assert fill_word("x={title}", {"title": title}) == f"x={title}"


def test_characters_that_no_argument_can_hold_are_replaced() -> None:
    assert argv("tool {title}", brief("a\0b\ud800c")) == ("tool", "a\ufffdb\ufffdc")


def test_a_title_is_one_line_of_a_sensible_length() -> None:
    assert argv("tool {title}", brief("a\n  b")) == ("tool", "a b")
    assert len(argv("tool {title}", brief("x" * 10_000))[1]) == 500


def test_a_task_without_a_title_is_called_by_its_id() -> None:
    assert argv("tool {title}", brief("")) == ("tool", "04-split")


@pytest.mark.parametrize(
    "text",
    [
        '{"a": {"b": 1}}',
        "{}",
        "x{",
        "}x",
        "${HOME}",
        "$title",
        "{a,b}",
        "{ title }",
        "{1}",
        "HEAD@{1}",
        "{{",
        "}}",
    ],
)
def test_braces_without_a_placeholder_stay_as_they_are(text: str) -> None:
    assert CommandAgent(AgentSpec("command", ("tool", text))).build_command(brief()).argv == ("tool", text)


def test_doubled_braces_are_literal_braces() -> None:
    assert argv("tool {{title}} {{print}} {{{title}}}", brief("T")) == (
        "tool",
        "{title}",
        "{print}",
        "{{title}}",
    )


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("tool {task_fil}", "Did you mean {task_file}? A text in braces is written {{task_fil}}."),
        ("tool {promptfile}", "Did you mean {prompt_file}?"),
        ("awk '{print}'", "A text in braces is written {{print}}."),
        ("tool {HOME}", "There are {task_file}, {prompt_file}, {task_id}"),
    ],
)
@pytest.mark.parametrize("shell", [False, True])
def test_an_unknown_placeholder_is_refused_before_anything_starts(
    text: str,
    hint: str,
    shell: bool,  # noqa: FBT001
) -> None:
    with pytest.raises(ConfigError) as caught:
        build_command_spec(text, shell=shell)
    assert caught.value.hint.startswith(hint) or caught.value.hint.endswith(hint)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("   ", "is empty"),
        ("''", "is empty"),
        ("tool 'x", "can't be split into words: no closing quotation"),
        ("tool x\\", "can't be split into words: no escaped character"),
        ("tool {task_file} | tee log", "contains |, which needs a shell"),
        ("cd x && tool", "contains &&, which needs a shell"),
        ("tool > log", "contains >, which needs a shell"),
    ],
)
def test_a_command_that_could_never_run_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message.replace("|", r"\|")):
        build_command_spec(text)


def test_a_quoted_shell_operator_is_a_word() -> None:
    assert split_command("tool '|' \"&&\"") == ("tool", "|", "&&")


def test_a_command_agent_refuses_an_invalid_command() -> None:
    with pytest.raises(ConfigError, match="is empty"):
        CommandAgent(AgentSpec("command"))
    with pytest.raises(ConfigError, match="more than one text"):
        check_command(("a", "b"), shell=True)


@pytest.mark.parametrize(
    ("text", "asked", "stdin"),
    [
        ("tool", PromptDelivery.AUTO, "/state/prompt.md"),
        ("tool {title}", PromptDelivery.AUTO, "/state/prompt.md"),
        ("tool {task_file}", PromptDelivery.AUTO, None),
        ("tool {prompt_file}", PromptDelivery.AUTO, None),
        ("tool {{task_file}}", PromptDelivery.AUTO, "/state/prompt.md"),
        ("tool {task_file}", PromptDelivery.STDIN, "/state/prompt.md"),
        ("tool", PromptDelivery.FILE, None),
    ],
)
def test_the_prompt_is_on_standard_input_unless_the_command_names_a_file(
    text: str, asked: PromptDelivery, stdin: str | None
) -> None:
    for shell in (False, True):
        assert (
            CommandAgent(build_command_spec(text, shell=shell, prompt_by=asked)).build_command(brief()).stdin == stdin
        )


def test_a_shell_line_is_passed_to_sh() -> None:
    words = argv('for each in 1 2; do echo "$each {title}"; done | wc -l', brief(), shell=True)
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout.split() == ["2"]


@settings(max_examples=40)
@given(values)
def test_a_value_in_a_shell_line_is_one_word_and_never_a_command(title: str) -> None:
    told = brief(title)
    expected = argv("tool x={title}", told)[1].removeprefix("x=")
    line = f'{TELL} x={{title}} "y={{title}} z" {{title}} "{{title}}"'
    dashed = f" {expected}" if expected.startswith("-") else expected
    assert heard(argv(line, told, shell=True)) == [f"x={expected}", f"y={expected} z", dashed, dashed]


def test_a_placeholder_in_single_quotes_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        build_command_spec("tool '{title}'", shell=True)
    assert caught.value.message.startswith("the agent's command has {title} in single quotes")
    build_command_spec("tool \\'{title}\\' \"it's {title}\"", shell=True)


def test_only_the_task_and_the_workspace_are_in_the_arguments() -> None:
    """Everybody on the machine sees them: the environment is not among them."""
    told = AttemptContext(
        Attempt("b", "t", Step.WRITE, 1),
        Task("t", env=(("KEY", "s3cret"),)),
        "/w",
        "/t",
        "/p",
        feedback="s3cret",
    )
    for shell in (False, True):
        command = CommandAgent(
            build_command_spec(" ".join(["tool", *(f"{{{name}}}" for name in COMMAND_PLACEHOLDERS)]), shell=shell)
        ).build_command(told)
        assert "s3cret" not in repr(command)
