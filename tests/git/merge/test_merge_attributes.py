"""How a file is merged follows from what is committed, and from the batch's own rules; never from anybody's settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from plait.core.reports import MergeConflicted, MergeDone
from plait.git.interfaces import MergeRules
from tests.support.batch_branch import MergedBranch
from tests.support.git_repository import Files, GitRepository, Symlink

Page = Callable[..., str]
BOTH: tuple[Files, Files] = ({"changes.log": "start\none\n"}, {"changes.log": "start\ntwo\n"})


def _line(repository: GitRepository, files: Files) -> tuple[MergedBranch, str, str]:
    base = repository.commit({"changes.log": "start\n", **files})
    return MergedBranch(repository, base), *(repository.commit(side, base) for side in BOTH)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("files", "clean"),
    [
        ({".gitattributes": "*.log merge=union\n"}, True),
        ({".gitattributes": "/changes.log merge=union\n*.txt binary\n"}, True),
        ({".gitattributes": "[attr]both merge=union\nchanges.log both\n"}, True),
        ({".gitattributes": "*.log merge=union\n*.log -merge\n"}, False),
        ({".gitattributes": "*.log merge=nobody-has-it\n"}, False),
        ({".gitattributes": Symlink("rules"), "rules": "*.log merge=union\n"}, False),
        ({"other/.gitattributes": "*.log merge=union\n"}, False),
    ],
)
def test_committed_attributes_apply_as_in_a_checkout(repository: GitRepository, files: Files, clean: object) -> None:
    line, one, two = _line(repository, files)
    line.merge("one", one)
    onto = line.head
    done = line.merge("two", two)
    assert isinstance(done, MergeDone) is clean
    assert repository.merge_tree(onto, two) == (repository.tree(line.read_head) if clean else None)


def test_attributes_in_a_folder_apply_there(repository: GitRepository) -> None:
    base = repository.commit({"a/b/.gitattributes": "*.log merge=union\n", "a/b/x.log": "start\n", "a/x.log": "s\n"})
    line = MergedBranch(repository, base)
    below = [repository.commit({"a/b/x.log": f"start\n{name}\n"}, base) for name in ("one", "two")]
    beside = repository.commit({"a/x.log": "s\nthree\n"}, base)
    for name, tip in zip(("one", "two"), below, strict=True):
        assert isinstance(line.merge(name, tip), MergeDone)
    line.merge("three", beside)
    assert repository.files(line.read_head)["a/b/x.log"] == "start\none\ntwo\n"
    last = repository.commit({"a/x.log": "s\nfour\n"}, base)
    assert isinstance(line.merge("four", last), MergeConflicted)


def test_attributes_added_by_a_task_apply_from_the_next_merge_on(repository: GitRepository) -> None:
    line, one, two = _line(repository, {})
    line.merge("one", one)
    assert isinstance(line.merge("two", two), MergeConflicted)
    line.merge("rules", repository.commit({".gitattributes": "*.log merge=union\n"}, line.base))
    assert isinstance(line.merge("two", two), MergeDone)
    line.merge("no rules", repository.commit({".gitattributes": None}, line.head), line.head)
    three = repository.commit({"changes.log": "start\nthree\n"}, line.base)
    assert isinstance(line.merge("three", three), MergeConflicted)


def test_uncommitted_attributes_have_no_effect(repository: GitRepository) -> None:
    line, one, two = _line(repository, {})
    (repository.top / ".gitattributes").write_text("* merge=union\n")
    (repository.git_dir / "info").mkdir(exist_ok=True)
    (repository.git_dir / "info" / "attributes").write_text("* merge=union\n")
    line.merge("one", one)
    assert isinstance(line.merge("two", two), MergeConflicted)


def test_the_users_settings_have_no_effect(repository: GitRepository, tmp_path: Path) -> None:
    rules, settings, ran = tmp_path / "rules", tmp_path / "settings", tmp_path / "ran"
    rules.write_text("* merge=mine\n")
    settings.write_text(
        f"[core]\n\tattributesFile = {rules}\n[merge]\n\tdefault = union\n\trenames = false\n"
        f'[merge "mine"]\n\tdriver = touch {ran}\n'
    )
    text = "".join(f"line {n}\n" for n in range(20))
    base = repository.commit({"changes.log": "start\n", "old.txt": text})
    repository.env |= {"GIT_CONFIG_GLOBAL": str(settings), "GIT_MERGE_VERBOSITY": "5"}
    repository.env |= {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "merge.default",
        "GIT_CONFIG_VALUE_0": "union",
    }
    line = MergedBranch(repository, base)
    one, two = (repository.commit(side, base) for side in BOTH)
    line.merge("one", one)
    assert isinstance(line.merge("two", two), MergeConflicted)
    line.merge("renames", repository.commit({"old.txt": None, "new.txt": text}, base))
    line.merge("edits", repository.commit({"old.txt": text.replace("line 3\n", "three\n")}, base))
    assert "three\n" in repository.files(line.read_head)["new.txt"]
    assert not ran.exists()


@pytest.mark.parametrize("pattern", ["*.log", "changes.log", "/changes.log", "**/*.log", 'we"ird\\* \t.log', "#x.log"])
def test_union_rules_of_the_batch_keep_the_lines_of_both_sides(repository: GitRepository, pattern: str) -> None:
    name = {'we"ird\\* \t.log': 'we"ird* \t.log', "#x.log": "#x.log"}.get(pattern, "changes.log")
    base = repository.commit({name: "start\n", ".gitattributes": "*.log -merge\n"})
    line = MergedBranch(repository, base)
    line.blending = MergeRules(union=("*.nothing", pattern))
    for side in ("one", "two"):
        line.merge(side, repository.commit({name: f"start\n{side}\n"}, base))
    assert repository.files(line.read_head)[name] == "start\none\ntwo\n"


def test_batches_with_different_rules_do_not_affect_each_other(repository: GitRepository) -> None:
    line, one, two = _line(repository, {})
    other = MergedBranch(repository, line.base, "other")
    other.integrator = line.integrator
    other.blending = MergeRules(union=("*.log",))
    for tip in (one, two):
        other.merge(tip, tip)
    line.merge("one", one)
    assert isinstance(line.merge("two", two), MergeConflicted)
    assert other.read_head == other.head


def test_an_incomplete_git_folder_does_not_prevent_merging(repository: GitRepository) -> None:
    line, one, _ = _line(repository, {})
    half = repository.git_dir / "plait" / "integrator" / "making-left"
    half.mkdir(parents=True)
    assert isinstance(line.merge("one", one), MergeDone)
    assert list(half.parent.glob("making*")) == [half]
