"""A folder of jobs, run for real: engine, worktrees, one branch, and a scripted server in the place of a model."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.model_job_bench import API_KEY, whole_file_answer
from tests.support.model_server.messages import ReceivedRequest, Reply
from tests.support.model_server.server import ModelServer
from tests.support.temp_project import TempProject, temp_project
from tests.support.waiting import TIMEOUT_SECONDS, wait_until

STATUS_FILE = "jobs/_jobstatus.json"
_WANTED = re.compile(r"~~~worksplit:(\S+)\nthe file, from its first line")


def obliging(request: ReceivedRequest) -> Reply | str:
    """Writes whatever is asked for, and finds it good."""
    wanted = _WANTED.findall(request.last_user_text)
    return whole_file_answer(wanted[-1], f"made for {wanted[-1]}") if wanted else "PASS"


@dataclass
class JobProject:
    project: TempProject
    server: ModelServer

    def job(self, name: str, output: str, text: str = "Write it.", **keys: object) -> None:
        front = {"output_dir": ".", "output_file": output, **keys}
        lines = "\n".join(f"{key}: {json.dumps(value)}" for key, value in front.items())
        self.project.write(f"jobs/{name}.md", f"---\n{lines}\n---\n# {name}\n\n{text}\n")

    def statuses(self) -> dict[str, str]:
        """As the jobs' own file tells them."""
        listed = json.loads(self.project.read(STATUS_FILE))
        return {one["id"]: one["status"] for one in listed}


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[JobProject]:
    with ModelServer(obliging) as server, temp_project(tmp_path, worktrees=True) as made:
        made.env |= {
            "PLAIT_MODEL_BASE_URL": f"{server.url}/v1",
            "PLAIT_MODEL_NAME": "scripted",
            "PLAIT_MODEL_KEY": "OFFICE_KEY",
            "OFFICE_KEY": API_KEY,
        }
        yield JobProject(made, server)


def test_jobs_become_one_branch_and_a_summary(jobs: JobProject) -> None:
    project = jobs.project
    project.write("src/base.py", "base = 1")
    jobs.job("01-one", "one.py", "Use `src/base.py`.")
    jobs.job("02-two", "two.py", context_files=["one.py"])
    jobs.job("03-out", "../three.py")
    project.commit_all()
    answer = project.plait("run", "jobs", "--retries", "0")
    assert project.statuses() == {"01-one": "done", "02-two": "done", "03-out": "failed"}, answer
    assert answer.code == 1
    merged = project.read_merged_files()
    assert (merged["one.py"], merged["two.py"]) == ("made for one.py", "made for two.py")
    assert not (project.top.parent / "three.py").exists()
    assert "jobs  3 processed · 2 passed · 1 failed · 0 skipped" in answer.out
    assert re.search(r"01-one  one\.py \(1 line\) · implicit context: .*src/base\.py", answer.out)
    assert jobs.statuses() == {"01-one": "pass", "02-two": "pass", "03-out": "fail"}
    second = next(request for request in jobs.server.requests if "# 02-two" in request.text)
    assert "made for one.py" in second.text
    assert API_KEY not in answer.out + answer.err


@pytest.mark.parametrize("isolation", ["worktree", "in-place"])
def test_the_printed_prompt_is_what_the_server_gets(jobs: JobProject, isolation: str) -> None:
    project = jobs.project
    project.write("src/base.py", "base = 1")
    project.write("jobs/_systemprompt_create.md", "Write tersely.")
    jobs.job("01-one", "one.py", "Use `src/base.py`.", context_files=["src/base.py"])
    project.commit_all()
    if isolation == "worktree":
        project.write("src/base.py", "base = 2  # not committed, so the model does not see it")
    project.env["PLAIT_ISOLATION"] = isolation
    shown = json.loads(project.plait("plan", "jobs", "--prompt", "01", "--json").out)
    text = project.plait("plan", "jobs", "--prompt", "01").out
    answer = project.plait("run", "jobs", "--retries", "0")
    assert jobs.server.requests, answer
    sent = jobs.server.requests[0]
    assert shown["messages"] == sent.body["messages"]
    assert text == f"# system\n\nWrite tersely.\n\n# user\n\n{sent.last_user_text}"
    assert "base = 1" in text


def test_a_target_that_is_also_context_is_shown_once_as_the_file_to_change(jobs: JobProject) -> None:
    project = jobs.project
    project.write("src/base.py", "base = 1")
    project.write("src/other.py", "other = 1")
    context = ["src/base.py", "./src/base.py", "src/other.py"]
    jobs.job("01-one", "src/base.py", mode="edit", target_files=["src/base.py"], context_files=context)
    project.commit_all()
    shown = project.plait("plan", "jobs", "--prompt", "01").out
    known, _, changed = shown.partition("## The files as they are now")
    assert shown.count("base = 1") == 1
    assert "base = 1" in changed
    assert "other = 1" in known
    assert "is not shown" not in shown


def test_json_output_lists_the_jobs(jobs: JobProject) -> None:
    jobs.job("01-one", "one.py")
    jobs.project.commit_all()
    jobs.server.queue_replies(Reply(""))
    answer = jobs.project.plait("run", "jobs", "--json")
    assert answer.code == 0, answer
    events = [json.loads(line) for line in answer.out.splitlines()]
    (result,) = [event for event in events if event["type"] == "batch:jobs"]
    assert (result["processed"], result["passed"], result["failed"], result["skipped"]) == (1, 1, 0, 0)
    (job,) = result["jobs"]
    assert job["outputs"] == [{"path": "one.py", "lines": 1}]
    assert (job["taskId"], job["retryUsed"], job["verdict"]) == ("01-one", True, "PASS")
    phases = [event["phase"] for event in events if event["type"] == "batch:task:phase"]
    assert phases == ["preflight", "writing", "verification"]
    assert API_KEY not in answer.out


def test_stuck_jobs_are_retried_only_on_request(jobs: JobProject) -> None:
    jobs.job("01-one", "one.py")
    jobs.job("02-two", "two.py")
    stuck = [{"id": "01-one", "status": "pending_verification", "ran": True}]
    jobs.project.write(STATUS_FILE, json.dumps(stuck))
    jobs.project.commit_all()
    jobs.project.plait("run", "jobs")
    assert jobs.statuses() == {"01-one": "pending_verification", "02-two": "pass"}
    answer = jobs.project.plait("run", "jobs", "--resume", "--agent", "model", "--model", "scripted")
    assert answer.code == 0, answer
    assert jobs.statuses() == {"01-one": "pass", "02-two": "pass"}


def test_a_job_that_depends_on_a_stuck_one_is_left_out_and_the_others_run(jobs: JobProject) -> None:
    jobs.job("01-one", "one.py")
    jobs.job("02-two", "two.py", context_files=["one.py"])
    jobs.job("03-three", "three.py", depends_on=["02-two"])
    jobs.job("04-four", "four.py")
    jobs.project.write(STATUS_FILE, json.dumps([{"id": "01-one", "status": "pending_work", "ran": True}]))
    jobs.project.commit_all()
    answer = jobs.project.plait("run", "jobs")
    assert answer.code == 0, answer
    assert jobs.statuses() == {"01-one": "pending_work", "04-four": "pass"}
    assert "02-two needs 01-one, which was interrupted (pending_work): left out" in answer.out + answer.err
    assert "03-three needs 02-two, which is left out: left out" in answer.out + answer.err
    selected = jobs.project.plait("run", "jobs", "--select", "02")
    assert (selected.code, "which was interrupted" in selected.out + selected.err) == (2, True), selected
    answer = jobs.project.plait("run", "jobs", "--resume")
    assert answer.code == 0, answer
    assert set(jobs.statuses().values()) == {"pass"}


def test_the_summary_lists_every_job_with_its_error_and_its_tests_apart(jobs: JobProject) -> None:
    jobs.job("01-one", "one.py", test_file="test_one.py")
    jobs.job("02-out", "../two.py")
    jobs.job("03-three", "three.py", depends_on=["02-out"])
    jobs.project.commit_all()
    answer = jobs.project.plait("run", "jobs", "--retries", "0")
    _, _, listed = answer.out.partition("\n  jobs  ")
    first, second, third = listed.splitlines()[1:4]
    assert first.startswith("    01-one    one.py (1 line) · tests: test_one.py (1 line)")
    assert re.match(r"    02-out    failed: .*two\.py", second)
    assert re.match(r"    03-three  blocked.*02-out", third)


def test_json_output_has_the_error_of_a_job_and_its_tests_apart(jobs: JobProject) -> None:
    jobs.job("01-one", "one.py", test_file="test_one.py")
    jobs.job("02-out", "../two.py")
    jobs.project.commit_all()
    answer = jobs.project.plait("run", "jobs", "--retries", "0", "--json")
    (result,) = [event for event in map(json.loads, answer.out.splitlines()) if event["type"] == "batch:jobs"]
    first, second = result["jobs"]
    assert (first["outputs"], first["tests"]) == (
        [{"path": "one.py", "lines": 1}],
        [{"path": "test_one.py", "lines": 1}],
    )
    assert (first["error"], "two.py" in second["error"]) == (None, True)


def test_without_a_server_no_job_and_no_check_is_started(jobs: JobProject) -> None:
    jobs.job("01-one", "one.py")
    jobs.project.commit_all()
    jobs.project.env |= {"PLAIT_MODEL_BASE_URL": "http://127.0.0.1:1/v1", "PLAIT_PREFLIGHT": "true"}
    words = ("run", "jobs", "--retries", "0", "--verify", "touch ../ran")
    answer = jobs.project.plait(*words)
    assert answer.code == 2, answer
    assert "nothing answers at http://127.0.0.1:1/v1: start the model server" in answer.err
    assert not jobs.project.state().batches
    assert "Checking verify" not in answer.out + answer.err
    assert jobs.project.plait(*words, "--no-preflight").code == 1
    assert jobs.project.statuses() == {"01-one": "failed"}


def test_with_a_server_that_answers_the_preflight_starts_the_jobs(jobs: JobProject) -> None:
    jobs.job("01-one", "one.py")
    jobs.project.commit_all()
    jobs.project.env["PLAIT_PREFLIGHT"] = "true"
    missing = jobs.project.plait("run", "jobs", "--model", "absent")
    assert (missing.code, "Ollama has no model absent: ollama pull absent" in missing.err) == (2, True), missing
    answer = jobs.project.plait("run", "jobs")
    assert answer.code == 0, answer


def test_the_status_file_tells_that_a_job_is_written_and_then_verified(jobs: JobProject) -> None:
    seen = {"Write": threading.Event(), "Verify": threading.Event()}

    def wait_for_reader(request: ReceivedRequest) -> Reply | str:
        seen["Write" if _WANTED.search(request.last_user_text) else "Verify"].wait(TIMEOUT_SECONDS)
        return obliging(request)

    project = jobs.project
    jobs.job("01-one", "one.py")
    left = {"id": "01-one", "status": "pending_work", "updated_at": "2020-01-01T00:00:00Z"}
    project.write(STATUS_FILE, json.dumps([left]))
    project.commit_all()
    with ModelServer(wait_for_reader) as server:
        project.env["PLAIT_MODEL_BASE_URL"] = f"{server.url}/v1"
        run = project.start("run", "jobs", "--resume")
        wait_until(lambda: "2020" not in project.read(STATUS_FILE))
        assert jobs.statuses() == {"01-one": "pending_work"}
        seen["Write"].set()
        project.wait_for_file(STATUS_FILE, holds="pending_verification")
        seen["Verify"].set()
        answer = project.finish(run)
    assert answer.code == 0, answer
    assert jobs.statuses() == {"01-one": "pass"}


def test_fail_fast_stops_the_other_jobs(jobs: JobProject) -> None:
    jobs.job("01-one", "one.py")
    jobs.job("02-two", "two.py", depends_on=["01-one"])
    jobs.job("03-three", "three.py")
    jobs.project.commit_all()
    jobs.server.queue_replies(whole_file_answer("one.py", "x"), "FAIL_HARD\nno", of=API_KEY)
    words = ("--stop-on-fail", "--retries", "0", "--max-parallel", "1")
    answer = jobs.project.plait("run", "jobs", *words)
    assert answer.code == 1
    assert jobs.project.statuses() == {"01-one": "failed", "02-two": "blocked", "03-three": "skipped"}
    assert "jobs  1 processed · 0 passed · 1 failed · 2 skipped" in answer.out


def test_without_a_limit_all_jobs_run_at_once(jobs: JobProject) -> None:
    for number in range(6):
        jobs.job(f"0{number}-job", f"{number}.py")
    jobs.project.commit_all()
    jobs.server.set_faults("hang")
    run = jobs.project.start("run", "jobs", "--max-parallel", "0")
    jobs.server.wait_until(lambda: len(jobs.server.requests) == 6)
    (batch,) = jobs.project.state().batches
    jobs.project.plait("cancel", batch)
    assert jobs.project.finish(run).code == 1
    jobs.project.wait_for_exit()


def test_cancelling_leaves_no_process(jobs: JobProject) -> None:
    jobs.job("01-one", "one.py")
    jobs.project.commit_all()
    jobs.server.set_faults("stall")
    run = jobs.project.start("run", "jobs")
    jobs.server.wait_until(lambda: len(jobs.server.requests) == 1)
    (batch,) = jobs.project.state().batches
    assert jobs.project.plait("cancel", batch).code == 0
    jobs.project.finish(run)
    jobs.project.wait_for_exit()
    assert jobs.project.statuses() == {"01-one": "cancelled"}


def test_a_rate_limit_opens_the_breaker_and_uses_up_no_retry(jobs: JobProject) -> None:
    jobs.job("01-one", "one.py")
    jobs.project.commit_all()
    jobs.server.set_faults("429:1;after=1")
    answer = jobs.project.plait("run", "jobs", "--json", "--retries", "0")
    assert answer.code == 0, answer
    events = [json.loads(line) for line in answer.out.splitlines()]
    limits = [event for event in events if event["type"] == "limit:opened"]
    (limit,) = [limit for limit in limits if limit["provider"] != "machine"]  # which may be busy
    assert limit["provider"] == jobs.server.url.removeprefix("http://")
    assert [event["counted"] for event in events if event["type"] == "batch:task:retry"] == [False]


def test_a_wrong_key_is_not_retried(jobs: JobProject) -> None:
    jobs.job("01-one", "one.py")
    jobs.project.commit_all()
    jobs.server.set_faults("401")
    answer = jobs.project.plait("run", "jobs")
    assert answer.code == 1
    assert len(jobs.server.requests) == 1
    assert "[model] key" in answer.out


def test_a_budget_in_tokens_holds(jobs: JobProject) -> None:
    """Each job uses twice 1,280 of the 3,000 tokens; a job that would exceed them waits for a person."""
    jobs.job("01-one", "one.py")
    jobs.job("02-two", "two.py")
    jobs.project.commit_all()
    answer = jobs.project.plait("run", "jobs", "--budget", "3000tok", "--max-parallel", "1")
    assert answer.code == 3, answer
    done = [status for status in jobs.project.statuses().values() if status == "done"]
    assert len(done) == 1
    assert jobs.project.batch().spent.tokens == 2560
    assert "2,560 tokens" in answer.out


def test_a_failed_verification_goes_back_to_the_model_as_feedback(jobs: JobProject) -> None:
    jobs.job("01-one", "one.py")
    jobs.project.commit_all()
    answer = jobs.project.plait(
        "run",
        "jobs",
        "--verify",
        "grep better one.py || { echo it must be better; exit 1; }",
        "--retries",
        "1",
    )
    assert answer.code == 1
    again = [request for request in jobs.server.requests if "it must be better" in request.text]
    assert again
