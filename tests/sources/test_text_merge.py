"""Two versions of a text made into one."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, strategies as st

from plait.sources.text import TextLines, find_ancestor, match_lines, merge_texts

# Few different lines, so that they repeat; blank ones and rules among them, as in real files.
LINES = st.lists(st.sampled_from(("a", "b", "c", "d", "", "---", "x y")), max_size=12)
LONG = st.lists(st.sampled_from(["", *map(str, range(30))]), max_size=60)


@st.composite
def texts(draw: st.DrawFn, lines: st.SearchStrategy[list[str]] = LINES) -> str:
    eol = draw(st.sampled_from(("\n", "\r\n")))
    text = "".join(line + eol for line in draw(lines))
    return text if draw(st.booleans()) else text.removesuffix(eol)


@st.composite
def versions(draw: st.DrawFn) -> tuple[str, str, str]:
    """A text, and what two people made of it."""
    base = draw(LONG)
    sides = []
    for letter in "pq":
        side = list(base)
        for number in range(draw(st.integers(0, 4))):
            place = draw(st.integers(0, len(side)))
            new = [f"{letter}{number}"] * draw(st.integers(0, 2))
            side[place : place + draw(st.integers(0, 2))] = new
        sides.append(side)
    return text(base), text(sides[0]), text(sides[1])


def text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


@given(texts(), texts())
def test_a_change_of_one_side_is_taken_as_it_is(base: str, side: str) -> None:
    assert merge_texts(base, side, base) == side
    assert merge_texts(base, base, side) == side


@given(texts(), texts())
def test_the_same_change_on_both_sides_is_made_once(base: str, side: str) -> None:
    assert merge_texts(base, side, side) == side


def added(base: str, side: str) -> Counter[str]:
    """The lines of a side that are not the base's, as the diff sees it."""
    lines = TextLines(side).all
    kept = {place for _, place in match_lines(TextLines(base).all, lines)}
    return Counter(line for place, line in enumerate(lines) if place not in kept)


@given(versions())
def test_every_added_line_of_either_side_is_kept(three: tuple[str, str, str]) -> None:
    base, ours, theirs = three
    merged = Counter(TextLines(merge_texts(base, ours, theirs)).all)
    assert added(base, ours) <= merged
    assert added(base, theirs) <= merged


@given(texts(), texts(), texts())
def test_no_line_is_invented_and_none_is_joined_to_another(base: str, ours: str, theirs: str) -> None:
    known = {line.rstrip("\r\n") for side in (base, ours, theirs) for line in TextLines(side).all}
    assert {line.rstrip("\r\n") for line in TextLines(merge_texts(base, ours, theirs)).all} <= known


@given(versions())
def test_a_line_that_one_side_removed_is_gone(three: tuple[str, str, str]) -> None:
    base, ours, _ = three
    theirs = f"{base}last\n"
    merged = TextLines(merge_texts(base, ours, theirs)).all
    assert merged[-1] == "last\n"
    assert merged[:-1] == TextLines(ours).all


@given(texts(LONG), texts(LONG))
def test_shared_lines_are_the_same_and_do_not_cross(one: str, other: str) -> None:
    a, b = TextLines(one).all, TextLines(other).all
    pairs = match_lines(a, b)
    assert all(a[i] == b[j] for i, j in pairs)
    assert [i for i, _ in pairs] == sorted({i for i, _ in pairs})
    assert [j for _, j in pairs] == sorted({j for _, j in pairs})


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        ("a b c", "a B c", "a b C", "a B C"),
        ("a b c", "A b c", "a b C", "A b C"),
        ("a b", "a b x", "a b y", "a b x y"),
        ("a b", "a b x", "a b x y", "a b x y"),
        ("a b", "x a b", "a B", "x a B"),
        ("a b c", "a c", "a b C", "a C"),
        ("a b c", "", "a b C", "C"),
        ("a b c", "a x c", "a y c", "a x y c"),
        ("a b c d", "a x y d", "a b z d", "a x y z d"),
        ("h t", "h n t", "h T", "h n T"),
        ("h t", "h T", "h n t", "h n T"),
    ],
    ids=[
        "changes of adjacent lines are no conflict",
        "changes far apart",
        "both append",
        "one appends more of the same",
        "an insert and a change",
        "deleted here, the next one changed there",
        "all deleted here, one line changed there: it stays",
        "one line changed differently: both stay, theirs last",
        "overlapping changes",
        "ours put before a line that they changed",
        "theirs put before a line that we changed",
    ],
)
def test_merges_of_small_texts(base: str, ours: str, theirs: str, merged: str) -> None:
    result = merge_texts(*(text(side.split()) for side in (base, ours, theirs)))
    assert result == text(merged.split())


def test_two_blocks_that_look_alike_stay_whole() -> None:
    base, foo, bar = "### 1\nStatus: new\n\n", "### 2\nStatus: new\n\n", "### 3\nStatus: new\n\n"
    assert merge_texts(base, base + foo, base + bar) == base + foo + bar


def test_no_line_is_joined_to_a_last_line_without_an_end() -> None:
    assert merge_texts("a\nb", "a\nb\nx", "a\nb\ny") == "a\nb\nx\ny"
    assert merge_texts("a\nb", "x\na\nb", "a\nb\n") == "x\na\nb\n"
    assert merge_texts("a\n", "", "a") == ""


def test_a_long_file_of_equal_parts_is_merged() -> None:
    base = "".join(f"### {n}\n- **Status**: new\n\n---\n" for n in range(20_000))
    ours = base.replace("new", "done")
    assert merge_texts(base, ours, f"top\n{base}end\n") == f"top\n{ours}end\n"
    alike = "- [ ] x\n" * 20_000
    assert merge_texts(alike, f"top\n{alike}", f"{alike}end\n") == f"top\n{alike}end\n"


def join(known: tuple[str, ...], ours: str, theirs: str) -> str:
    return merge_texts(find_ancestor(known, theirs), ours, theirs)


@given(versions(), texts())
def test_a_version_with_additions_only_is_recognised(three: tuple[str, str, str], other: str) -> None:
    base = three[0]
    theirs = f"first\n{base}last\n"
    assert merge_texts(find_ancestor((base, other), theirs), base, theirs) == theirs
    assert find_ancestor((base,), three[1]) == base


@given(versions(), versions())
def test_a_line_that_not_every_version_had_is_never_removed(
    three: tuple[str, str, str], others: tuple[str, str, str]
) -> None:
    base, newest, older = three
    ours = merge_texts(base, newest, older)
    merged = Counter(TextLines(join((newest, older), ours, others[0])).all)
    own = {line for line in TextLines(ours).all if line[0] in "pq"}
    assert own <= {*merged}, "only one of the two had it"


def test_an_unseen_line_does_not_count_as_removed() -> None:
    newest, older, ours = "head\nL\nfoot\n", "head\nK\nfoot\n", "head\nL\nK\nfoot\n"
    assert join((newest, older), ours, "head\nL\nM\nfoot\n") == "head\nL\nK\nM\nfoot\n"
    assert join((newest, older), ours, "head\nK\nM\nfoot\n") == "head\nL\nK\nM\nfoot\n"
    assert join((newest, older), ours, "M\nfoot\n") == "M\nL\nK\nfoot\n"


def test_a_removed_line_does_not_come_back_with_an_older_version() -> None:
    known = ("head\nX\nfoot\n", "head\nY\nfoot\n")
    assert join(known, known[1], f"{known[0]}more\n") == f"{known[1]}more\n"


def test_a_line_of_both_sides_is_not_doubled() -> None:
    known = ("head\nfoot\n", "head\np\nq\nx\nfoot\n")
    assert join(known, known[1], "head\np\nq\nm\nfoot\n") == "head\np\nq\nx\nm\nfoot\n"


def test_an_equal_line_elsewhere_does_not_replace_an_unseen_one() -> None:
    """Two people add the same words at different places; one of them has not seen the other's."""
    newest, older = "a\nb\nc\n", "a\n- tbd\nb\nc\n"
    assert join((newest, older), older, "a\nb\nc\n- tbd\n") == "a\n- tbd\nb\nc\n- tbd\n"


def test_blocks_that_look_alike_stay_whole_with_any_ancestor() -> None:
    base, foo, bar = "### 1\nStatus: new\n\n", "### 2\nStatus: new\n\n", "### 3\nStatus: new\n\n"
    assert join((base, base + foo), base + foo, base + bar) == base + foo + bar
    assert join((base, base + foo), base + foo, base + foo + bar) == base + foo + bar


def test_an_inherited_line_is_not_an_edit_even_after_many_removals() -> None:
    """One had the task done and the note `n`, the other neither; theirs was made from the first, and the note taken out."""
    newest, older = "### 7 done\nn\nfoot\n", "### 7\nL\nfoot\n"
    assert join((newest, older), older, "### 7 done\nm\nfoot\n") == "### 7\nL\nm\nfoot\n"
