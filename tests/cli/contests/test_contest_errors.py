"""An impossible contest is refused before anything starts."""

from __future__ import annotations

import pytest

from tests.support.contest_project import AMBER, BIRCH, JUDGE, ContestProject


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--contest", AMBER), "a contest needs at least two entrants"),
        (("--contest", AMBER, "-n", "27"), "too many"),
        (("--contest", AMBER, "-n", "0"), "-n must be at least 1, not 0"),
        (("--contest", f"{AMBER},shell"), "can't take part in a contest"),
        (("--contest", f"{AMBER},{BIRCH}", "--agent", AMBER), "both name the agents"),
        (("--contest", f"{AMBER},{BIRCH}", "--isolation", "in-place"), "a contest needs worktrees"),
        (("--contest", f"{AMBER},{BIRCH}", "--judge", JUDGE, "--score", "true"), "not by both"),
        (("--contest", f"{AMBER},{BIRCH}", "--judge", "nobody"), "there is no agent called nobody"),
        (("--contest", f"{AMBER},{BIRCH}", "--judge", f"{JUDGE},cluade"), "Did you mean claude?"),
        (("--contest", f"{AMBER},{BIRCH}", "--judge", f"{JUDGE},aider"), "choose another agent: --judge"),
        (("--contest", f"{AMBER},{BIRCH}", "--judge", f"{JUDGE},shell"), "can't judge"),
        (("--contest", f"{AMBER},{BIRCH}", "--judge", ",".join([JUDGE] * 10)), "10 judges are too many: 9 at most"),
        (("--judge", JUDGE, "--agent", AMBER), "only works in a contest"),
        (("--resume", "-n", "2"), "as it was submitted"),
        (("--agent", "referee"), "which only contests use"),
    ],
)
def test_contradictory_contest_options_are_refused(
    contest_project: ContestProject, words: tuple[str, ...], why: str
) -> None:
    contest_project.project.commit_all()
    answer = contest_project.project.plait("run", "tasks", "--yes", *words)
    assert answer.code == 2, answer
    assert why in " ".join((answer.out + answer.err).split())
    assert not contest_project.project.state().batches


def test_a_contest_needs_tasks_for_agents(contest_project: ContestProject) -> None:
    contest_project.project.task("a", "true")
    contest_project.project.commit_all()
    answer = contest_project.project.plait("run", "tasks", "--yes", "--contest", f"{AMBER},{BIRCH}")
    assert answer.code == 2
    assert "there is nothing to contest" in answer.err


@pytest.mark.parametrize("judge", [f'"{JUDGE}"', f'["claude", "{JUDGE}"]'])
def test_a_repository_may_not_choose_a_module_as_judge(contest_project: ContestProject, judge: str) -> None:
    contest_project.project.write("plait.toml", f"[run]\njudge = {judge}")
    contest_project.project.commit_all()
    answer = contest_project.project.plait("run", "tasks", "--yes", "--contest", f"{AMBER},{BIRCH}")
    assert answer.code == 2
    assert "commands that you haven't trusted" in " ".join(answer.err.split())
    assert "run.judge" in answer.err


def test_a_flag_overrides_the_settings_file(contest_project: ContestProject) -> None:
    contest_project.project.write("plait.toml", '[run]\njudge = "nobody-at-all"')
    contest_project.project.commit_all()
    answer = contest_project.run("--score", "wc -l <a.txt")
    assert answer.code == 0, answer
    assert contest_project.project.read_merged_files()["a.txt"] == "birch\nbirch"


def test_the_plan_lists_the_entrants(contest_project: ContestProject) -> None:
    contest_project.project.commit_all()
    answer = contest_project.project.plait(
        "run", "tasks", "--dry-run", "--contest", f"{AMBER},{BIRCH}", "--score", "make bench"
    )
    assert answer.code == 0, answer
    output = " ".join(answer.out.split())
    assert "1 task · 2 entrants · 2 waves" in output
    assert "chosen from a@Amber, a@Birch" in output
    assert "`make bench` scores them" in output
