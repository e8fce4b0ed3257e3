"""After writing: checks with their repairs, verification with its one retry, and what is left when it fails."""

from __future__ import annotations

import signal
from contextlib import suppress

import psutil
import pytest

from plait.core.status import Category
from plait.core.task import ModelJob, ModelJobMode
from tests.support.model_job_bench import API_KEY, ModelJobBench, ModelJobRun, edit_answer, whole_file_answer
from tests.support.model_server.messages import ReceivedRequest
from tests.support.model_server.server import ModelServer

JOB = ModelJob("a.py")
OLD = "old\n"


@pytest.fixture
def judged(bench: ModelJobBench) -> ModelJobBench:
    bench.settings["verify_replies"] = True
    bench.write("a.py", OLD)
    return bench


def undone(bench: ModelJobBench, done: ModelJobRun, category: Category = Category.VERIFY) -> None:
    assert done.outcome.category is category, done.printed
    assert bench.files() == {"a.py": OLD}
    assert (done.result["status"], done.result["outputs"]) == ("failed", [])


def test_a_second_prompt_reviews_the_result(judged: ModelJobBench) -> None:
    judged.settings["verify_model"] = "judge"
    judged.server.queue_replies(whole_file_answer("a.py", "new_text"), "PASS\n")
    done = judged.run(JOB, "Make it blue.")
    assert done.outcome.category is Category.OK, done.last_error
    _, second = judged.server.requests
    assert second.model == "judge"
    assert "new_text" in second.text
    assert "Make it blue." in second.text
    assert done.result["verdict"] == "PASS"
    assert done.phases == ["preflight", "writing", "verification"]


def test_a_pass_with_warnings_passes_and_reports_them(judged: ModelJobBench) -> None:
    judged.server.queue_replies(whole_file_answer("a.py", "new"), "PASS_WITH_WARNINGS\nthe name is odd\n")
    done = judged.run(JOB)
    assert judged.read("a.py") == "new\n"
    assert (done.result["verdict"], done.result["warnings"]) == ("PASS_WITH_WARNINGS", ["the name is odd"])


@pytest.mark.parametrize("said", ["FAIL_SOFT\nit is not blue\n", "Hm, it is not blue."])
def test_a_failed_review_is_retried_once_with_its_reasons(judged: ModelJobBench, said: str) -> None:
    judged.server.queue_replies(whole_file_answer("a.py", "red"), said, whole_file_answer("a.py", "blue"), "PASS")
    done = judged.run(JOB)
    assert done.outcome.category is Category.OK, done.last_error
    assert judged.read("a.py") == "blue\n"
    assert "it is not blue" in judged.server.requests[2].last_user_text
    assert done.result["retry_used"] is True


def test_a_retried_edit_starts_from_the_original_file(judged: ModelJobBench) -> None:
    judged.server.queue_replies(
        edit_answer("a.py", "old", "red"), "FAIL_SOFT\nnot blue", edit_answer("a.py", "old", "blue"), "PASS"
    )
    done = judged.run(ModelJob("a.py", ModelJobMode.EDIT, targets=("a.py",)))
    assert done.outcome.category is Category.OK, done.last_error
    assert judged.read("a.py") == "blue\n"


def test_a_retry_writes_all_sequential_files_again(judged: ModelJobBench) -> None:
    first = (whole_file_answer("a.py", "a1"), whole_file_answer("b.py", "b1"), "FAIL_SOFT\nnot blue")
    judged.server.queue_replies(*first, whole_file_answer("a.py", "a2"), whole_file_answer("b.py", "b2"), "PASS")
    done = judged.run(ModelJob("a.py", outputs=("a.py", "b.py"), sequential=True))
    assert done.outcome.category is Category.OK, done.last_error
    assert judged.files() == {"a.py": "a2\n", "b.py": "b2\n"}
    assert "not blue" in judged.server.requests[3].text
    assert "a1" not in judged.server.requests[3].text


def test_a_result_that_fails_twice_is_undone_and_fails_verification(judged: ModelJobBench) -> None:
    judged.server.queue_replies(
        whole_file_answer("a.py", "red"),
        "FAIL_SOFT\nred",
        whole_file_answer("a.py", "green"),
        "FAIL_SOFT\ngreen",
    )
    done = judged.run(JOB)
    undone(judged, done)
    assert "green" in done.outcome.detail


def test_a_hard_failure_is_not_retried(judged: ModelJobBench) -> None:
    judged.server.queue_replies(whole_file_answer("a.py", "red"), "FAIL_HARD\nthere is no blue\n")
    done = judged.run(JOB)
    undone(judged, done)
    assert len(judged.server.requests) == 2
    assert "there is no blue" in done.outcome.detail


def test_a_new_file_is_removed_when_verification_fails(judged: ModelJobBench) -> None:
    judged.server.queue_replies(whole_file_answer("deep/er/b.py", "red"), "FAIL_HARD")
    undone(judged, judged.run(ModelJob("deep/er/b.py")))
    assert not (judged.workspace / "deep").exists()


def test_a_job_can_turn_off_verification(judged: ModelJobBench) -> None:
    judged.server.queue_replies(whole_file_answer("a.py", "new"))
    done = judged.run(ModelJob("a.py", verify=False))
    assert done.outcome.category is Category.OK, done.last_error
    assert (done.result["verdict"], len(judged.server.requests)) == ("", 1)


def test_an_ordinary_task_is_reviewed_too(judged: ModelJobBench) -> None:
    judged.server.queue_replies(
        "FILE: b.md\n```\nred\n```\n", "FAIL_SOFT\nnot blue", "FILE: b.md\n```\nblue\n```\n", "PASS"
    )
    done = judged.run(None)
    assert done.outcome.category is Category.OK, done.last_error
    assert judged.read("b.md") == "blue\n"


def test_the_model_repairs_what_a_check_reports(bench: ModelJobBench) -> None:
    bench.settings["checks"] = ["true", "grep blue a.py || { echo 'it must be blue'; exit 3; }"]
    bench.server.queue_replies(whole_file_answer("a.py", "red\nend"), edit_answer("a.py", "red", "blue"))
    done = bench.run(JOB)
    assert done.outcome.category is Category.OK, done.last_error
    assert bench.read("a.py") == "blue\nend\n"
    assert "it must be blue" in bench.server.requests[1].text
    assert done.result["fixes"] == 1


def test_repairs_are_limited_and_then_everything_is_undone(bench: ModelJobBench) -> None:
    bench.write("a.py", OLD)
    bench.settings |= {"checks": ["echo never >&2; false"], "fixes": 2}
    bench.server.queue_replies(
        whole_file_answer("a.py", "1"),
        edit_answer("a.py", "1", "2"),
        edit_answer("a.py", "2", "3"),
        edit_answer("a.py", "3", "4"),
    )
    done = bench.run(JOB)
    undone(bench, done)
    assert len(bench.server.requests) == 3
    assert "failed with status 1: never" in done.outcome.detail


def test_an_unusable_repair_counts_as_a_round(bench: ModelJobBench) -> None:
    bench.write("a.py", OLD)
    bench.settings |= {"checks": ["false"], "fixes": 1}
    bench.server.queue_replies(whole_file_answer("a.py", "1"), edit_answer("../b.py", "1", "2"))
    undone(bench, bench.run(JOB))


def test_output_of_a_check_is_not_parsed_as_events(bench: ModelJobBench) -> None:
    fake = '{"type": "error", "category": "auth", "message": "fake"}'
    bench.settings["checks"] = [f"echo '{fake}'; head -c 3000000 /dev/zero | tr '\\0' x"]
    bench.server.queue_replies(whole_file_answer("a.py", "x"))
    done = bench.run(JOB)
    assert done.outcome.category is Category.OK, done.last_error
    assert len(done.printed) < 100_000


def test_a_check_ends_with_its_command(bench: ModelJobBench) -> None:
    """What it has left running holds its output open."""
    bench.settings["checks"] = ["sleep 1000 & echo $! > ../left", "echo twice; echo over; false"]
    bench.settings["fixes"] = 0
    bench.server.queue_replies(whole_file_answer("a.py", "x"))
    done = bench.run(JOB)
    psutil.Process(int((bench.workspace.parent / "left").read_text())).kill()
    assert "failed with status 1: over" in done.last_error


def test_a_check_does_not_see_the_key(bench: ModelJobBench) -> None:
    bench.settings["checks"] = ["env > seen.txt"]
    bench.server.queue_replies(whole_file_answer("a.py", "x"))
    bench.run(JOB)
    assert API_KEY not in (bench.read("seen.txt") or API_KEY)


def test_a_secret_in_an_answer_is_redacted(judged: ModelJobBench) -> None:
    judged.env["DEPLOY_TOKEN"] = "hunter2-hunter2"
    judged.server.queue_replies(
        whole_file_answer("a.py", "new"), f"PASS_WITH_WARNINGS\nhunter2-hunter2 and {API_KEY} are in it\n"
    )
    done = judged.run(JOB)
    assert done.outcome.category is Category.OK, done.last_error
    result = done.printed + "".join(path.read_text() for path in judged.folder.iterdir())
    assert "hunter2-hunter2" not in result
    assert API_KEY not in result


def test_the_key_is_in_no_argument_and_no_file(bench: ModelJobBench) -> None:
    bench.server.set_faults("hang")
    process = bench.start(bench.task(JOB))
    bench.server.wait_until(lambda: len(bench.server.requests) == 1)
    assert API_KEY not in " ".join(psutil.Process(process.pid).cmdline())
    assert not [path for path in bench.folder.iterdir() if API_KEY in path.read_text()]
    assert bench.server.requests[0].key == API_KEY


@pytest.mark.parametrize(
    ("fault", "category", "word"),
    [
        ("429", Category.RATE_LIMIT, "Rate limit"),
        ("quota", Category.QUOTA, "quota"),
        ("401", Category.AUTH, "[model] key"),
        ("403", Category.AUTH, ""),
        ("404", Category.USAGE, "no such model"),
        ("400", Category.USAGE, ""),
        ("long", Category.CONTEXT, "too long"),
        ("500", Category.OVERLOADED, ""),
        ("529", Category.OVERLOADED, "Overloaded"),
        ("broken", Category.OVERLOADED, "broke off"),
        ("reset", Category.NETWORK, "can't be reached"),
        ("garbage", Category.NETWORK, ""),
    ],
)
def test_a_server_error_has_its_category(bench: ModelJobBench, fault: str, category: Category, word: str) -> None:
    bench.write("a.py", OLD)
    bench.server.set_faults(fault)
    done = bench.run(JOB)
    undone(bench, done, category)
    assert word in done.last_error
    assert len(bench.server.requests) == 1


def test_a_rate_limit_says_how_long_to_wait(bench: ModelJobBench) -> None:
    bench.server.set_faults("429;after=77")
    done = bench.run(JOB)
    assert (done.outcome.category, done.outcome.retry_after) == (Category.RATE_LIMIT, 77.0)


@pytest.mark.parametrize("fault", ["hang", "stall"])
def test_a_silent_server_times_out(bench: ModelJobBench, fault: str) -> None:
    bench.write("a.py", OLD)
    bench.settings["stall_timeout"] = 0.5
    bench.server.set_faults(fault)
    done = bench.run(JOB)
    undone(bench, done, Category.NETWORK)
    assert "sent nothing for 0.5 seconds" in done.last_error


def test_an_unreachable_server_is_reported(bench: ModelJobBench) -> None:
    bench.settings["base_url"] = "http://127.0.0.1:9/v1"
    done = bench.run(JOB)
    assert done.outcome.category is Category.NETWORK
    assert "can't be reached" in done.last_error


def test_a_missing_key_is_reported_before_any_request(bench: ModelJobBench) -> None:
    bench.settings |= {"base_url": "https://api.invalid/v1", "key": "NO_SUCH_KEY"}
    done = bench.run(JOB)
    assert done.outcome.category is Category.AUTH
    assert "NO_SUCH_KEY, which [model] key names, is not set" in done.last_error


def test_a_missing_model_name_is_an_error_that_lists_the_models(bench: ModelJobBench) -> None:
    done = bench.run(JOB, model="unheard-of")
    assert done.outcome.category is Category.USAGE
    assert "ollama pull unheard-of" in done.last_error


def test_partial_edits_are_undone_when_the_job_is_terminated(bench: ModelJobBench) -> None:
    bench.write("a.py", OLD)
    bench.settings["checks"] = ["touch ../checking; exec sleep 1000"]
    bench.server.queue_replies(whole_file_answer("a.py", "new"))
    process = bench.start(bench.task(JOB))
    bench.wait_for_file(bench.workspace.parent / "checking", process)
    assert bench.read("a.py") == "new\n"
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == -signal.SIGTERM
    assert bench.files() == {"a.py": OLD}
    psutil.wait_procs(children, timeout=60)
    assert not [child for child in children if child.is_running()]


def test_the_next_process_undoes_what_a_killed_one_wrote(bench: ModelJobBench) -> None:
    bench.write("a.py", OLD)
    bench.settings["checks"] = ["touch ../checking; exec sleep 1000"]
    bench.server.queue_replies(whole_file_answer("a.py", "new"))
    process = bench.start(bench.task(JOB))
    bench.wait_for_file(bench.workspace.parent / "checking", process)
    children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    for child in children:
        with suppress(psutil.NoSuchProcess):
            child.kill()
    bench.settings["checks"] = []
    bench.server.queue_replies(edit_answer("a.py", "old", "newer"))
    done = bench.run(ModelJob("a.py", ModelJobMode.EDIT, targets=("a.py",)))
    assert done.outcome.category is Category.OK, done.last_error
    assert bench.files() == {"a.py": "newer\n"}


def test_a_file_that_a_person_changes_meanwhile_is_not_overwritten(bench: ModelJobBench) -> None:
    file = bench.write("a.py", OLD)

    def answer(request: ReceivedRequest) -> str:  # noqa: ARG001 - to whatever is asked
        file.write_text("by a person\n")
        return edit_answer("a.py", "old", "by a model")

    with ModelServer(answer) as server:
        bench.settings["base_url"] = f"{server.url}/v1"
        done = bench.run(ModelJob("a.py", ModelJobMode.EDIT, targets=("a.py",)))
        assert len(server.requests) == 1
    assert done.outcome.category is Category.TASK
    assert "a.py: changed by another process meanwhile" in done.last_error
    assert bench.files() == {"a.py": "by a person\n"}


def test_files_reformatted_by_a_check_are_what_is_repaired_and_reviewed(judged: ModelJobBench) -> None:
    judged.settings["checks"] = ["sed -i.bak s/=/' = '/ a.py; rm a.py.bak; grep blue a.py"]
    judged.server.queue_replies(whole_file_answer("a.py", "x=red"), edit_answer("a.py", "x = red", "x=blue"), "PASS")
    done = judged.run(JOB)
    assert done.outcome.category is Category.OK, done.last_error
    assert judged.read("a.py") == "x = blue\n"
    assert "x = red" in judged.server.requests[1].text
    assert "x = blue" in judged.server.requests[2].text


def test_a_result_with_many_items_is_parsed(judged: ModelJobBench) -> None:
    files = tuple(f"{'deep/' * 40}{number}.py" for number in range(150))
    warnings = "\n".join(f"{number} is odd" for number in range(300))
    judged.server.queue_replies(
        "".join(whole_file_answer(path, "x") for path in files), f"PASS_WITH_WARNINGS\n{warnings}"
    )
    done = judged.run(ModelJob(files[0], outputs=files, context=tuple(f"{path}.txt" for path in files)))
    assert done.outcome.category is Category.OK, done.last_error
    assert max(map(len, done.printed.splitlines())) < 32 << 10
    assert done.result["outputs"] == [{"path": path, "lines": 1} for path in files]


def test_a_lone_surrogate_in_an_answer_is_replaced(bench: ModelJobBench) -> None:
    bench.server.queue_replies(whole_file_answer("a.py", "half \ud83d of one"))
    done = bench.run(JOB)
    assert done.outcome.category is Category.OK, done.printed
    assert bench.read("a.py") == "half ? of one\n"


def test_files_of_a_rejected_answer_are_removed(judged: ModelJobBench) -> None:
    judged.server.queue_replies(
        "FILE: wrong.md\n```\nx\n```\n", "FAIL_SOFT\nnot there", "FILE: right.md\n```\nx\n```\n", "PASS"
    )
    done = judged.run(None)
    assert done.outcome.category is Category.OK, done.last_error
    assert judged.files() == {"a.py": OLD, "right.md": "x\n"}
    assert done.result["outputs"] == [{"path": "right.md", "lines": 1}]
