"""`plait gc`: it shows what could go, asks, removes no more than that, and brings back what was saved."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from plait.client.project_state import load_project_config
from plait.core.reports import AttemptExited, MergeDone, Outcome
from plait.core.requests import Retry, Submit
from plait.core.settings import Isolation
from plait.core.status import Category
from plait.git.interfaces import WorkspaceSetup
from plait.git.location import find_repo
from plait.git.refs import attempt_ref
from plait.git.worktrees.workspaces import GitWorkspaces
from plait.git.worktrees.worktree import find_worktrees_folder
from plait.store.project_files import INBOX_FILE, open_project_inbox
from tests.support.cli_runner import Say, ask
from tests.support.git_repository import isolate_git
from tests.support.journal_writer import SETTINGS, JournalWriter, build_plan
from tests.support.terminal import Terminal


@pytest.fixture(autouse=True)
def _own_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    isolate_git(monkeypatch)
    for name in [name for name in os.environ if name.startswith("PLAIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PLAIT_WORKSPACE_LOCATION", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def git(where: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=where, check=True, capture_output=True, text=True)
    return done.stdout.strip()


class Bench:
    """Batch beef: a is merged into its branch, b failed; both left their workspaces, b with work in it."""

    def __init__(self, root: Path) -> None:
        self.top = root / "work"
        self.top.mkdir()
        git(self.top, "init", "-q")
        git(self.top, "commit", "-q", "--allow-empty", "-m", "first")
        self.base = git(self.top, "rev-parse", "HEAD")
        self.place = find_repo(self.top)
        self.writer = JournalWriter(self.place)
        root = find_worktrees_folder(self.place, load_project_config(self.top))
        self.workspaces = GitWorkspaces(self.top / ".git", root)

    def submit(self, *tasks: str) -> None:
        wanted = replace(SETTINGS, isolation=Isolation.WORKTREE)
        self.writer.apply(
            Submit("r", "beef", build_plan(*tasks).without_texts(), wanted, base=self.base, branch="plait/batch-beef")
        )

    def work(self, task: str) -> Path:
        path = Path(self.workspaces.prepare("beef", task, self.base, WorkspaceSetup(), top=str(self.top)))
        (path / f"{task}.txt").write_text(f"{task}\n")
        return path

    def passes(self, task: str) -> None:
        path = self.work(task)
        git(path, "add", "-A")
        git(path, "commit", "-q", "-m", task)
        tip = git(path, "rev-parse", "HEAD")
        found = self.writer.batch.find_task(task)
        assert found is not None
        attempt = next(iter(found.alive))
        git(self.top, "update-ref", attempt_ref(attempt), tip)
        self.writer.apply(AttemptExited(attempt, Outcome(Category.OK, 0, tip=tip)))
        assert found.merging is not None
        git(self.top, "update-ref", "refs/heads/plait/batch-beef", tip)
        self.writer.apply(MergeDone("beef", task, found.merging, tip))

    def fails(self, task: str) -> None:
        self.work(task)
        self.writer.exit_attempt(task, Category.TASK, "no luck")

    def refs(self, under: str) -> list[str]:
        return git(self.top, "for-each-ref", "--format=%(refname)", under).split()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = Bench(tmp_path)
    made.submit("a", "b")
    made.passes("a")
    made.fails("b")
    return made


@pytest.fixture
def say(bench: Bench, capsys: pytest.CaptureFixture[str]) -> Say:
    return lambda *words: ask(capsys, bench.top, *words)


def test_a_dry_run_lists_items_and_removes_nothing(bench: Bench, say: Say) -> None:
    answer = say("gc", "--dry-run")
    assert answer.code == 0
    assert "batch beef  2 workspaces, " in answer.out
    assert "plait/task-beef-a: in the batch branch" in answer.out
    assert "1 of them contains work that is saved first" in answer.out
    assert "plait/batch-beef: not merged" in answer.out
    assert len(bench.refs("refs/heads/plait")) == 3
    assert Path(bench.workspaces.path("beef", "b")).is_dir()


def test_gc_removes_the_listed_items_and_prints_how_to_restore_saved_work(bench: Bench, say: Say) -> None:
    answer = say("gc", "--yes")
    assert answer.code == 0
    assert "saved saved/beef/b/1: plait gc restore saved/beef/b/1\n" in answer.out
    assert bench.refs("refs/heads/plait") == ["refs/heads/plait/batch-beef"]
    assert not Path(bench.workspaces.path("beef", "b")).exists()
    assert "saved/beef/b/1" in say("gc", "--list").out
    made = say("gc", "restore", "saved/beef/b/1")
    assert made.out.startswith("Created branch restored-beef-b-1,")
    assert git(bench.top, "show", "restored-beef-b-1:b.txt") == "b"
    assert say("gc", "restore", "saved/beef/b/1", "--as", "mine").code == 0
    again = say("gc")
    assert (again.code, again.err) == (0, "")
    assert "There is nothing to remove." in again.out


@pytest.mark.parametrize("words", [(), ("--forget", "beef", "--with-unmerged")], ids=["all", "forget"])
def test_without_a_terminal_gc_lists_and_removes_nothing(bench: Bench, say: Say, words: tuple[str, ...]) -> None:
    before = bench.refs("refs")
    answer = say("gc", *words)
    assert answer.code == 3
    assert "batch beef  2 workspaces, " in answer.out
    assert answer.err == "Nothing was removed: that needs --yes, or a terminal to ask on.\n"
    data = json.loads(say("gc", "--json", *words).out)
    assert data == json.loads(say("gc", "--dry-run", "--json", *words).out)
    assert bench.refs("refs") == before
    assert Path(bench.workspaces.path("beef", "b")).is_dir()


def test_json_lists_removed_kept_and_saved_items(bench: Bench, say: Say) -> None:
    data = json.loads(say("gc", "--dry-run", "--json").out)
    assert data["bytes"] > 0
    assert {item["kind"] for item in data["items"]} == {"workspace", "branch"}
    assert {item["kind"] for item in data["kept"]} >= {"branch", "ref"}
    data = json.loads(say("gc", "--json", "--yes").out)
    assert data["saved"] == ["saved/beef/b/1"]
    # The newest first, by seconds: which of the two that is, is chance.
    assert {each["name"] for each in json.loads(say("gc", "--list", "--json").out)["saved"]} == {
        "saved/beef/b/1",
        "attempts/beef/a/write-1",
    }
    assert json.loads(say("gc", "restore", "beef/a", "--json").out)["branch"] == "restored-beef-a-write-1"
    assert bench.refs("refs/heads/plait") == ["refs/heads/plait/batch-beef"]


def test_an_unfinished_batch_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench = Bench(tmp_path)
    bench.submit("a", "b")
    bench.passes("a")
    path = bench.work("b")
    answer = ask(capsys, bench.top, "gc")
    assert "There is nothing to remove." in answer.out
    assert "batch beef has not ended" in answer.out
    assert path.is_dir()
    refused = ask(capsys, bench.top, "gc", "--forget", "beef")
    assert (refused.code, refused.err) == (
        2,
        "plait: batch beef has not ended, and only ended batches can be forgotten\n  `plait cancel beef` gives it up.\n",
    )


def test_a_batch_with_a_pending_request_is_kept(bench: Bench, say: Say) -> None:
    box = open_project_inbox(bench.place)
    box.put(Retry("again", "beef", "b"))
    box.close()
    assert (bench.place.state / INBOX_FILE).exists()
    assert "There is nothing to remove." in say("gc").out


def test_forget_prints_what_is_kept(bench: Bench, say: Say) -> None:
    folder = bench.place.state / "batches" / "beef"
    (folder / "tasks").mkdir(parents=True)
    git(bench.top, "merge", "-q", "--no-ff", "-m", "merged", "plait/batch-beef")
    answer = say("gc", "--forget", "beef", "--yes")
    assert answer.code == 0
    assert "The journal still contains batch beef: nothing is ever removed from it." in answer.out
    assert bench.refs("refs/plait") == ["refs/plait/saved/beef/b/1"]
    assert not folder.exists()
    assert "beef" in say("history").out
    shown = say("status", "beef").out
    assert "plait gc removed its branches and files; what it saved: plait gc --list" in shown
    assert "plait pr" not in shown
    again = say("gc", "--forget", "beef", "--yes")
    assert "never merged; remove with --with-unmerged" in again.out
    assert bench.refs("refs/plait") == ["refs/plait/saved/beef/b/1"]
    tip = git(bench.top, "rev-parse", "refs/plait/saved/beef/b/1")
    last = say("gc", "--forget", "beef", "--with-unmerged", "--yes")
    assert f"refs/plait/saved/beef/b/1 was {tip}; git keeps that commit for a while" in last.out
    assert bench.refs("refs/plait") == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--older", "soon"], "soon is not a duration"),
        (["--with-unmerged"], "--with-unmerged only works with --forget"),
        (["--as", "x"], "--as only works with restore"),
        (["beef"], "gc takes no arguments except restore NAME"),
        (["restore"], "gc takes no arguments except restore NAME"),
        (["restore", "nobody"], "nothing is saved under the name nobody"),
        (["--forget", "nobody"], "there is no batch nobody"),
    ],
)
def test_contradictory_options_are_refused(bench: Bench, say: Say, words: list[str], message: str) -> None:
    answer = say("gc", *words)
    assert answer.code == 2
    assert answer.err.startswith(f"plait: {message}")
    assert len(bench.refs("refs/heads/plait")) == 3


def test_outside_of_a_repository_only_batch_folders_are_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    writer = JournalWriter(find_repo(tmp_path))
    writer.submit("cafe", "a")
    writer.exit_attempt("a")
    (tmp_path / ".plait" / "batches" / "cafe" / "tasks").mkdir(parents=True)
    assert ask(capsys, tmp_path, "gc").code == 0
    assert ask(capsys, tmp_path, "gc", "--list").out == "Nothing is saved.\n"
    assert ask(capsys, tmp_path, "gc", "--forget", "cafe", "--yes").code == 0
    assert not (tmp_path / ".plait" / "batches" / "cafe").exists()


def terminal(bench: Bench, *words: str) -> Terminal:
    line = [sys.executable, "-m", "plait", "gc", *words]
    return Terminal(line, cwd=bench.top, env={**os.environ, "NO_COLOR": "1"})


def test_gc_asks_on_a_terminal(bench: Bench) -> None:
    shown = terminal(bench)
    shown.wait_for("Remove this? [y/N]")
    shown.type("\n")
    assert shown.wait() == 1
    assert "Nothing was removed." in shown.text
    shown.close()
    assert len(bench.refs("refs/heads/plait")) == 3
    shown = terminal(bench)
    shown.wait_for("Remove this? [y/N]")
    shown.type("y\n")
    assert shown.wait() == 0
    shown.close()
    assert bench.refs("refs/heads/plait") == ["refs/heads/plait/batch-beef"]


def test_permanent_loss_is_confirmed_by_typing_the_batch_id(bench: Bench) -> None:
    for typed, code in (("y", 1), ("beef", 0)):
        shown = terminal(bench, "--forget", "beef", "--with-unmerged")
        shown.wait_for("Type beef to delete them:")
        shown.type(f"{typed}\n")
        assert shown.wait() == code
        shown.close()
    assert bench.refs("refs/heads/plait") == []
