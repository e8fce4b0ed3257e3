"""Checks that every batch with worktrees must pass, whatever happened to it: its journal against plain git."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from plait.core.decisions import Change, MergeStarted, RebuildStarted
from plait.core.events import Record
from plait.core.reports import AttemptExited, MergeConflicted, MergeDone, RebuildDone
from plait.core.state import BatchState
from plait.core.status import TaskStatus
from plait.core.task import Attempt, Step
from plait.git.location import find_repo
from plait.git.refs import attempt_ref
from plait.store.journal_reader import open_journal_reader
from plait.store.project_files import JOURNAL_FILE
from tests.support.git_repository import ReferenceMerger
from tests.support.laws.auditor import Auditor
from tests.support.random_agent import signature_path
from tests.support.temp_project import TempProject


def read_records(project: TempProject) -> list[Record]:
    with closing(open_journal_reader(find_repo(project.top).state / JOURNAL_FILE)) as reader:
        return list(reader.read())


def check_laws(project: TempProject, told: Sequence[Record]) -> None:
    """Check the laws of the simulator; the tasks in a commit are read from git."""

    def contents(commit: str) -> frozenset[str]:
        words = ("--first-parent", "--format=%(trailers:key=Plait-Task,valueonly,separator=%x2C)")
        return frozenset(project.git("log", *words, commit, "^HEAD").split())

    auditor = Auditor(contents)
    for record in told:
        auditor.observe(record)


def check_merges(told: Sequence[Record], base: str, oracle: ReferenceMerger) -> None:
    """Git gives the same result for every merge and rebuild, and the same conflicts."""
    merges: dict[tuple[str, int], MergeStarted] = {}
    rebuilds: dict[int, RebuildStarted] = {}
    for event in (record.event for record in told):
        match event:
            case MergeStarted():
                merges[event.task, event.n] = event
            case MergeDone() | MergeConflicted():
                _check_merge(merges[event.task, event.n], event, oracle)
            case RebuildStarted():
                rebuilds[event.n] = event
            case RebuildDone():
                _check_rebuild(rebuilds[event.n], event, base, oracle)
            case _:
                pass


def _check_merge(order: MergeStarted, done: MergeDone | MergeConflicted, oracle: ReferenceMerger) -> None:
    tree = oracle.merge_tree(order.onto, Change(order.task, order.base, order.tip))
    if isinstance(done, MergeConflicted):
        assert tree is None, f"git merges {order}, but plait reported a conflict in {done.files}"
    else:
        assert oracle.tree(done.commit) == tree, f"git merges {order} differently"
        assert oracle.parents(done.commit)[0] == order.onto


def _check_rebuild(order: RebuildStarted, done: RebuildDone, base: str, oracle: ReferenceMerger) -> None:
    replay = oracle.replay(base, order.line)
    assert tuple(merged.task for merged in done.line) == replay.kept, order
    assert tuple(clash.task for clash in done.clashes) == replay.clashes, order
    head = done.line[-1].commit if done.line else base
    assert oracle.tree(head) == replay.tree, order


def check_branch(project: TempProject, batch: BatchState, oracle: ReferenceMerger) -> None:
    """The batch branch is the done tasks, each merged once, in the order of the journal."""
    changes = [entry.change for entry in batch.merges]
    done = [task.task.id for task in batch.tasks if task.status is TaskStatus.DONE]
    assert sorted(change.task for change in changes) == sorted(done)
    at = find_branch_head(project, batch)
    assert at == batch.head
    replay = oracle.replay(batch.base, changes)
    assert not replay.clashes
    assert oracle.tree(at) == replay.tree
    merges = project.git("rev-list", "--first-parent", f"{batch.base}..{at}").split()
    assert merges[::-1] == [entry.commit for entry in batch.merges]


def find_branch_head(project: TempProject, batch: BatchState) -> str:
    """The commit of the batch branch. There may be no branch when nothing was merged."""
    found = project.git("for-each-ref", "--format=%(objectname)", f"refs/heads/{batch.branch}")
    return found or batch.base


def check_results_kept(project: TempProject, told: Sequence[Record], signs: Path) -> None:
    """Every attempt was reported once, and a ref holds its result."""
    lines = Counter(signs.read_text().splitlines())
    assert set(lines.values()) == {1}, [line for line, count in lines.items() if count > 1]
    begun, ended = _parse_signatures(lines, "begin"), _parse_signatures(lines, "end")
    assert begun == ended, "an agent was killed"
    exits = [record.event for record in told if isinstance(record.event, AttemptExited)]
    writes = [exit_ for exit_ in exits if exit_.attempt.step is Step.WRITE]
    assert Counter((one.attempt.batch, one.attempt.task, str(one.attempt.n)) for one in writes) == begun
    for one in writes:
        held = project.git("for-each-ref", "--format=%(objectname)", attempt_ref(one.attempt))
        assert held, f"no ref holds the result of {one.attempt}"
        assert one.outcome.tip in {None, "", held}, one


def check_signatures(project: TempProject, attempts: Sequence[Attempt]) -> None:
    """The ref of each attempt holds the file that the attempt signed."""
    for attempt in attempts:
        names = project.git("ls-tree", "-r", "--name-only", attempt_ref(attempt)).splitlines()
        assert signature_path(attempt.task, attempt.n) in names, f"the result of {attempt} is incomplete"


def _parse_signatures(lines: Counter[str], word: str) -> Counter[tuple[str, str, str]]:
    return Counter(_parse_line(line) for line in lines if line.split()[0] == word)


def _parse_line(line: str) -> tuple[str, str, str]:
    _, batch, task, n = line.split()
    return batch, task, n


def check_no_leftovers(project: TempProject) -> None:
    """No worktree in use or incomplete, and no lock; pooled worktrees are complete and on no branch."""
    assert project.find_leftovers() == []
    assert not [line for line in _list_worktrees(project) if line.startswith(("branch ", "prunable"))]


def _list_worktrees(project: TempProject) -> Iterator[str]:
    """The lines about all worktrees but the user's own."""
    _, *others = project.git("worktree", "list", "--porcelain").split("\n\n")
    for other in others:
        yield from other.splitlines()
