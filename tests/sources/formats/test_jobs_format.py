from __future__ import annotations

import json
from datetime import UTC, datetime
from textwrap import dedent

import pytest
from hypothesis import given, strategies as st

from plait.core.graph import build_checked_plan
from plait.core.plan import Severity
from plait.core.task import ModelJob, ModelJobMode, Need, Origin
from plait.sources.formats import Confidence, load_format
from plait.sources.source_model import Reading, SourceStatus
from plait.sources.status_changes import StatusChange
from plait.sources.text import TextLines, to_printable
from plait.testing.contracts.source_format import NOW, mangled_texts
from tests.support.source_folders import (
    format_problems,
    get_single,
    index_by_id,
    make_source_files,
    read_needs,
)

JOBS = load_format("jobs")
STATUS = "_jobstatus.json"
AT = "2026-03-14T09:26:53Z"


def read(files: dict[str, str], statuses: object = None) -> Reading:
    files = {name: dedent(text) for name, text in files.items()}
    if statuses is not None:
        files[STATUS] = statuses if isinstance(statuses, str) else json.dumps(statuses)
    return JOBS.read(make_source_files("jobs", "jobs", files))


def job(*lines: str, writes: str = "src/out.rs") -> str:
    folder, _, name = writes.rpartition("/")
    head = [f"output_dir: {folder or '.'}/", f"output_file: {name}"]
    return "\n".join(["---", *head, *lines, "---", "", "# Do it", "", "Text", ""])


def status(name: str, raw: str, **more: object) -> dict[str, object]:
    return {
        "id": name,
        "status": raw,
        "created_at": "2026-01-01T00:00:00Z",
        "updated_at": "2026-01-01T00:00:00Z",
        **more,
    }


class TestReading:
    def test_a_job_writes_its_output_and_its_targets(self) -> None:
        lines = (
            "mode: split",
            "target_file: ./src/big.rs",
            "output_files:\n  - src/big/mod.rs\n  - src/big/a.rs",
        )
        entry = get_single(read({"split_001.md": job(*lines, writes="src/big/mod.rs")}))
        assert (entry.task.id, entry.task.title, entry.task.agent) == ("split_001", "Do it", "model")
        assert entry.task.touches == ("src/big/mod.rs", "src/big/a.rs", "src/big.rs")
        assert entry.task.body == "\n# Do it\n\nText\n"
        assert (entry.status, entry.task.exclusive, entry.task.origin) == (
            SourceStatus.TODO,
            None,
            Origin("jobs/split_001.md", 1),
        )

    def test_system_files_are_not_jobs(self) -> None:
        assert list(index_by_id(read({"_systemprompt.md": "# You are\n", "README.md": "# R\n", "a.md": job()}))) == [
            "a"
        ]

    def test_sequential_jobs_share_one_group(self) -> None:
        assert get_single(read({"a.md": job("sequential: true")})).task.exclusive == "sequential"
        assert get_single(read({"a.md": job("sequential: false")})).task.exclusive is None

    @pytest.mark.parametrize("key", ["output_dir", "output_file"])
    def test_a_job_without_a_required_key_is_known_by_name_only(self, key: str) -> None:
        reading = read({"a.md": job().replace(key, "test_file")})
        assert get_single(reading).status is SourceStatus.UNREADABLE
        assert format_problems(reading, Severity.WARNING) == [f"jobs/a.md:1: {key} is missing: this job can't be run"]

    def test_modes_are_checked(self) -> None:
        modes = ("replace", "create", "edit", "split", "replace_pattern", "update_fixtures")
        files = {f"{mode}.md": job(f"mode: {mode}") for mode in modes} | {"odd.md": job("mode: edti")}
        reading = read(files)
        assert [entry.task.id for entry in reading.entries if entry.status is SourceStatus.UNREADABLE] == ["odd"]
        assert format_problems(reading) == ["jobs/odd.md:4: mode is not known: edti; this job can't be run"]

    def test_unknown_keys_are_reported(self) -> None:
        reading = read({"a.md": job("context_file: [a.rs]", "struct_name: A", "new_field: b", "verify: true")})
        assert [problem.hint for problem in reading.problems] == ["Did you mean context_files?"]

    def test_a_folder_without_jobs_is_an_error(self) -> None:
        assert format_problems(read({"_a.md": ""}), Severity.ERROR) == ["jobs: there are no jobs in jobs"]


class TestJobs:
    def job(self, *lines: str, writes: str = "src/out.rs") -> ModelJob | None:
        return get_single(read({"a.md": job(*lines, writes=writes)})).task.job

    def test_a_job_has_the_files_that_a_model_writes(self) -> None:
        lines = (
            "mode: split",
            "target_file: ./src/big.rs",
            "output_files: [src/big/mod.rs, ./src/big/a.rs]",
            "context_files:\n  - src/x.rs\n  - src//y.rs",
            "test_file: tests/big.rs",
            "sequential: yes",
            "struct_name: Big",
            "new_field: 'a: 1'",
        )
        assert self.job(*lines, writes="src/big/mod.rs") == ModelJob(
            "src/big/mod.rs",
            ModelJobMode.SPLIT,
            ("src/big/mod.rs", "src/big/a.rs"),
            ("src/big.rs",),
            ("src/x.rs", "src/y.rs"),
            tests="tests/big.rs",
            sequential=True,
            struct_name="Big",
            new_field="a: 1",
        )

    def test_a_job_needs_only_its_output(self) -> None:
        assert self.job() == ModelJob("src/out.rs")
        assert self.job(writes="out.rs") == ModelJob("out.rs")

    @pytest.mark.parametrize(("raw", "verify"), [("false", False), ("no", False), ("true", True), ("perhaps", True)])
    def test_a_job_can_turn_verification_off(self, raw: str, verify: bool) -> None:  # noqa: FBT001 - the row's
        found = self.job(f"verify: {raw}")
        assert found is not None
        assert found.verify is verify

    @pytest.mark.parametrize(
        ("raw", "mode"), [("create", ModelJobMode.REPLACE), *((each.value, each) for each in ModelJobMode)]
    )
    def test_a_job_has_a_mode(self, raw: str, mode: ModelJobMode) -> None:
        assert self.job(f"mode: {raw}") == ModelJob("src/out.rs", mode)

    def test_an_unreadable_file_has_no_job(self) -> None:
        assert self.job("mode: odd") is None
        assert get_single(read({"a.md": "---\noutput_dir: src\n---\n# Do\n"})).task.job is None
        assert get_single(read({"a.md": "---\noutput_dir: [\n---\n# Do\n"})).task.job is None


class TestNeeds:
    def test_declared_dependencies_are_read(self) -> None:
        (need,) = index_by_id(read({"a.md": job(), "b.md": job("depends_on: [a]", writes="src/b.rs")}))["b"].task.needs
        assert need == Need("a", reason="depends_on: a", at=Origin("jobs/b.md", 4))

    def test_an_unknown_dependency_is_an_error_that_names_it(self) -> None:
        reading = read({"b.md": job("depends_on: [nope]")})
        assert format_problems(reading, Severity.ERROR) == [
            "jobs/b.md:4: b depends on nope, which is not the id of any job"
        ]

    def test_a_passed_dependency_needs_no_file(self) -> None:
        reading = read({"b.md": job("depends_on: [old]")}, [status("old", "pass")])
        assert get_single(reading).task.needs == ()
        assert reading.problems == ()

    def test_a_missing_dependency_that_has_not_passed_is_an_error(self) -> None:
        reading = read({"b.md": job("depends_on: [old]")}, [status("old", "fail")])
        assert "has no file and has not passed (fail)" in format_problems(reading, Severity.ERROR)[0]

    @pytest.mark.parametrize("line", ["context_files: [./src/a.rs]", "mode: edit\ntarget_files:\n  - src/a.rs"])
    def test_a_job_waits_for_jobs_that_write_what_it_reads_or_edits(self, line: str) -> None:
        found = index_by_id(read({"z.md": job(writes="src/a.rs"), "b.md": job(line, writes="src/b.rs")}))
        assert list(read_needs(found["b"])) == ["z"]
        assert read_needs(found["z"]) == {}

    def test_an_inferred_need_names_the_file(self) -> None:
        found = index_by_id(read({"a.md": job(writes="a.rs"), "b.md": job("context_files: [x, a.rs]", writes="b.rs")}))
        assert found["b"].task.needs == (Need("a", reason="context_files: a.rs", at=Origin("jobs/b.md", 4)),)

    def test_a_test_file_counts_as_an_output(self) -> None:
        files = {
            "a.md": job("test_file: tests/x.rs", writes="src/x.rs"),
            "b.md": job("context_files: [tests/x.rs]", writes="src/b.rs"),
        }
        found = index_by_id(read(files))
        assert found["a"].task.touches == ("src/x.rs", "tests/x.rs")
        assert list(read_needs(found["b"])) == ["a"]

    def test_all_outputs_of_a_job_count(self) -> None:
        files = {
            "a.md": job("output_files: [src/x.rs, src/y.rs]", writes="src/x.rs"),
            "b.md": job("context_files: [src/y.rs]", writes="src/b.rs"),
        }
        assert list(read_needs(index_by_id(read(files))["b"])) == ["a"]

    def test_jobs_that_edit_one_file_take_turns_in_any_order(self) -> None:
        edit = ("mode: edit", "target_files: [a.rs]", "context_files: [a.rs]")
        reading = read({"a.md": job(*edit, writes="a.rs"), "b.md": job(*edit, writes="a.rs")})
        assert [read_needs(entry) for entry in reading.entries] == [{}, {}]
        assert {entry.task.touches for entry in reading.entries} == {("a.rs",)}

    def test_jobs_that_write_one_file_run_in_any_order(self) -> None:
        anew = job("context_files: [a.rs]", writes="a.rs")
        assert [read_needs(entry) for entry in read({"a.md": anew, "b.md": anew}).entries] == [{}, {}]

    def test_a_job_that_only_reads_waits_for_one_that_edits(self) -> None:
        files = {
            "a.md": job("context_files: [x.rs]", writes="a.rs"),
            "b.md": job("mode: edit", "target_file: x.rs", writes="x.rs"),
        }
        assert list(read_needs(index_by_id(read(files))["a"])) == ["b"]

    def test_jobs_that_read_each_others_output_run_in_the_order_of_their_names(self) -> None:
        files = {
            "a.md": job("context_files: [a.rs, b.rs]", writes="a.rs"),
            "b.md": job("context_files: [a.rs, b.rs]", writes="b.rs"),
        }
        reading = read(files)
        found = index_by_id(reading)
        assert (list(read_needs(found["a"])), list(read_needs(found["b"]))) == ([], ["a"])
        assert format_problems(reading, Severity.INFO) == [
            "jobs/a.md:4: a and b use each other's files (b.rs): a goes first"
        ]
        assert build_checked_plan([entry.task for entry in reading.entries]).plan is not None

    def test_a_declared_dependency_decides_their_order(self) -> None:
        files = {
            "a.md": job("context_files: [b.rs]", "depends_on: [b]", writes="a.rs"),
            "b.md": job("context_files: [a.rs]", writes="b.rs"),
        }
        reading = read(files)
        found = index_by_id(reading)
        assert (list(read_needs(found["a"])), list(read_needs(found["b"]))) == (["b"], [])
        assert reading.problems == ()


class TestStatuses:
    @pytest.mark.parametrize(
        ("raw", "mark"),
        [
            ("created", SourceStatus.TODO),
            ("pending_work", SourceStatus.STUCK),
            ("pending_verification", SourceStatus.STUCK),
            ("pending_test", SourceStatus.STUCK),
            ("pass", SourceStatus.DONE),
            ("fail", SourceStatus.FAILED),
            ("partial", SourceStatus.PARTIAL),
        ],
    )
    def test_statuses_are_read(self, raw: str, mark: SourceStatus) -> None:
        entry = get_single(read({"a.md": job()}, [status("a", raw)]))
        assert (entry.status, entry.status_text, entry.since) == (
            mark,
            raw,
            datetime(2026, 1, 1, tzinfo=UTC),
        )

    def test_a_passed_job_stays_passed_when_its_file_is_unreadable(self) -> None:
        reading = read({"a.md": "# no keys\n", "b.md": "---\n: [\n---\n"}, [status("a", "pass"), status("b", "fail")])
        assert [entry.status for entry in reading.entries] == [SourceStatus.DONE, SourceStatus.UNREADABLE]

    def test_a_broken_file_is_an_error_because_passed_jobs_would_run_again(self) -> None:
        reading = read({"a.md": job()}, '[\n  {"id": "a", "status": "pass"\n')
        (problem,) = reading.problems
        assert problem.severity is Severity.ERROR
        assert str(problem.at).startswith(f"jobs/{STATUS}:")

    @pytest.mark.parametrize("text", ["{}", '"x"', "7"])
    def test_a_status_file_that_is_not_a_list_is_an_error(self, text: str) -> None:
        assert [problem.severity for problem in read({"a.md": job()}, text).problems] == [Severity.ERROR]

    def test_an_empty_status_file_has_no_statuses(self) -> None:
        assert read({"a.md": job()}, " \n").problems == ()

    def test_a_bad_entry_is_skipped_alone(self) -> None:
        reading = read({"a.md": job()}, [7, {"id": "b"}, status("c", "odd"), status("a", "pass", updated_at="soon")])
        assert (get_single(reading).status, get_single(reading).since) == (SourceStatus.DONE, None)
        assert len(format_problems(reading, Severity.WARNING)) == 3


LIST = """\
[
  {
    "id": "a",
    "status": "created",
    "created_at": "2026-01-01T00:00:00.123456789Z",
    "updated_at": "2026-01-01T00:00:00.123456789Z",
    "own": 1.50
  },
  {"id":"b","status":"fail","error":"too long","ran":true}
]
"""


def write(text: str, name: str, mark: SourceStatus, reason: str = "", *, verifying: bool = False) -> str:
    change = StatusChange(name, mark, NOW, f"jobs/{name}.md", "Do it", reason, verifying=verifying)
    (writer,) = JOBS.writers("jobs", [change])
    assert (writer.path, writer.creates) == (f"jobs/{STATUS}", True)
    rewrite = writer.apply(text, [change])
    assert writer.apply(rewrite.text, [change]).text == rewrite.text, "writing twice is writing once"
    assert rewrite.problems == ()
    return rewrite.text


class TestWriting:
    def test_a_started_job_is_pending_work(self) -> None:
        assert write(LIST, "a", SourceStatus.DOING) == LIST.replace('"created"', '"pending_work"', 1).replace(
            '"updated_at": "2026-01-01T00:00:00.123456789Z",\n    "own": 1.50',
            f'"updated_at": "{AT}",\n    "own": 1.50,\n    "ran": true',
        )

    def test_a_job_that_is_verified_is_pending_verification(self) -> None:
        begun = write(LIST, "a", SourceStatus.DOING)
        verified = write(begun, "a", SourceStatus.DOING, verifying=True)
        assert verified == begun.replace("pending_work", "pending_verification")
        assert write(verified, "a", SourceStatus.DOING) == begun
        assert (
            json.loads(write(LIST, "new", SourceStatus.DOING, verifying=True))[-1]["status"] == "pending_verification"
        )
        assert json.loads(write(verified, "a", SourceStatus.DONE, verifying=True))[0]["status"] == "pass"

    def test_a_job_that_another_run_left_pending_gets_the_time_of_this_start(self) -> None:
        left = LIST.replace('"created"', '"pending_work"', 1)
        assert json.loads(write(left, "a", SourceStatus.DOING))[0]["updated_at"] == AT

    def test_a_passed_job_loses_its_error(self) -> None:
        assert write(LIST, "b", SourceStatus.DONE) == LIST.replace(
            '"status":"fail","error":"too long","ran":true', f'"status":"pass","ran":true,"updated_at":"{AT}"'
        )

    @pytest.mark.parametrize(("mark", "raw"), [(SourceStatus.FAILED, "fail"), (SourceStatus.PARTIAL, "partial")])
    def test_a_failed_job_has_its_error(self, mark: SourceStatus, raw: str) -> None:
        first = json.loads(write(LIST, "a", mark, 'it said "no"'))[0]
        assert (first["status"], first["error"], first["ran"], first["own"]) == (
            raw,
            'it said "no"',
            True,
            1.5,
        )

    def test_a_reset_job_is_created_again(self) -> None:
        assert json.loads(write(LIST, "b", SourceStatus.TODO))[1]["status"] == "created"

    @pytest.mark.parametrize("mark", [SourceStatus.BLOCKED, SourceStatus.SKIPPED])
    def test_a_blocked_job_is_created_again(self, mark: SourceStatus) -> None:
        begun = write(LIST, "a", SourceStatus.DOING)
        assert json.loads(write(begun, "a", mark))[0]["status"] == "created"
        assert write(LIST, "b", mark) == LIST

    @pytest.mark.parametrize(
        ("name", "mark"), [("a", SourceStatus.TODO), ("b", SourceStatus.FAILED), ("new", SourceStatus.TODO)]
    )
    def test_an_unchanged_status_changes_nothing(self, name: str, mark: SourceStatus) -> None:
        assert write(LIST, name, mark, "another reason") == LIST

    def test_a_passed_job_is_not_set_back_by_a_start(self) -> None:
        passed = write(LIST, "a", SourceStatus.DONE)
        assert write(passed, "a", SourceStatus.DOING) == passed

    def test_a_missing_job_is_added_in_the_same_style(self) -> None:
        written = write(LIST, "new", SourceStatus.DOING)
        assert written.startswith(LIST.removesuffix("\n]\n"))
        assert written.removeprefix(LIST.removesuffix("\n]\n")) == (
            ',\n  {\n    "id": "new",\n    "status": "pending_work",\n'
            f'    "created_at": "{AT}",\n    "updated_at": "{AT}",\n    "ran": true\n  }}\n]\n'
        )

    @pytest.mark.parametrize("text", ["", " \n", "[]", "[ ]\n", '[{"id": "b"}]', "[7]"])
    def test_an_empty_or_missing_file_gets_the_job(self, text: str) -> None:
        last = json.loads(write(text, "new", SourceStatus.FAILED, "why"))[-1]
        assert (last["id"], last["status"], last["error"], last["ran"]) == ("new", "fail", "why", True)

    @pytest.mark.parametrize("text", ["{", "{}", "[1,"])
    def test_a_file_that_is_not_a_list_is_left_alone_and_reported(self, text: str) -> None:
        change = StatusChange("a", SourceStatus.DONE, NOW, "jobs/a.md")
        (writer,) = JOBS.writers("jobs", [change])
        rewrite = writer.apply(text, [change])
        assert rewrite.text == text
        assert len(rewrite.problems) == 1

    def test_jobs_of_another_folder_are_not_written(self) -> None:
        change = StatusChange("a", SourceStatus.DONE, NOW, "other/a.md")
        assert JOBS.writers("jobs", [change]) == []
        (writer,) = JOBS.writers("other/a.md", [change])
        assert writer.path == f"other/{STATUS}"


class TestDetection:
    def detect_confidence(self, folder: str, files: dict[str, str], *, named: bool = True) -> Confidence:
        return JOBS.detect(make_source_files("jobs", folder, files, named=named))

    def test_path_and_content_are_recognised(self) -> None:
        assert self.detect_confidence("x/jobs", {"a.md": job()}) is Confidence.NAME
        assert self.detect_confidence("x/jobs", {"a.md": "---\noutput_dir: x\n---\n"}) is Confidence.NAME
        assert self.detect_confidence("x/jobs", {"a.md": "# A\n", STATUS: "[]"}) is Confidence.NAME

    def test_content_alone_is_recognised(self) -> None:
        assert self.detect_confidence("work", {"_a.md": "# A\n", "b.md": job()}) is Confidence.CONTENT
        assert self.detect_confidence("work", {"b.md": job()}, named=False) is Confidence.CONTENT

    def test_a_folder_of_other_jobs_is_not_recognised(self) -> None:
        assert self.detect_confidence("x/jobs", {"a.md": "# Baker\n"}) is Confidence.NO


@st.composite
def _file(draw: st.DrawFn) -> str:
    keys = [
        "output_dir: src",
        "output_file: a.rs",
        "context_files: [src/a.rs, b]",
        "depends_on: [a, b]",
        "mode: edit",
        "target_files: src/a.rs",
        "output_files:\n  - src/b.rs",
        "sequential: true",
    ]
    return "\n".join(["---", *draw(st.lists(st.sampled_from(keys), unique=True)), "---", "# Do", "Text", ""])


_STATUSES = st.lists(
    st.builds(status, st.sampled_from("abc"), st.sampled_from(["created", "pass", "fail", "pending_work", "odd"]))
)


@given(
    mangled_texts(_file()),
    mangled_texts(_file()),
    mangled_texts(st.builds(lambda s: json.dumps(s, indent=1), _STATUSES)),
)
def test_no_text_makes_the_reader_raise(first: str, second: str, statuses: str) -> None:
    files = {"a.md": first, "b.md": second, STATUS: statuses}
    found = make_source_files("jobs", "jobs", files)
    JOBS.detect(found)
    reading = JOBS.read(found)
    assert [entry.task.id for entry in reading.entries] == ["a", "b"]
    for problem in reading.problems:
        assert problem.at is not None
        assert 1 <= problem.at.line <= len(TextLines(to_printable(files[problem.at.file.removeprefix("jobs/")]))) + 1
    changes = [StatusChange(name, SourceStatus.DONE, NOW, f"jobs/{name}.md") for name in "ab"]
    (writer,) = JOBS.writers("jobs", changes)
    assert writer.apply(statuses, ()).text == statuses
    writer.apply(statuses, changes)


@given(_STATUSES, st.sampled_from((None, 1, "\t")), st.sampled_from("abc"), st.sampled_from(list(SourceStatus)))
def test_writing_changes_no_other_job(
    statuses: list[dict[str, object]], indent: int | str | None, name: str, mark: SourceStatus
) -> None:
    text = json.dumps(statuses, indent=indent)
    written = json.loads(write(text, name, mark, "why"))
    assert [one for one in written if one["id"] != name] == [one for one in statuses if one["id"] != name]
    if mark in {SourceStatus.DONE, SourceStatus.FAILED, SourceStatus.PARTIAL}:
        assert get_single(read({f"{name}.md": job()}, written)).status is mark
