from __future__ import annotations

from collections.abc import Callable

from plait.core.decisions import Change
from plait.core.reports import MergeConflicted
from plait.git.interfaces import MergeRules
from tests.support.batch_branch import MergedBranch

Page = Callable[..., str]


def _describe(line: MergedBranch, tip: str, base: str = "") -> str:
    assert isinstance(line.merge("two", tip, base), MergeConflicted)
    return line.integrator.describe_conflict(line.make_merge(Change("two", base or line.base, tip)), MergeRules())


def test_both_sides_and_the_base_are_shown_with_context(line: MergedBranch, page: Page) -> None:
    line.merge("one", line.repository.commit({"page.txt": page((10, "from one"))}, line.base))
    text = _describe(line, line.repository.commit({"page.txt": page((10, "from two"))}, line.base))
    assert text.splitlines() == [
        "CONFLICT (content): Merge conflict in page.txt",
        "",
        "page.txt:",
        "line 7",
        "line 8",
        "line 9",
        "<<<<<<< already merged",
        "from one",
        "||||||| before both",
        "line 10",
        "=======",
        "from two",
        ">>>>>>> this task",
        "line 11",
        "line 12",
        "line 13",
    ]


def test_a_change_without_common_history_is_described_alike(line: MergedBranch, page: Page) -> None:
    line.merge("bad", line.repository.commit({"page.txt": page((1, "bad"))}, line.base))
    base = line.head
    tip = line.repository.commit({"page.txt": page((1, "bad, and more"))}, base)
    line.rebuild(line.make_rebuild("bad"))
    text = _describe(line, tip, base)
    assert "<<<<<<< already merged\nline 1\n||||||| before both\nbad\n=======\nbad, and more\n" in text


def test_conflicts_without_lines_are_named(line: MergedBranch) -> None:
    base = line.repository.commit({"logo.bin": b"\0one", "gone.txt": "some\ntext\n"}, line.base)
    line.base = line.head = base
    line.merge("one", line.repository.commit({"logo.bin": b"\0two", "gone.txt": None}, base))
    text = _describe(line, line.repository.commit({"logo.bin": b"\0three", "gone.txt": "other\ntext\n"}, base))
    assert "logo.bin: a binary file" in text
    assert "gone.txt deleted in already merged and modified in this task" in text
    assert "\0" not in text


def test_a_huge_conflict_is_truncated(line: MergedBranch) -> None:
    many = {f"file{n}.txt": "x" * 40_000 + "\n" for n in range(40)}
    line.merge("one", line.repository.commit({**many, "long.txt": "one\n" * 30_000}, line.base))
    theirs = {name: text.replace("x", "y") for name, text in many.items()}
    output = _describe(line, line.repository.commit({**theirs, "long.txt": "two\n" * 30_000}, line.base))
    assert len(output) < 21_000
    assert "characters more" in output


def test_a_clean_merge_has_no_conflict_text(line: MergedBranch) -> None:
    tip = line.repository.commit({"new.txt": "x\n"}, line.base)
    assert line.integrator.describe_conflict(line.make_merge(Change("two", line.base, tip)), MergeRules()) == ""
