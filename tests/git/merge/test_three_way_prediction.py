from __future__ import annotations

from collections.abc import Callable

from plait.git.interfaces import MergeRules, PredictedConflict
from tests.support.batch_branch import MergedBranch
from tests.support.git_repository import Files

Page = Callable[..., str]


def _tips(line: MergedBranch, **sides: Files) -> dict[str, tuple[str, str]]:
    return {task: (line.base, line.repository.commit(files, line.base)) for task, files in sides.items()}


def test_conflicting_changes_are_named(line: MergedBranch, page: Page) -> None:
    tips = _tips(
        line,
        a={"page.txt": page((1, "a")), "a.txt": "a\n"},
        b={"page.txt": page((1, "b"))},
        c={"page.txt": page((18, "c"))},
        d={"d.txt": "d\n"},
    )
    assert line.integrator.predict_conflicts(line.base, tips, MergeRules()) == [
        PredictedConflict("a", "b", ("page.txt",))
    ]


def test_a_change_against_the_branch_is_named_once(line: MergedBranch, page: Page) -> None:
    tips = _tips(line, a={"page.txt": page((1, "a"))}, b={"page.txt": page((1, "b"))})
    line.merge("x", line.repository.commit({"page.txt": page((1, "x"))}, line.base))
    found = line.integrator.predict_conflicts(line.head, tips, MergeRules())
    assert found == [PredictedConflict("a", "", ("page.txt",)), PredictedConflict("b", "", ("page.txt",))]


def test_a_file_conflicts_with_a_folder_of_the_same_name(line: MergedBranch) -> None:
    found = line.integrator.predict_conflicts(
        line.base, _tips(line, a={"x": "file\n"}, b={"x/y/z": "in it\n"}), MergeRules()
    )
    assert [(one.left, one.right) for one in found] == [("a", "b")]


def test_a_change_based_on_a_dropped_one_is_checked_without_it(line: MergedBranch, page: Page) -> None:
    line.merge("bad", line.repository.commit({"page.txt": page((1, "bad"))}, line.base))
    base = line.head
    fine = line.repository.commit({"page.txt": page((1, "bad"), (9, "fine"))}, base)
    lost = line.repository.commit({"page.txt": page((1, "bad, more"))}, base)
    line.rebuild(line.make_rebuild("bad"))
    found = line.integrator.predict_conflicts(line.head, {"fine": (base, fine), "lost": (base, lost)}, MergeRules())
    assert found == [PredictedConflict("lost", "", ("page.txt",))]


def test_merge_rules_apply_to_predictions(line: MergedBranch, page: Page) -> None:
    tips = _tips(line, a={"page.txt": page((1, "a"))}, b={"page.txt": page((1, "b"))})
    assert line.integrator.predict_conflicts(line.base, tips, MergeRules(union=("page.txt",))) == []


def test_submodules_that_two_tasks_move_do_not_confuse_the_others(line: MergedBranch, page: Page) -> None:
    repository = line.repository
    tips = _tips(line, a={"page.txt": page((1, "a"))}, z={"page.txt": page((1, "z"))})
    for task in ("m", "n"):
        commit = repository.git("commit-tree", f"{line.base}^{{tree}}", "-m", task)
        repository.git("checkout", "-q", "-f", "--detach", line.base)
        repository.git("update-index", "--add", "--cacheinfo", f"160000,{commit},sub")
        repository.git("commit", "-q", "-m", "submodule")
        tips[task] = (line.base, repository.git("rev-parse", "HEAD"))
    found = line.integrator.predict_conflicts(line.base, tips, MergeRules())
    assert found == [PredictedConflict("a", "z", ("page.txt",)), PredictedConflict("m", "n", ("sub",))]


def test_missing_commits_are_left_out(line: MergedBranch, page: Page) -> None:
    tips = _tips(line, a={"page.txt": page((1, "a"))}, b={"page.txt": page((1, "b"))})
    assert line.integrator.predict_conflicts(
        line.base, {**tips, "gone": (line.base, "0" * 40), "odd": ("", "")}, MergeRules()
    ) == [PredictedConflict("a", "b", ("page.txt",))]
    assert line.integrator.predict_conflicts(line.base, {}, MergeRules()) == []
