from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import example, given, strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from plait.core.ballot import Ballot, BallotResult, Vote
from plait.core.pull_request_text import (
    MAX_BODY_BYTES,
    write_body,
    write_pull_request,
    write_title,
)
from plait.core.requests import MAX_OVERRIDE_TITLE_CHARS, PullRequestOverride, check_title
from plait.core.settings import NO_SPEND, Mode, Settings, Spend
from plait.core.status import BatchStatus, TaskStatus
from plait.core.views import BatchView, Progress, TaskView, WorkTime

COMMIT = "0123456789abcdef0123456789abcdef01234567"
ZERO = "\u200b"
HOSTILE = (
    "a | b",
    "`code` and ``more``",
    "<b>bold</b><!-- plait -->",
    "see @someone, closes #12, owner/repo#3, GH-7, !5, ~bug, %2, :tada:",
    "[link](https://evil.example.org) ![pic](x) https://github.com/a/b/issues/1 www.example.org",
    "**bold** _it_ ~~gone~~ # head\n- list\n/close",
    "back\\slash \\| pipe &amp; &#64;x",
    "\x1b[31mred\x07 \u202eturned",
    "$x$ ^up^ {brace} \ud800",
)


def task(
    name: str, status: TaskStatus = TaskStatus.DONE, *, title: str = "", why: str = "", cost: Spend = NO_SPEND
) -> TaskView:
    return TaskView(
        id=name,
        title=title,
        status=status,
        reason=why,
        waiting=None,
        category=None,
        by=None,
        agent="shell",
        attempt=1,
        phase=None,
        session=None,
        workspace="",
        error=None,
        started_at=0.0,
        ended_at=60.0,
        retry_at=None,
        cost=cost,
        commit=COMMIT if status is TaskStatus.DONE else None,
        origin=None,
    )


def batch(*tasks: TaskView, settings: Settings = Settings()) -> BatchView:  # noqa: B008 - frozen
    counts = Counter(each.status for each in tasks)
    return BatchView(
        id="7f3a",
        status=BatchStatus.COMPLETED,
        reason="",
        mode=Mode.PARALLEL,
        branch="plait/batch-7f3a",
        base=COMMIT,
        head=COMMIT,
        sources=("TODO.md",),
        settings=settings,
        created_at=0.0,
        started_at=10.0,
        ended_at=9_760.0,
        wall_time=WorkTime(750.0),
        cost=Spend(1_240_000, 340_000),
        progress=Progress(len(tasks), tuple((status, counts[status]) for status in TaskStatus)),
        tasks=tasks,
    )


def parse_markdown(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").enable("strikethrough").parse(text)


def visible_text(token: Token) -> str:
    """What a reader sees of it; anything but text and code would be markup."""
    assert all(child.type in {"text", "code_inline", "text_special"} for child in token.children or ())
    return "".join(child.content for child in token.children or ()).replace(ZERO, "")


def read_rows(text: str) -> list[list[str]]:
    """The cells of each row of the table but the first, as they are seen."""
    found: list[list[str]] = []
    inside = False
    for token in parse_markdown(text):
        inside = token.type == "td_open" or (inside and token.type != "td_close")
        if token.type == "tr_open":
            found.append([])
        elif token.type == "inline" and inside:
            found[-1].append(visible_text(token))
    return [row for row in found if row]


def to_visible_line(text: str) -> str:
    """As it is shown: on one line, without what can't be seen."""
    spaced = " ".join(text.split())
    return " ".join("".join("\ufffd" if is_invisible(sign) else sign for sign in spaced).split())


def is_invisible(sign: str) -> bool:
    turning = sign in "\u200e\u200f\u2028\u2029" or "\u202a" <= sign <= "\u202e" or "\u2066" <= sign <= "\u2069"
    return sign < " " or "\x7f" <= sign <= "\x9f" or "\ud800" <= sign <= "\udfff" or turning


def test_the_body_has_a_summary_a_table_and_reasons() -> None:
    view = batch(
        replace(task("01-a", title="Add a", cost=Spend(410_000)), diffstat=(3, 182, 12)),
        replace(
            task("02-b", TaskStatus.FAILED, title="Break b", why="the agent failed: exit status 3"), diffstat=(0, 0, 0)
        ),
        task("03-c", TaskStatus.SKIPPED, why="dropped"),
        settings=Settings(verify="make"),
    )
    assert write_body(view) == (
        "**1 of 3 tasks done** · 1 failed · 1 skipped · 12m 30s · \\$1.24 and 340,000 tokens\n"
        "\n"
        "| status | task | commit | change | verified | cost |\n"
        "|---|---|---|---|---|---|\n"
        "| ✓ done | `01-a` Add a | 0123456789 | +182 \u221212 in 3 files | yes | \\$0.41 |\n"
        "| ✗ failed | `02-b` Break b |  |  |  |  |\n"
        "| \\- skipped | `03-c` |  |  |  |  |\n"
        "\n"
        "### Not included\n"
        "\n"
        "- ✗ failed: `02-b` Break b (the agent failed\\: exit status 3)\n"
        "- \\- skipped: `03-c` (dropped)\n"
        "\n"
        "Made by plait: batch `7f3a`, branch `plait/batch-7f3a` · from `TODO.md`\n"
        "\n"
        "Plait-Batch: 7f3a\n"
    )


@given(
    st.text(max_size=100).filter(lambda name: to_visible_line(name).strip(ZERO)),
    st.text(max_size=100),
    st.text(max_size=100),
)
@example(*HOSTILE[:3])
@example(*HOSTILE[3:6])
@example(*HOSTILE[6:])
@example("a|b", "x", "y")
@example("`", "x", "y")
@example("@someone", "x", "y")
@example("\\", "x\\", "y\\")
def test_untrusted_text_is_shown_literally(name: str, title: str, why: str) -> None:
    text = write_body(batch(task("first"), task(name, TaskStatus.FAILED, title=title, why=why), task("last")))
    text.encode()
    told = read_rows(text)
    assert [row[0] for row in told] == ["✓ done", "✗ failed", "✓ done"]
    wanted = (
        to_visible_line(f"{to_visible_line(name)} {to_visible_line(title)}" if title != name else name)
        .replace(ZERO, "")
        .strip()
    )
    assert told[1][1].strip() == wanted
    reasons = [token for token in parse_markdown(text) if token.type == "inline" and "failed: " in token.content]
    assert [visible_text(token).strip() for token in reasons] == [
        f"✗ failed: {wanted}" + (f" ({to_visible_line(why)})".replace(ZERO, "") if to_visible_line(why) else "")
    ]


@pytest.mark.parametrize("title", HOSTILE)
def test_untrusted_text_mentions_no_user_and_closes_no_issue(title: str) -> None:
    view = batch(task("one", title=title), task("two", TaskStatus.FAILED, title=title, why=title))
    for text in (write_body(view), write_title(view)):
        for call in ("@someone", "#12", "#3", "GH-7"):
            assert call not in text
    for link in ("https://", "www.e", "!5", "~bug", "<b", "<!--"):
        assert link not in write_body(view)
    assert not any(line.startswith("/") for line in write_body(view).splitlines())


def test_a_thousand_tasks_fit_and_the_others_are_counted() -> None:
    long = "words and | more " * 20
    tasks = [task(f"done-{n}", title=long) for n in range(600)]
    tasks += [task(f"bad-{n}", TaskStatus.FAILED, title=long, why=long) for n in range(400)]
    text = write_body(batch(*tasks))
    assert MAX_BODY_BYTES * 0.9 < len(text.encode()) <= MAX_BODY_BYTES
    table = len(read_rows(text))
    reasons = text.count("\n- ✗ failed")
    assert table > 50
    assert reasons > 20
    assert f"… and {1000 - table} more: {600 - table} done, 400 failed" in text
    assert f"… and {400 - reasons} more: {400 - reasons} failed" in text
    assert text.endswith("Plait-Batch: 7f3a\n")


def judged(name: str, *votes: Vote, winner: str | None = "a@birch") -> TaskView:
    return replace(task(name), ballot=Ballot(BallotResult.MAJORITY, votes), winner=winner)


def test_the_body_says_how_judges_voted() -> None:
    votes = (
        Vote("claude", ("a@birch", "a@amber"), reason="it is complete"),
        Vote("codex", ("a@birch",), ("a@amber",)),
        Vote("gemini", failure="timed out after 54m"),
    )
    text = write_body(batch(judged("a", *votes), task("b")))
    assert "### Not included" not in text
    assert (
        """### Judged

- `a`: `a@birch` won; 2 of 3 judges voted; majority
  - `claude`: `a@birch` \\> `a@amber` (it is complete)
  - `codex`: `a@birch`; rejects `a@amber`
  - `gemini`: no vote (timed out after 54m)
"""
        in text
    )


@pytest.mark.parametrize("words", HOSTILE)
def test_what_judges_say_is_shown_literally(words: str) -> None:
    votes = (Vote("claude", (words,), (words,), reason=words), Vote("codex", failure=words))
    text = write_body(batch(judged("a", *votes, winner=words)))
    judges = ("`claude`", "`codex`")
    told = [visible_text(token) for token in parse_markdown(text) if token.content.startswith(judges)]
    line = to_visible_line(words).replace(ZERO, "")
    assert f"claude: {line}; rejects {line} ({line})" in told
    assert f"codex: no vote ({line})" in told
    outside = re.sub(r"`[^`\n]+`", "", text)  # code is not interpreted
    assert not any(call in outside for call in ("@someone", "#12", "#3", "GH-7", "https://", "<b", "<!--"))


def test_votes_of_many_contests_fit() -> None:
    votes = tuple(Vote(f"judge {n}", ("a@birch",), reason="words and | more " * 9) for n in range(9))
    tasks = [judged(f"t-{n}", *votes) for n in range(400)]
    text = write_body(batch(*tasks, task("bad", TaskStatus.FAILED, why="it is bad")))
    assert len(text.encode()) <= MAX_BODY_BYTES
    assert "it is bad" in text
    assert len(read_rows(text)) > 100
    assert text.count("won; 9 of 9 judges voted") > 5


def test_with_a_batch_verify_command_done_tasks_are_verified() -> None:
    view = batch(task("a"), task("b", TaskStatus.FAILED), settings=Settings(verify="make test"))
    assert [row[4] for row in read_rows(write_body(view))] == ["yes", ""]


def test_a_title_names_the_merged_tasks() -> None:
    one = task("1", title="Add a\n thing")
    failed = task("2", TaskStatus.FAILED, title="Break it")
    assert write_title(batch(one, failed)) == "Add a thing"
    assert write_title(batch(one, task("3"))) == "2 tasks: Add a thing, 3"
    assert write_title(batch(one, one, one, one)) == "4 tasks: Add a thing, Add a thing, Add a thing, …"
    assert write_title(batch(failed)) == "Batch 7f3a"
    assert len(write_title(batch(task("x", title="long " * 100)))) == 120


def test_a_title_can_be_given() -> None:
    assert write_title(batch(task("1")), "  Closes #12,\n thanks @ada ") == "Closes #12, thanks @ada"


def test_a_given_title_of_allowed_length_is_not_cut() -> None:
    longest = "x" * MAX_OVERRIDE_TITLE_CHARS
    assert (write_title(batch(task("1")), longest), check_title(longest)) == (longest, None)
    assert check_title(f"{longest}x") is not None


def test_a_blank_body_is_replaced_by_plaits() -> None:
    view = batch(task("1"))
    assert write_pull_request(view, PullRequestOverride(body=" \n")).body == write_body(view)
