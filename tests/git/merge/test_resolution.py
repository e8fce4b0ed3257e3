"""A conflict that a person resolves becomes a commit on the branch it conflicted with, which merges without one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from plait.core.decisions import Change
from plait.core.errors import UserError
from plait.core.reports import MergeConflicted, MergeDone
from plait.core.requests import FileChoice, ResolvedFile
from plait.git.interfaces import MergeMessage, MergeRules
from plait.git.merge.resolution import Resolution, ResolvedConflict, Side, find_conflict_marker, resolve_conflict
from tests.support.batch_branch import MergedBranch
from tests.support.git_repository import Files, GitRepository

Page = Callable[..., str]


def conflict(line: MergedBranch, ours: Files, theirs: Files, base: Files | None = None) -> Change:
    """The change that conflicts with what is merged."""
    make = line.repository.commit
    line.base = line.head = make(base, line.base) if base else line.base
    one, two = make(ours, line.base), Change("two", line.base, make(theirs, line.base))
    line.merge("one", one)
    assert isinstance(line.merge("two", two.tip), MergeConflicted)
    return two


def resolve(line: MergedBranch, change: Change, choices: Mapping[str, Side | bytes]) -> Resolution:
    resolved = ResolvedConflict(line.batch, change, line.head, choices, MergeMessage("Resolve two"))
    return resolve_conflict(line.repository.git_dir, resolved, line.blending, os.environ)


def merge(line: MergedBranch, change: Change, choices: Mapping[str, Side | bytes]) -> dict[str, str]:
    """Resolve the conflict, and merge what came of it: the files of the branch."""
    onto = line.head
    resolved = resolve(line, change, choices)
    assert isinstance(line.merge("two", resolved.commit, onto), MergeDone)
    return line.repository.files(line.read_head)


def test_each_side_or_an_edited_text_can_be_chosen(line: MergedBranch) -> None:
    names = ("ours.txt", "theirs.txt", "edited.txt")
    two = conflict(
        line,
        dict.fromkeys(names, "one\n"),
        dict.fromkeys((*names, "other.txt"), "two\n"),
    )
    checkout = line.repository.git("status", "--porcelain")
    files = merge(line, two, {"ours.txt": Side.BATCH, "theirs.txt": Side.TASK, "edited.txt": b"both\r\nas they are"})
    assert [files[name] for name in (*names, "other.txt")] == ["one\n", "two\n", "both\nas they are", "two\n"]
    assert line.repository.git("cat-file", "-s", f"{line.read_head}:edited.txt") == str(len(b"both\r\nas they are"))
    assert line.repository.git("status", "--porcelain") == checkout


def test_the_commit_names_what_it_resolves_and_is_held_by_a_ref(line: MergedBranch, page: Page) -> None:
    two = conflict(line, {"page.txt": page((3, "one"))}, {"page.txt": page((3, "two")), "b.txt": "b\n"})
    head, change = line.head, {"page.txt": page((3, "both")).encode()}
    made = resolve(line, two, change)
    assert made.diffstat == (2, 2, 1)
    assert made.files == (ResolvedFile("page.txt", FileChoice.EDITED),)
    git = line.repository.git
    assert git("rev-parse", f"{made.commit}^@") == head
    trailers = git("log", "-1", "--format=%(trailers)", made.commit).split("\n")
    assert trailers[:3] == ["Plait-Batch: 7f3a", "Plait-Task: two", f"Plait-Change: {two.base}..{two.tip}"]
    assert git("for-each-ref", "--format=%(refname:lstrip=4)", f"--points-at={made.commit}").startswith("two/resolved-")
    git("gc", "-q", "--prune=now")
    assert resolve(line, two, change) == made
    assert line.read_head == head


def test_a_deleted_file_stays_deleted_or_comes_back(line: MergedBranch, page: Page) -> None:
    two = conflict(line, {"page.txt": None, "new.txt": "1\n"}, {"page.txt": page((1, "more")), "b.txt": "b\n"})
    head = line.head
    assert "page.txt" not in line.repository.files(resolve(line, two, {"page.txt": Side.BATCH}).commit)
    assert line.head == head
    assert merge(line, two, {"page.txt": Side.TASK})["page.txt"] == page((1, "more"))


def test_modes_and_links_are_kept(line: MergedBranch) -> None:
    def write(text: str, target: str) -> Callable[[Path], object]:
        def make(top: Path) -> None:
            (top / "run.sh").write_text(text)
            (top / "run.sh").chmod(0o755)
            (top / "link").unlink(missing_ok=True)
            (top / "link").symlink_to(target)

        return make

    make = line.repository.commit
    line.base = line.head = make(write("0\n", "zero"), line.base)
    one, two = make(write("1\n", "one"), line.base), Change("two", line.base, make(write("2\n", "two"), line.base))
    line.merge("one", one)
    with pytest.raises(UserError, match="link is no plain file"):
        resolve(line, two, {"run.sh": b"3\n", "link": b"/etc/passwd"})
    made = resolve(line, two, {"run.sh": b"3\n", "link": Side.TASK})
    listed = line.repository.git("ls-tree", made.commit, "run.sh", "link").split("\n")
    assert [row.split()[0] for row in listed] == ["120000", "100755"]
    assert line.repository.files(made.commit)["link"] == "two"


def test_of_a_binary_file_a_side_is_taken(line: MergedBranch) -> None:
    two = conflict(line, {"logo": b"\0two"}, {"logo": b"\0three"}, base={"logo": b"\0one"})
    made = resolve(line, two, {"logo": Side.TASK})
    assert line.repository.files(made.commit)["logo"] == "\0three"


@pytest.mark.parametrize(
    ("choices", "why"),
    [
        ({}, "not resolved yet: page.txt"),
        ({"page.txt": Side.TASK, "other.txt": b"x"}, "other.txt is not in conflict"),
        ({"page.txt": Side.TASK, ".git/config": b"x"}, ".git/config is not in conflict"),
        ({"page.txt": Side.TASK, "../page.txt": b"x"}, "../page.txt is not in conflict"),
        ({"page.txt": Side.BATCH}, "nothing of two's change would be left"),
    ],
)
def test_choices_that_do_not_fit_are_refused(
    line: MergedBranch, page: Page, choices: Mapping[str, Side | bytes], why: str
) -> None:
    two = conflict(line, {"page.txt": page((3, "one"))}, {"page.txt": page((3, "two"))})
    refs = line.repository.git("for-each-ref")
    with pytest.raises(UserError, match=why):
        resolve(line, two, choices)
    assert line.repository.git("for-each-ref") == refs


def test_a_matter_of_folders_is_refused(line: MergedBranch) -> None:
    two = conflict(line, {"name": "a file\n"}, {"name": None, "name/file": "in a folder\n"}, base={"name": "old\n"})
    found = line.integrator.describe_conflict(line.make_merge(two), line.blending)
    path = next(word for word in found.replace(":", " ").split() if word.startswith("name"))
    with pytest.raises(UserError):
        resolve(line, two, {path: Side.TASK})


def test_a_file_to_regenerate_is_regenerated_when_the_resolution_is_merged(repository: GitRepository) -> None:
    asked: list[str] = []

    def remake(_commit: str, command: str, files: tuple[str, ...]) -> Mapping[str, bytes]:
        asked.append(command)
        return dict.fromkeys(files, b"made again\n")

    base = repository.commit({"a.txt": "0\n", "app.lock": "0\n"})
    line = MergedBranch(repository, base, regenerate=remake)
    line.blending = MergeRules(regenerate=(("*.lock", "relock"),))
    two = conflict(line, {"a.txt": "1\n", "app.lock": "1\n"}, {"a.txt": "2\n", "app.lock": "2\n"})
    assert merge(line, two, {"a.txt": b"both\n"}) == {"a.txt": "both\n", "app.lock": "made again\n"}
    assert asked == ["relock"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"a\n<<<<<<< already merged\nb\n", 2),
        (b"a\r\n>>>>>>> this task\r\n", 2),
        (b"a\nb\n||||||| before both", 3),
        (b"title\n=======\n<<<<<<<<\n> > > > > > >\n", 0),
    ],
)
def test_markers_that_are_left_are_found(text: bytes, line: int) -> None:
    assert find_conflict_marker(text) == line
