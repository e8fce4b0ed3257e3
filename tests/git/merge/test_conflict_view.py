"""Both sides of a conflict, file by file, as people read them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from plait.core.decisions import Change
from plait.git import objects
from plait.git.interfaces import ConflictedFile, ConflictKind, MergeRules
from plait.git.merge.conflict_view import MAX_CONFLICT_FILES, ConflictingMerge, read_conflict_sides
from tests.support.batch_branch import MergedBranch
from tests.support.git_repository import Files

Page = Callable[..., str]


def sides(
    line: MergedBranch,
    ours: Files,
    theirs: Files,
    *,
    base: Files | None = None,
    blending: MergeRules | None = None,
) -> tuple[dict[str, ConflictedFile], int]:
    """Of two changes of one base, the first of which is merged."""
    make = line.repository.commit
    line.base = line.head = make(base, line.base) if base else line.base
    one, two = (
        Change("one", line.base, make(ours, line.base)),
        Change("two", line.base, make(theirs, line.base)),
    )
    line.merge("one", one.tip)
    meeting = ConflictingMerge(two, line.head, {"one": one})
    files, more = read_conflict_sides(line.repository.git_dir, meeting, blending or MergeRules(), os.environ)
    return {each.path: each for each in files}, more


def test_a_changed_line_is_shown_with_base_and_both_sides(line: MergedBranch, page: Page) -> None:
    found, more = sides(line, {"page.txt": page((10, "from one"))}, {"page.txt": page((10, "from two"))})
    (conflict,) = found.values()
    assert (conflict.path, conflict.kind, conflict.binary, conflict.truncated, more) == (
        "page.txt",
        ConflictKind.CONTENT,
        False,
        (),
        0,
    )
    assert (conflict.base, conflict.ours, conflict.theirs) == (page(), page((10, "from one")), page((10, "from two")))
    both = "<<<<<<< already merged\nfrom one\n=======\nfrom two\n>>>>>>> this task"
    assert conflict.merged == page((10, both))
    assert conflict.message == "CONFLICT (content): Merge conflict in page.txt"
    assert conflict.changed_by == ("one",)


def test_a_file_added_on_both_sides_has_no_base(line: MergedBranch) -> None:
    found, _ = sides(line, {"new.txt": "one\n"}, {"new.txt": "two\n"})
    conflict = found["new.txt"]
    assert (conflict.kind, conflict.base, conflict.ours, conflict.theirs) == (
        ConflictKind.ADD_ADD,
        None,
        "one\n",
        "two\n",
    )


def test_a_file_deleted_on_one_side_is_missing_there(line: MergedBranch, page: Page) -> None:
    found, _ = sides(line, {"page.txt": None}, {"page.txt": page((1, "more"))})
    conflict = found["page.txt"]
    assert (conflict.kind, conflict.ours, conflict.theirs) == (ConflictKind.MODIFY_DELETE, None, page((1, "more")))
    assert conflict.message.startswith("CONFLICT (modify/delete): page.txt deleted in already merged")


def test_a_file_renamed_differently_on_both_sides_is_a_rename_conflict(line: MergedBranch, page: Page) -> None:
    found, _ = sides(line, {"page.txt": None, "one.txt": page()}, {"page.txt": None, "two.txt": page()})
    assert {conflict.kind for conflict in found.values()} == {ConflictKind.RENAME}
    assert {"one.txt", "two.txt"} <= found.keys()


def test_binary_files_are_not_shown_as_text(line: MergedBranch) -> None:
    found, _ = sides(line, {"logo": b"\0two"}, {"logo": b"\0three"}, base={"logo": b"\0one"})
    conflict = found["logo"]
    assert (conflict.kind, conflict.binary, conflict.truncated) == (ConflictKind.BINARY, True, ())
    assert (conflict.base, conflict.ours, conflict.theirs, conflict.merged) == (None, None, None, None)


def test_invalid_utf_8_is_shown_with_replacement_characters(line: MergedBranch) -> None:
    found, _ = sides(line, {"old.txt": b"caf\xe9\n"}, {"old.txt": b"th\xe9\n"})
    assert found["old.txt"].ours == "caf\ufffd\n"


@pytest.mark.parametrize("name", [":(glob)*.txt", ":!odd", ":/odd", "[a]*", "-r", "caf\udce9"])
def test_special_characters_in_a_file_name_are_taken_literally(line: MergedBranch, name: str) -> None:
    found, _ = sides(line, {name: "one\n"}, {name: "two\n"})
    conflict = found[name]
    assert (conflict.ours, conflict.theirs) == ("one\n", "two\n")
    assert "<<<<<<< already merged" in (conflict.merged or "")


def test_a_side_that_is_too_long_is_marked_as_truncated(line: MergedBranch) -> None:
    long = "x\n" * objects.MAX_BLOB_BYTES
    found, _ = sides(line, {"long.txt": f"one\n{long}"}, {"long.txt": "two\n"})
    conflict = found["long.txt"]
    assert (conflict.ours, conflict.theirs, conflict.truncated) == (None, "two\n", ("ours", "merged"))


def test_files_beyond_the_limit_are_counted(line: MergedBranch) -> None:
    names = [f"{n:03}.txt" for n in range(MAX_CONFLICT_FILES + 5)]
    found, more = sides(line, dict.fromkeys(names, "one\n"), dict.fromkeys(names, "two\n"))
    assert (len(found), more) == (MAX_CONFLICT_FILES, 5)


def test_files_with_merge_rules_are_no_conflict(line: MergedBranch) -> None:
    rules = MergeRules(union=("CHANGELOG.md",), regenerate=(("lock", "false"),))
    names = ("CHANGELOG.md", "lock", "new.txt")
    found, _ = sides(line, dict.fromkeys(names, "one\n"), dict.fromkeys(names, "two\n"), blending=rules)
    assert list(found) == ["new.txt"]


def test_a_change_whose_base_was_dropped_is_shown_by_itself(line: MergedBranch, page: Page) -> None:
    line.merge("bad", line.repository.commit({"page.txt": page((1, "bad"))}, line.base))
    base = line.head
    tip = line.repository.commit({"page.txt": page((1, "bad, and more"))}, base)
    line.rebuild(line.make_rebuild("bad"))
    meeting = ConflictingMerge(Change("two", base, tip), line.head, {})
    (conflict,), _ = read_conflict_sides(line.repository.git_dir, meeting, MergeRules(), os.environ)
    assert (conflict.base, conflict.ours, conflict.theirs) == (page((1, "bad")), page(), page((1, "bad, and more")))
    assert conflict.changed_by == ()


def test_viewing_leaves_nothing_in_the_repository_and_runs_no_program(
    line: MergedBranch, page: Page, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    line.repository.run("config", "merge.evil.driver", f"touch {ran}")
    line.repository.run("config", "diff.evil.textconv", f"touch {ran};")
    base: Files = {".gitattributes": "*.txt merge=evil diff=evil filter=evil\n"}
    make = line.repository.commit
    line.base = line.head = make(base, line.base)
    one = Change("one", line.base, make({"page.txt": page((10, "from one"))}, line.base))
    two = Change("two", line.base, make({"page.txt": page((10, "from two"))}, line.base))
    line.merge("one", one.tip)
    before = {path for path in line.repository.git_dir.rglob("*") if path.is_file()}
    (conflict,), _ = read_conflict_sides(
        line.repository.git_dir, ConflictingMerge(two, line.head, {"one": one}), MergeRules(), os.environ
    )
    assert conflict.kind is ConflictKind.CONTENT
    assert {path for path in line.repository.git_dir.rglob("*") if path.is_file()} == before
    assert not ran.exists()


def test_a_missing_commit_of_a_merged_change_only_loses_its_name(line: MergedBranch, page: Page) -> None:
    make = line.repository.commit
    one = Change("one", line.base, make({"page.txt": page((10, "from one"))}, line.base))
    two = Change("two", line.base, make({"page.txt": page((10, "from two"))}, line.base))
    line.merge("one", one.tip)
    lost = Change("lost", line.base, "1" * 40)
    meeting = ConflictingMerge(two, line.head, {"one": one, "lost": lost})
    (conflict,), _ = read_conflict_sides(line.repository.git_dir, meeting, MergeRules(), os.environ)
    assert (conflict.ours, conflict.changed_by) == (page((10, "from one")), ("one",))
