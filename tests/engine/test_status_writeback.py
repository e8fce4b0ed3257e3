"""What the journal says reaches the sources, whatever dies in between."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from plait.client.source_reader import read_named_sources
from plait.core.events import Record
from plait.core.plan import Severity
from plait.core.reports import SourcesUnwritten, SourcesWritten
from plait.core.requests import Submit
from plait.core.settings import Settings
from plait.core.status import Category
from plait.engine.status_writeback import WriteBackResult, list_pending, open_source_writer, write_pending
from plait.git.location import RepoLocation, find_repo
from plait.sources.planning import PlanOptions, plan_tasks
from plait.sources.source_set import combine_sources
from plait.sources.writeback_queue import WritebackQueue
from plait.store.journal_writer import open_journal_writer
from plait.store.project_files import JOURNAL_FILE
from plait.testing.script import BATCH, Script

TODO = """\
# TODO

### 1. First thing
**Status**: [NOT STARTED]
**Dependencies**: None

### 2. Second thing
**Status**: [NOT STARTED]
**Dependencies**: 1

### 3. Third thing
**Status**: [NOT STARTED]
"""

# Append what is on the standard input to the journal, say so, and wait to be killed.
CHILD = """
import sys
from pathlib import Path
from plait.store import codec
from plait.store.journal_writer import open_journal_writer
journal = open_journal_writer(Path(sys.argv[1]))
journal.append([codec.decode_record(line.encode()) for line in sys.stdin.read().splitlines()])
print("durable", flush=True)
import signal
signal.pause()
"""


@pytest.fixture
def place(tmp_path: Path) -> RepoLocation:
    (tmp_path / "TODO.md").write_text(TODO)
    (tmp_path / ".plait").mkdir()
    return find_repo(tmp_path)


def submitted(place: RepoLocation, source: str = "TODO.md") -> Script:
    """A batch of everything in the source, as `plait run` would submit it."""
    found, _ = read_named_sources(place, [source], where=place.top)
    source_set = combine_sources([(source.format, source.path, source.reading) for source in found])
    planned = plan_tasks(source_set, PlanOptions()).plan
    assert planned is not None
    script = Script(start=False)
    sources = tuple(str(source) for source in source_set.sources)
    script.apply(Submit("r0", BATCH, planned.without_texts(), Settings(retries=0), base="base", sources=sources))
    return script


def start(place: RepoLocation) -> WriteBackResult:
    """What an engine does first."""
    with closing(open_journal_writer(place.state / JOURNAL_FILE)) as journal:
        settled = write_pending(list_pending(WritebackQueue(journal.read())), open_source_writer(place))
        last = journal.last()
        journal.append([Record(last + n, 2000.0, report) for n, report in enumerate(settled.reports, 1)])
    return settled


def written(place: RepoLocation) -> list[str]:
    lines = (place.top / "TODO.md").read_text().splitlines()
    return [line.removeprefix("**Status**: ") for line in lines if line.startswith("**Status**")]


def journalled(place: RepoLocation, script: Script) -> None:
    with closing(open_journal_writer(place.state / JOURNAL_FILE)) as journal:
        journal.append(script.records[journal.last() :])


def test_the_next_engine_writes_statuses_that_a_killed_one_did_not(place: RepoLocation) -> None:
    from plait.store import codec  # only the child's records are text

    script = submitted(place)
    script.exit_attempt("1")
    lines = "\n".join(codec.encode_record(record).decode() for record in script.records)
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(place.state / JOURNAL_FILE)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin
    assert child.stdout
    child.stdin.write(lines)
    child.stdin.close()
    assert child.stdout.readline() == "durable\n"
    child.kill()
    child.wait()
    child.stdout.close()
    assert written(place) == ["[NOT STARTED]"] * 3

    assert start(place).problems == ()
    assert written(place) == ["[COMPLETED]", "[IN PROGRESS]", "[IN PROGRESS]"]
    assert "### 1. First thing ✅\n" in (place.top / "TODO.md").read_text()


def test_a_written_status_is_not_written_again(place: RepoLocation) -> None:
    script = submitted(place)
    script.exit_attempt("1")
    journalled(place, script)
    start(place)
    file = place.top / "TODO.md"
    again = file.read_text().replace("[COMPLETED]", "[NOT STARTED]")
    file.write_text(again)
    assert start(place).reports == ()
    assert file.read_text() == again, "a person has taken it up again, and that stands"


def test_a_status_written_twice_after_a_kill_changes_nothing(
    place: RepoLocation,
) -> None:
    script = submitted(place)
    script.exit_attempt("3")
    journalled(place, script)
    write_pending(list_pending(WritebackQueue(script.records)), open_source_writer(place))
    before = (place.top / "TODO.md").stat()
    settled = start(place)
    after = (place.top / "TODO.md").stat()
    assert [report.tasks for report in settled.reports] == [("1", "3")]
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)


def test_a_failed_task_and_the_ones_it_blocks_are_written_with_reasons(place: RepoLocation) -> None:
    script = submitted(place)
    script.exit_attempt("1", Category.TASK, detail="tests fail")
    journalled(place, script)
    start(place)
    assert written(place) == ["[FAILED]", "[BLOCKED]", "[IN PROGRESS]"]
    assert "**Blocking Reason**: " in (place.top / "TODO.md").read_text()


def test_a_missing_source_is_reported_and_no_longer_pending(place: RepoLocation) -> None:
    script = submitted(place)
    journalled(place, script)
    (place.top / "TODO.md").unlink()
    settled = start(place)
    assert [problem.severity for problem in settled.problems][:1] == [Severity.WARNING]
    marked, unwritten = settled.reports
    assert isinstance(marked, SourcesWritten)
    assert isinstance(unwritten, SourcesUnwritten)
    assert (unwritten.source, unwritten.tasks, unwritten.retried) == ("TODO.md", ("1", "3"), False)
    assert start(place).reports == ()


def test_a_status_is_not_written_through_a_link_out_of_the_repository(place: RepoLocation, tmp_path: Path) -> None:
    """The source was replaced by a link after its batch had been submitted."""
    script = submitted(place)
    script.exit_attempt("1")
    journalled(place, script)
    source, outside = place.top / "TODO.md", tmp_path.parent / f"{tmp_path.name}-outside.md"
    before = source.read_text()
    source.rename(outside)
    source.symlink_to(outside)
    [problem] = start(place).problems
    assert "this leads out of the repository: no status was written" in problem.message
    assert outside.read_text() == before


def test_a_source_that_became_a_folder_stays_pending_until_it_is_a_file_again(place: RepoLocation) -> None:
    script = submitted(place)
    journalled(place, script)
    text = (place.top / "TODO.md").read_text()
    (place.top / "TODO.md").unlink()
    (place.top / "TODO.md").mkdir()
    (unwritten,) = start(place).reports
    assert isinstance(unwritten, SourcesUnwritten)
    assert "it is not a file any more" in unwritten.why
    assert unwritten.hint.startswith("put the file back")
    (place.top / "TODO.md").rmdir()
    (place.top / "TODO.md").write_text(text)
    assert [type(report) for report in start(place).reports] == [SourcesWritten]
    assert written(place) == ["[IN PROGRESS]", "[NOT STARTED]", "[IN PROGRESS]"]


def test_the_status_file_of_a_plan_lists_every_task_and_the_times_of_short_ones(place: RepoLocation) -> None:
    (place.top / "harbour.md").write_text(
        "## Phase 1: Quay\n\n- [ ] 1.1 Dig\n- [x] 1.2 Pour\n\n## Phase 2: Crane\n\n- [ ] 2.1 Lift\n"
    )
    status = place.top / "docs/plan-outputs/harbour/status.json"
    status.parent.mkdir(parents=True)
    script = submitted(place, "harbour.md")
    script.exit_attempt("1.1")
    journalled(place, script)
    assert start(place).problems == ()
    data = json.loads(status.read_text())
    assert [(task["id"], task["status"], "duration" in task) for task in data["tasks"]] == [
        ("1.1", "completed", True),
        ("1.2", "completed", False),
        ("2.1", "in_progress", False),
    ]
    assert data["currentPhase"] == "Phase 2: Crane"
