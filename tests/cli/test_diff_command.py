"""`plait diff`: what was made, of a task, an attempt or a batch, against what it began with; nothing is touched by looking."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from plait.cli.commands.diff import colorize, reveal_control_chars
from plait.client.diff import DiffRange, compute_diff
from plait.core.reports import AttemptExited, AttemptLaunched, MergeDone, Outcome
from plait.core.requests import Submit
from plait.core.settings import Backoff, ExecutorKind, Isolation
from plait.core.status import Category
from plait.core.task import Attempt, Step
from plait.git.location import RepoLocation, find_repo
from plait.git.refs import attempt_ref
from tests.support.cli_runner import Say, ask
from tests.support.git_repository import isolate_git
from tests.support.journal_writer import SETTINGS, JournalWriter, build_plan
from tests.support.terminal import Terminal


@pytest.fixture(autouse=True)
def _own_git(monkeypatch: pytest.MonkeyPatch) -> None:
    isolate_git(monkeypatch)


def git(where: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=where, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(where: Path, files: dict[str, str | bytes], *gone: str) -> str:
    for name, content in files.items():
        (where / name).parent.mkdir(parents=True, exist_ok=True)
        (where / name).write_bytes(content.encode() if isinstance(content, str) else content)
    for name in gone:
        (where / name).unlink()
    git(where, "add", "-A")
    git(where, "commit", "-q", "-m", "x")
    return git(where, "rev-parse", "HEAD")


class Bench:
    """A repository whose checkout stays at its first commit, a folder to make commits in, and a journal about them."""

    def __init__(self, root: Path) -> None:
        self.top = root / "work"
        self.top.mkdir()
        git(self.top, "init", "-q")
        self.base = commit(self.top, {"a.txt": "one\ntwo\nthree\n", "b.txt": "b\n" * 9})
        self.side = root / "plait-side"
        git(self.top, "worktree", "add", "-q", "--detach", str(self.side), self.base)
        self.place = find_repo(self.top)
        self.writer = JournalWriter(self.place)

    def submit(self, *tasks: str, **settings: object) -> None:
        wanted = replace(SETTINGS, isolation=Isolation.WORKTREE, backoff=Backoff(base=0.0), **settings)  # type: ignore[arg-type]
        self.writer.apply(Submit("r", "beef", build_plan(*tasks).without_texts(), wanted, base=self.base))

    def exits(self, task: str, tip: str | None, category: Category = Category.OK) -> Attempt:
        found = self.writer.batch.find_task(task)
        assert found is not None
        attempt = next(iter(found.alive))
        self.writer.apply(AttemptExited(attempt, Outcome(category, 0, tip=tip)))
        return attempt

    def merged(self, task: str, commit: str) -> None:
        found = self.writer.batch.find_task(task)
        assert found is not None
        assert found.merging is not None
        self.writer.apply(MergeDone("beef", task, found.merging, commit))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


@pytest.fixture
def say(bench: Bench, capfd: pytest.CaptureFixture[str]) -> Say:
    return lambda *words: ask(capfd, bench.top, *words)


def test_a_merged_task_shows_only_its_own_change(bench: Bench, say: Say) -> None:
    bench.submit("a", "b<a")
    first = commit(bench.side, {"a.txt": "one\n2\nthree\n"})
    bench.exits("a", first)
    bench.merged("a", first)
    second = commit(bench.side, {"new.txt": "fresh\n"}, "b.txt")
    bench.exits("b", second)
    bench.merged("b", second)
    answer = say("diff", "beef", "b")
    assert answer.code == 0
    assert "+fresh" in answer.out
    assert "a.txt" not in answer.out
    assert say("diff", "b", "--name-only").out == "b.txt\nnew.txt\n"
    stat = say("diff", "b", "--stat").out.replace("\N{MINUS SIGN}", "-")
    assert stat == "  +0 -9  b.txt\n  +1 -0  new.txt\n2 files, +1 -9\n"


def test_without_a_task_the_whole_batch_is_shown(bench: Bench, say: Say) -> None:
    bench.submit("a", "b<a")
    assert str(say("diff", "beef")) == (
        "stderr: plait: nothing is merged in batch beef yet: nothing to compare\n"
        "stderr:   See its progress with `plait status beef`, or name a task to see its change.\n"
        "exit 1\n"
    )
    first = commit(bench.side, {"a.txt": "one\n2\nthree\n"})
    bench.exits("a", first)
    bench.merged("a", first)
    second = commit(bench.side, {"new.txt": "fresh\n"})
    bench.exits("b", second)
    bench.merged("b", second)
    output = say("diff").out
    git(bench.top, "checkout", "-q", "-b", "tried", bench.base)
    subprocess.run(["git", "apply", "--index"], cwd=bench.top, input=output, text=True, check=True)
    assert git(bench.top, "write-tree") == git(bench.top, "rev-parse", f"{second}^{{tree}}")


def test_a_failed_attempt_shows_its_changes(bench: Bench, say: Say) -> None:
    bench.submit("a", retries=1)
    one = commit(bench.side, {"a.txt": "first try\n"})
    attempt = bench.exits("a", None, Category.TASK)
    git(bench.top, "update-ref", attempt_ref(attempt), one)
    bench.writer.now += 60
    two = commit(bench.side, {"a.txt": "second try\n"})
    bench.exits("a", two, Category.TASK)
    assert "+second try" in say("diff", "a").out
    assert "+first try" in say("diff", "a", "--attempt", "1").out
    assert say("diff", "a", "--attempt", "3").err == "plait: a has no write attempt 3\n  It has 2.\n"
    assert say("diff", "beef", "--attempt", "1").code == 2


def test_an_attempt_whose_ref_is_missing_is_reported(bench: Bench, say: Say) -> None:
    bench.submit("a")
    bench.exits("a", None, Category.TASK)
    answer = say("diff", "a")
    assert answer.code == 1
    assert answer.err.startswith("plait: the commits of a write-1 are no longer in this repository\n")


def state_of(folder: Path) -> dict[str, str]:
    """Every file's content and time, git's own too; not the journal, which has files that come and go with its readers."""
    return {
        str(path.relative_to(folder)): _digest(path) + _time(path)
        for path in sorted(folder.rglob("*"))
        if not path.is_dir() and ".git/plait/" not in str(path)
    }


def _time(path: Path) -> str:
    """Writing an object that exists already freshens it, so that git doesn't prune it."""
    return "" if ".git/objects/" in str(path) else f" {path.stat().st_mtime_ns}"


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def at_work(bench: Bench, executor: ExecutorKind = ExecutorKind.LOCAL) -> None:
    """An attempt that runs in the side folder."""
    bench.submit("a", executor=executor)
    attempt = Attempt("beef", "a", Step.WRITE, 1)
    bench.writer.apply(AttemptLaunched(attempt, 1, str(bench.side)))


def test_a_running_attempt_shows_its_workspace_without_changing_it(bench: Bench, say: Say) -> None:
    at_work(bench)
    git(bench.side, "rm", "-q", "b.txt")  # in the index only
    (bench.side / "b.txt").write_text("b\n" * 8)
    commit(bench.side, {"own commit.txt": "by the agent\n"})
    (bench.side / "a.txt").write_text("one\ntwo\nthree\nfour\n")
    (bench.side / "Ünseen\tname").write_text("untracked\n")
    (bench.side / ".gitignore").write_text("build\n")
    (bench.side / "build").write_text("ignored\n")
    before = state_of(bench.top), state_of(bench.side)
    answer = say("diff", "a", "--json")
    after = state_of(bench.top), state_of(bench.side)
    assert [set(was.items()) ^ set(now.items()) for was, now in zip(before, after, strict=True)] == [
        set(),
        set(),
    ]
    data = json.loads(answer.out)
    assert [file["path"] for file in data["files"]] == [
        ".gitignore",
        "a.txt",
        "b.txt",
        "own commit.txt",
        "Ünseen\tname",
    ]
    assert (data["taskId"], data["attempt"], data["tip"], data["cut"]) == ("a", 1, None, False)
    assert "+four\n" in data["diff"]


def test_a_change_of_equal_size_and_time_is_detected(bench: Bench, say: Say) -> None:
    at_work(bench)
    path, index = bench.side / "a.txt", bench.top / ".git/worktrees/plait-side/index"
    git(bench.top, "config", "core.trustctime", "false")
    then = (1_700_000_000, 1_700_000_000)
    os.utime(path, then)
    git(bench.side, "add", "-A")
    path.write_text("one\nTWO\nthree\n")
    os.utime(path, then)
    os.utime(index, then)
    assert "+TWO" in say("diff", "a").out


def test_nested_repositories_and_unfinished_merges_are_shown(bench: Bench, say: Say) -> None:
    at_work(bench)
    (bench.side / "nested").mkdir()
    git(bench.side / "nested", "init", "-q")  # without a commit git refuses to add it
    (bench.side / "a.txt").write_text("changed\n")
    assert "+changed" in say("diff", "a").out


def test_a_workspace_that_is_gone_is_reported(bench: Bench, say: Say) -> None:
    at_work(bench)
    bench.side.rename(bench.side.with_name("elsewhere"))
    answer = say("diff", "a")
    assert answer.code == 1
    assert "no longer exists" in answer.err


def test_an_attempt_on_a_node_has_a_diff_when_it_has_ended(bench: Bench, say: Say) -> None:
    """Its workspace is not on this machine, so its path is not shown either."""
    at_work(bench, ExecutorKind.RAY)
    assert say("diff", "a").err.splitlines() == [
        "plait: a write-1 runs on a node of the cluster: nothing to compare until it has ended",
        "  `plait logs` shows its output; --attempt shows an earlier attempt's change.",
    ]
    assert str(bench.side) not in say("status", "beef").out
    bench.exits("a", commit(bench.side, {"made": "made\n"}))
    assert "+made" in say("diff", "a").out


def test_an_attempt_that_changed_nothing_says_so(bench: Bench, say: Say) -> None:
    at_work(bench)
    assert str(say("diff", "a")) == "stderr: plait: a write-1 changed nothing\nexit 0\n"


def test_a_task_that_has_not_started_says_why(bench: Bench, say: Say) -> None:
    bench.submit("a", "b<a")
    assert say("diff", "a").err == "plait: a write-1 is being prepared: nothing to compare yet\n"
    assert say("diff", "b").err == ("plait: b has no write attempt yet\n  b is waiting: needs a.\n")


def test_tasks_that_run_in_place_have_no_diff(bench: Bench, say: Say) -> None:
    bench.writer.submit("cafe", "a")
    for words in (["cafe"], ["cafe", "a"], ["cafe", "a", "--attempt", "1"]):
        answer = say("diff", *words)
        assert answer.code == 1
        assert answer.err.startswith("plait: the tasks of batch cafe work in the checkout itself")


def test_renames_and_binary_files_are_marked(bench: Bench) -> None:
    git(bench.side, "mv", "b.txt", "moved\nb.txt")
    tip = commit(bench.side, {"picture": b"\x00\x01\xff"})
    with compute_diff(bench.place, DiffRange("it", bench.base, tip)) as found:
        result = [(file.path, file.before, file.plus, file.minus, file.binary) for file in found.files]
        text = b"".join(found.trees.read_text())
    assert result == [("moved\nb.txt", "b.txt", 0, 0, False), ("picture", None, 0, 0, True)]
    assert b"Binary files" in text


def test_the_users_git_settings_do_not_change_the_output(bench: Bench) -> None:
    tip = commit(bench.side, {"a.txt": "one\n"})
    for name, value in (("diff.external", "false"), ("color.ui", "always"), ("diff.noprefix", "true")):
        git(bench.top, "config", name, value)
    (bench.top / ".gitattributes").write_text("* -diff\n")
    with compute_diff(bench.place, DiffRange("it", bench.base, tip)) as found:
        text = b"".join(found.trees.read_text())
    assert b"diff --git a/a.txt b/a.txt\n" in text
    assert b"\n-two\n" in text
    assert b"\x1b" not in text


def terminal(bench: Bench, *words: str, **more: str) -> str:
    line = [sys.executable, "-m", "plait", "diff", *words]
    env = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "PAGER", "LESS"}}
    shown = Terminal(line, cwd=bench.top, env=env | more)
    try:
        assert shown.wait() == 0
    finally:
        shown.close()
    return shown.output.replace("\r\n", "\n")


@pytest.fixture
def hostile(bench: Bench) -> None:
    bench.submit("a")
    tip = commit(bench.side, {"a.txt": "one\n\x1b[2J\x1b]0;title\x07\r\nthree \u202e\n-- x\n"})
    bench.exits("a", tip)
    bench.merged("a", tip)


@pytest.mark.usefixtures("hostile")
def test_a_terminal_gets_colours_and_no_control_characters_of_files(bench: Bench) -> None:
    seen = terminal(bench, "a", "--no-pager")
    assert "\x1b[32m+^[[2J^[]0;title^G^M\x1b[m\n" in seen
    assert "\x1b[32m+three <U+202E>\x1b[m\n" in seen
    assert "\x1b[31m-two\x1b[m\n" in seen
    assert "\x1b[" not in terminal(bench, "a", "--no-pager", NO_COLOR="1")


@pytest.mark.usefixtures("hostile")
def test_the_diff_is_shown_in_gits_pager(bench: Bench) -> None:
    assert "paged +^[[2J" in terminal(bench, "a", PAGER="sed 's/^/paged /'", NO_COLOR="1")
    git(bench.top, "config", "core.pager", "sed 's/^/by git: /'")
    assert "by git: +^[[2J" in terminal(bench, "a", PAGER="false", NO_COLOR="1")
    assert "mine +^[[2J" in terminal(bench, "a", GIT_PAGER="sed 's/^/mine /'", NO_COLOR="1")


@pytest.mark.usefixtures("hostile")
def test_a_pager_that_exits_early_is_not_an_error(bench: Bench) -> None:
    assert terminal(bench, "a", PAGER="true") == ""


@pytest.mark.usefixtures("hostile")
def test_a_file_gets_the_diff_byte_for_byte(bench: Bench, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with out.open("wb") as file:
        subprocess.run([sys.executable, "-m", "plait", "diff", "a"], cwd=bench.top, stdout=file, check=True)
    assert b"\n+\x1b[2J\x1b]0;title\x07\r\n" in out.read_bytes()


@given(st.text())
def test_control_characters_are_shown_visibly(text: str) -> None:
    assert not any(ord(sign) < 0x20 and sign not in "\t\n" for sign in reveal_control_chars(text))
    assert not any(0x7F <= ord(sign) < 0xA0 for sign in reveal_control_chars(text))


@given(st.lists(st.binary(max_size=8), max_size=20), st.integers(1, 7))
def test_the_output_does_not_depend_on_how_the_input_is_split(lines: list[bytes], size: int) -> None:
    whole = b"@@ -1,5 +1,5 @@\n" + b"\n".join(lines)
    pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
    assert "".join(colorize(pieces)) == "".join(colorize([whole]))


def test_a_removed_line_that_looks_like_a_header_is_a_removed_line() -> None:
    text = b"--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n--- a/y\n x\ndiff --git\n"
    styles = [line[:5] for line in colorize([text])]
    assert styles == ["\x1b[1m-", "\x1b[1m+", "\x1b[36m", "\x1b[31m", " x\n", "\x1b[1md"]


def test_a_folder_that_is_not_a_repository_is_refused(tmp_path: Path) -> None:
    place = RepoLocation(tmp_path, tmp_path / ".plait", repository=False)
    with pytest.raises(Exception, match="isn't a git repository"), compute_diff(place, DiffRange("it", "x", "y")):
        pass
