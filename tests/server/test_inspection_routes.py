"""Logs, diffs and explanations over HTTP."""

from __future__ import annotations

import json
import os
import re

import httpx
import pytest

from tests.support.running_server import RunningServer, quote_task_id
from tests.support.waiting import wait_until

WAIT = "while [ ! -e go ]; do sleep 0.05; done"
SECRET = "correct-horse-battery-staple"


def read_log(server: RunningServer, batch: str, task: str, **query: object) -> httpx.Response:
    params = {name.rstrip("_"): str(value) for name, value in query.items()}
    answer = server.client.get(f"/api/batches/{batch}/tasks/{quote_task_id(task)}/log", params=params)
    assert answer.status_code == 200, answer.text
    return answer


def read_whole_log(server: RunningServer, batch: str, task: str, **query: object) -> str:
    """All of it, page by page."""
    text, at = "", 0
    while True:
        answer = read_log(server, batch, task, from_=at, **query)
        assert int(answer.headers["Plait-Offset"]) == at
        text, at = text + answer.text, int(answer.headers["Plait-Next"])
        if answer.headers["Plait-Ended"] == "true":
            return text


def test_a_log_is_read_from_an_offset(server: RunningServer) -> None:
    server.project.task("01-walls", "echo first; echo 'second <b>'")
    batch = server.run("01-walls")
    server.wait_until_finished(batch)
    answer = read_log(server, batch, "01-walls")
    assert answer.text == "first\nsecond <b>\n"
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["Plait-Attempt"] == "write-1"
    assert [answer.headers[name] for name in ("Plait-Offset", "Plait-Next", "Plait-Ended")] == [
        "0",
        "17",
        "true",
    ]
    assert read_log(server, batch, "01-walls", from_=6).text == "second <b>\n"
    assert read_log(server, batch, "01-walls", from_=-4).text == "<b>\n"
    inside = read_log(server, batch, "01-walls", from_=3)
    assert (inside.text, inside.headers["Plait-Offset"]) == ("st\nsecond <b>\n", "3")
    beyond = read_log(server, batch, "01-walls", from_=10**12)
    assert (beyond.text, beyond.headers["Plait-Next"]) == ("", "17")


def test_without_a_step_the_log_is_that_of_the_check_that_failed(server: RunningServer) -> None:
    server.project.task("01-walls", "echo written")
    for verify, text in (("echo checked; exit 3", "checked\n"), ("no-such-program-of-plait", "not found")):
        batch = server.run("01-walls", settings={"retries": 0, "verify": verify})
        server.wait_until_finished(batch)
        answer = read_log(server, batch, "01-walls")
        assert text in answer.text
        assert answer.headers["Plait-Attempt"] == "verify-1"
        assert read_log(server, batch, "01-walls", step="write").text == "written\n"
        assert read_log(server, batch, "01-walls", attempt=1).text == "written\n"


def test_an_unfinished_line_is_sent_when_it_is_complete(server: RunningServer) -> None:
    server.project.task("01-walls", f"echo first; printf half; touch here; {WAIT}; echo ' and half'")
    batch = server.run("01-walls")
    server.project.wait_for_file("here")
    wait_until(lambda: read_log(server, batch, "01-walls").text)
    running = read_log(server, batch, "01-walls")
    assert running.text == "first\n"
    assert running.headers["Plait-Ended"] == "false"
    server.project.write("go", "")
    server.wait_until_finished(batch)
    rest = read_log(server, batch, "01-walls", from_=running.headers["Plait-Next"])
    assert (rest.text, rest.headers["Plait-Ended"]) == ("half and half\n", "true")


def test_a_long_log_is_sent_in_pages_of_limited_size(server: RunningServer) -> None:
    server.project.task("01-walls", "seq -w 1 400000")
    batch = server.run("01-walls")
    server.wait_until_finished(batch)
    assert len(read_log(server, batch, "01-walls", limit=65536).content) <= 65536
    assert read_whole_log(server, batch, "01-walls").split() == [f"{number:06}" for number in range(1, 400_001)]


def test_a_line_longer_than_a_page_is_sent_in_parts(server: RunningServer) -> None:
    server.project.task("01-walls", "echo first; head -c 200000 /dev/zero | tr '\\0' x; echo; echo last")
    batch = server.run("01-walls")
    server.wait_until_finished(batch)
    ends = [read_log(server, batch, "01-walls", limit=65536, from_=at) for at in (0, 6, 6 + 65536)]
    assert [(each.headers["Plait-Next"], each.headers["Plait-Ended"]) for each in ends] == [
        ("6", "false"),
        (str(6 + 65536), "false"),
        (str(6 + 2 * 65536), "false"),
    ]
    assert read_whole_log(server, batch, "01-walls", limit=65536) == f"first\n{'x' * 200_000}\nlast\n"
    assert ends[1].headers["Content-Encoding"] == "gzip"


def test_secrets_are_redacted_at_every_offset(fresh_server: RunningServer) -> None:
    os.environ["MY_SECRET_KEY"] = SECRET
    key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n"
    fresh_server.project.write("key", key)
    fresh_server.project.task("01-walls", 'echo "it is $MY_SECRET_KEY."; cat key')
    batch = fresh_server.run("01-walls")
    assert fresh_server.wait_until_finished(batch)["status"] == "completed"
    size = int(read_log(fresh_server, batch, "01-walls").headers["Plait-Next"])
    assert size > len(SECRET) + len(key)
    for start in range(size):
        text = read_log(fresh_server, batch, "01-walls", from_=start).text
        assert not any(word in text for word in (SECRET, SECRET[6:], "MIIEvQ", "BKcwgg", "VJTUt"))


def test_a_log_is_returned_as_events(server: RunningServer) -> None:
    server.project.task("01-walls", "echo one; echo; echo two")
    batch = server.run("01-walls")
    server.wait_until_finished(batch)
    answer = read_log(server, batch, "01-walls", format="events")
    events = [json.loads(line) for line in answer.text.splitlines()]
    assert [(each["type"], each["offset"], each["entry"]) for each in events] == [
        ("execution:log", 0, {"kind": "activity", "text": "one"}),
        ("execution:log", 5, {"kind": "activity", "text": "two"}),
    ]
    assert {each["batchId"] for each in events} == {batch}


def test_long_lines_are_whole_in_events(server: RunningServer) -> None:
    words = " ".join(f"word{number}" for number in range(200))
    server.project.task("01-walls", f"echo {words}")
    batch = server.run("01-walls")
    server.wait_until_finished(batch)
    event = json.loads(read_log(server, batch, "01-walls", format="events").text)
    assert event["entry"]["text"] == words


def test_the_end_of_a_long_last_line_is_an_event(fresh_server: RunningServer) -> None:
    os.environ["MY_SECRET_KEY"] = SECRET
    fill = "head -c 3000000 /dev/zero | tr '\\0' x"
    fresh_server.project.task("01-walls", f'echo first; {fill}; echo " ends with $MY_SECRET_KEY."')
    batch = fresh_server.run("01-walls")
    fresh_server.wait_until_finished(batch)
    size = int(read_log(fresh_server, batch, "01-walls", from_=10**12).headers["Plait-Next"])
    answer = read_log(fresh_server, batch, "01-walls", from_=size - 10_000, format="events")
    skipped, end = (json.loads(line) for line in answer.text.splitlines())
    assert (skipped["offset"], skipped["entry"]) == (size - 10_000, {"kind": "skipped", "bytes": 10_000})
    assert end["entry"]["text"].startswith("\N{HORIZONTAL ELLIPSIS} xxx")
    assert " ends with " in end["entry"]["text"]
    assert SECRET not in end["entry"]["text"]


def test_a_log_has_no_carriage_returns_before_line_ends(server: RunningServer) -> None:
    server.project.task("01-walls", "printf 'one\\r\\ntwo\\r\\r\\n'; echo three")
    batch = server.run("01-walls")
    server.wait_until_finished(batch)
    answer = read_log(server, batch, "01-walls")
    assert (answer.text, answer.headers["Plait-Next"]) == ("one\ntwo\nthree\n", "17")
    events = [json.loads(line) for line in read_log(server, batch, "01-walls", format="events").text.splitlines()]
    assert [(each["offset"], each["entry"]["text"]) for each in events] == [(0, "one"), (5, "two"), (11, "three")]


def test_a_log_is_chosen_by_attempt_and_step(server: RunningServer) -> None:
    server.project.task("01-walls", "echo attempt $PLAIT_ATTEMPT; test -e go || { touch go; exit 1; }")
    batch = server.run("01-walls", settings={"verify": "echo checked", "retries": 0})
    server.wait_until_finished(batch)
    server.post(f"/api/batches/{batch}/retry")
    server.wait_until_finished(batch)
    assert read_log(server, batch, "01-walls", attempt=1).text == "attempt 1\n"
    assert read_log(server, batch, "01-walls").text == "attempt 2\n"
    assert read_log(server, batch, "01-walls", step="verify").text == "checked\n"
    path = f"/api/batches/{batch}/tasks/01-walls/log"
    assert server.get(path, 404, attempt=3)["error"] == "01-walls has no write attempt 3"
    for query, field in (
        ({"attempt": 0}, "attempt"),
        ({"step": "merge"}, "step"),
        ({"from_": "x"}, "from"),
        ({"limit": 1}, "limit"),
        ({"format": "html"}, "format"),
    ):
        assert server.get(path, 422, **query)["field"] == field


def test_log_and_diff_are_refused_before_the_first_attempt(server: RunningServer) -> None:
    server.project.task("01-walls", "true")
    batch = server.run("01-walls", mode="queue")
    for what in ("log", "diff"):
        result = server.get(f"/api/batches/{batch}/tasks/01-walls/{what}", 409)
        assert result["state"] in {"waiting", "queued"}


@pytest.mark.parametrize("task", ["a/b", "TODO:63", "ünï", "a b", "x?y#z", "log", "a/log", "%2e"])
def test_task_ids_with_special_characters_work_in_paths(server: RunningServer, task: str) -> None:
    server.project.task("01", f"echo {len(task)}", id=json.dumps(task))
    listed = [each["id"] for each in server.get("/api/tasks")["tasks"]]
    if task not in listed:
        pytest.skip(f"no source makes such an id: {listed}")
    batch = server.run(task)
    server.wait_until_finished(batch)
    assert read_log(server, batch, task).text == f"{len(task)}\n"
    assert server.get(f"/api/batches/{batch}/tasks/{quote_task_id(task)}/explain")["taskId"] == task
    assert server.get(f"/api/tasks/{quote_task_id(task)}")["id"] == task


def test_an_explanation_names_the_reason_and_the_next_step(server: RunningServer) -> None:
    server.project.task("01-walls", "exit 3")
    server.project.task("02-roof", "true", needs="[01-walls]")
    batch = server.run("01-walls", "02-roof", settings={"retries": 0})
    server.wait_until_finished(batch)
    result = server.get(f"/api/batches/{batch}/tasks/02-roof/explain")
    assert (result["status"], result["needs"][0]["status"]) == ("blocked", "failed")
    failed = server.get(f"/api/batches/{batch}/tasks/01-walls/explain")
    assert (failed["attempts"][0]["exitCode"], failed["attempts"][0]["category"]) == (3, "task")
    assert failed["way"]
    assert server.get(f"/api/batches/{batch}/tasks/nobody/explain", 404)["error"]


def test_a_diff_is_sent_as_git_prints_it(worktree_server: RunningServer) -> None:
    server = worktree_server
    worktree_server.project.task("01-walls", "seq 1 20000 > walls.txt")
    worktree_server.project.task("02-roof", "echo roof > roof.txt; echo more >> walls.txt", needs="[01-walls]")
    worktree_server.project.commit_all()
    batch = server.run("01-walls", "02-roof")
    assert server.wait_until_finished(batch)["status"] == "completed"
    path = f"/api/batches/{batch}/tasks/01-walls/diff"
    answer = server.client.get(path)
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["Content-Encoding"] == "gzip"
    assert answer.text.startswith("diff --git a/walls.txt b/walls.txt")
    assert answer.text.count("\n+") == 20_001
    assert server.client.get(path, params={"from": 100_000}).text == answer.text[100_000:]
    assert server.client.get(path, params={"attempt": 1}).text == answer.text
    assert server.client.get(path, params={"from": 10**9}).text == ""
    result = server.get(path, format="json")
    assert (result["plus"], result["files"][0]["path"], result["cut"]) == (20_000, "walls.txt", False)
    assert result["diff"] == answer.text
    both = server.get(f"/api/batches/{batch}/diff", format="json")
    assert [(file["path"], file["tasks"]) for file in both["files"]] == [
        ("roof.txt", ["02-roof"]),
        ("walls.txt", ["01-walls", "02-roof"]),
    ]
    assert result["files"][0]["tasks"] == []
    assert "roof.txt" in server.client.get(f"/api/batches/{batch}/diff").text
    assert server.get(path, 404, attempt=2)["error"] == "01-walls has no write attempt 2"


def test_a_file_of_a_diff_is_sent_as_a_whole(worktree_server: RunningServer) -> None:
    server, project = worktree_server, worktree_server.project
    outside = project.top.parent / "outside.txt"
    outside.write_text("none of your business")
    project.write("walls.txt", "\n".join(["first", *map(str, range(100)), "last"]))
    project.write("unchanged.txt", "not part of the change")
    project.write("old.txt", "moved as it is")
    change = f"""
    sed -i 's/^first$/first of all/' walls.txt
    git mv old.txt new.txt
    ln -s {outside} link.txt
    printf 'a\\000b' > data.bin
    """
    project.task("01-walls", change.replace("\n    ", "\n"))
    project.commit_all()
    batch = server.run("01-walls")
    assert server.wait_until_finished(batch)["status"] == "completed"
    path = f"/api/batches/{batch}/tasks/01-walls/diff/file"

    def read(name: str, **query: str) -> tuple[int, str]:
        answer = server.client.get(path, params={"path": name, **query})
        return answer.status_code, answer.text if answer.is_success else answer.json()["error"]

    status, text = read("walls.txt")
    assert (status, text.splitlines()[:2], text.splitlines()[-1]) == (200, ["first of all", "0"], "last")
    assert read("walls.txt", side="old")[1].startswith("first\n")
    assert server.client.get(f"/api/batches/{batch}/diff/file", params={"path": "walls.txt"}).text == text
    assert read("new.txt") == read("old.txt", side="old") == (200, "moved as it is\n")
    # of a link what it is, never what it leads to
    assert read("link.txt") == (200, str(outside))
    # only what the change has
    for name in (
        "unchanged.txt",
        "../outside.txt",
        str(outside),
        "./walls.txt",
        "link.txt/x",
        ".git/config",
        "*",
        "old.txt",
    ):
        assert read(name) == (404, f"the diff has no new version of {name}")
    assert server.client.get(path, params={"path": ""}).status_code == 422
    assert read("data.bin") == (409, "data.bin is a binary file")
    assert read("walls.txt", format="image")[0] == 409
    # only the version that the reader's diff is of
    before, after = re.findall(
        r"index (\w+)\.\.(\w+) 100644\n--- a/walls", server.client.get(path.removesuffix("/file")).text
    )[0]
    assert read("walls.txt", blob=after) == (200, text)
    assert read("walls.txt", blob=before, side="old")[0] == 200
    assert read("walls.txt", blob="0123456") == (409, "walls.txt has changed since this diff was read")


def test_an_image_in_a_diff_can_run_nothing(worktree_server: RunningServer) -> None:
    server, project = worktree_server, worktree_server.project
    script = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    write = f"""
    printf '{script}' > house.png
    printf 'GIF89a...' > house.svg
    printf '<html><svg></svg></html>' > page.svg
    printf '<!---->%.0s' $(seq 500) > comments.svg
    truncate -s 17M large.png
    """
    project.task("01-house", write.replace("\n    ", "\n"))
    project.commit_all()
    batch = server.run("01-house")
    server.wait_until_finished(batch)

    def read(name: str) -> httpx.Response:
        params = {"path": name, "format": "image"}
        return server.client.get(f"/api/batches/{batch}/tasks/01-house/diff/file", params=params)

    # by what it is, not by its name; not as a document, and without rights if a browser takes it for one
    for name, kind, content in (("house.png", "image/svg+xml", script), ("house.svg", "image/gif", "GIF89a...")):
        answer = read(name)
        assert (answer.status_code, answer.headers["Content-Type"], answer.text) == (200, kind, content)
        assert answer.headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'; sandbox"
        assert answer.headers["Content-Disposition"] == "attachment"
    assert read("page.svg").status_code == 409
    assert read("comments.svg").status_code == 409  # which a careless pattern tries to read in 2**500 ways
    assert "large.png is too large" in read("large.png").json()["error"]


def test_reading_a_repository_runs_nothing_from_it(worktree_server: RunningServer) -> None:
    """No hook, no file system monitor and no diff driver."""
    server, project = worktree_server, worktree_server.project
    ran, program = project.top.parent / "ran", project.top.parent / "program"
    project.task(
        "01-walls", f"echo walls > walls.txt; touch {ran}-agent; until [ -e {project.top}/go ]; do sleep 0.02; done"
    )
    project.write(".gitattributes", "* diff=x")
    project.commit_all()
    batch = server.run("01-walls")
    task = f"batches/{batch}/tasks/01-walls"
    wait_until(ran.with_name("ran-agent").exists)
    wait_until(lambda: server.client.get(f"/api/{task}/diff").status_code == 200)
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {ran}\n')
    program.chmod(0o755)
    for hook in ("post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc"):
        (project.top / "hooks").mkdir(exist_ok=True)
        (project.top / "hooks" / hook).symlink_to(program)
    names = ("core.fsmonitor", "core.hooksPath", "diff.external", "diff.x.command", "diff.x.textconv")
    try:
        for name in names:
            project.git("config", name, str(project.top / "hooks" if name == "core.hooksPath" else program))
        for path in ("tasks", "settings", "projects", "batches", f"{task}/diff?format=json", f"{task}/explain"):
            assert server.client.get(f"/api/{path}").status_code == 200, path
        assert "+walls" in server.client.get(f"/api/{task}/diff").text
        server.post("/api/plan", {"taskIds": ["01-walls"]})
        server.post("/api/projects", {"path": str(project.top)}, 201)
        assert not ran.exists(), ran.read_text()
    finally:
        for name in names:
            project.git("config", "--unset", name)


def test_a_batch_in_place_has_no_diff(server: RunningServer) -> None:
    server.project.task("01-walls", "true")
    batch = server.run("01-walls")
    server.wait_until_finished(batch)
    assert server.get(f"/api/batches/{batch}/diff", 409)["state"] == "completed"
    assert server.get(f"/api/batches/{batch}/tasks/01-walls/diff", 409)["state"] == "done"


def test_the_conversation_has_what_failed_and_what_was_told_without_secrets(fresh_server: RunningServer) -> None:
    server = fresh_server
    os.environ["API_TOKEN"] = SECRET
    server.project.task(
        "01-walls", f'echo walls >> walls.txt; test -z "$PLAIT_FEEDBACK_FILE" || echo {SECRET} >> walls.txt'
    )
    check = "seq 30; cat walls.txt; test $(wc -l < walls.txt) -gt 9"
    batch = server.run("01-walls", settings={"retries": 1, "verify": check})
    server.wait_until_finished(batch)
    told = server.get(f"/api/batches/{batch}/tasks/01-walls/conversation")
    entries = told["entries"]
    kinds = [
        (each["kind"], each["attempt"] and f"{each['attempt']['step']}-{each['attempt']['attempt']}")
        for each in entries
    ]
    assert kinds == [
        ("attempt", "write-1"),
        ("attempt", "verify-1"),
        ("attempt", "write-2"),
        ("attempt", "verify-2"),
        ("ended", None),
    ]
    failure = entries[told["failure"]]
    assert failure["attempt"]["step"] == "verify"
    lines = failure["output"].splitlines()
    assert (len(lines), lines[0], lines[-2]) == (12, "22", "walls"), lines
    assert SECRET not in str(told)
    second = entries[2]["attempt"]
    assert [part["source"] for part in second["told"]] == ["check"]
    assert (second["toldCheck"], entries[0]["attempt"]["told"]) == (1, [])
    assert entries[-1]["status"] == "failed"
    attempts = server.get(f"/api/batches/{batch}/tasks/01-walls/explain")["attempts"]
    assert attempts == [each["attempt"] for each in entries if each["attempt"]]
    assert "feedback (failed check): " in server.project.plait("explain", "01-walls").out
    assert server.get(f"/api/batches/{batch}/tasks/nothing/conversation", 404)["error"]


def test_attempts_are_compared_also_over_different_bases(worktree_server: RunningServer) -> None:
    server, project = worktree_server, worktree_server.project
    project.write("house.txt", "\n".join(["roof", *"abcdefgh", "cellar"]))
    project.task("01-roof", "sed -i 's/roof/roof of stone/' house.txt")
    change = """
    sed -i 's/^cellar$/cellar of wood/' house.txt
    test -z "$PLAIT_FEEDBACK_FILE" || echo lamp > lamp.txt
    """
    project.task("02-cellar", change.replace("\n    ", "\n"))
    project.commit_all()
    batch = server.run(
        "01-roof", "02-cellar", settings={"verify": "test -e lamp.txt || test $PLAIT_TASK_ID = 01-roof", "retries": 1}
    )
    server.wait_until_finished(batch)
    path = f"/api/batches/{batch}/tasks/02-cellar/diff"
    whole = server.client.get(path, params={"attempt": 2}).text
    assert "+cellar of wood" in whole
    assert "+lamp" in whole
    since = server.client.get(path, params={"attempt": 2, "since": 1, "format": "json"}).json()
    assert ([file["path"] for file in since["files"]], since["attempt"], since["since"]) == (["lamp.txt"], 2, 1)
    assert server.client.get(path, params={"since": 1}).text == since["diff"]
    assert server.get(path, 404, attempt=1, since=2)["error"] == "attempt 2 is not before attempt 1"

    # A retry by a person starts from the branch that has 01-roof now: that is no difference between the attempts.
    retried = server.client.post(f"/api/batches/{batch}/tasks/02-cellar/feedback", json={"text": "again"})
    assert retried.status_code < 300, retried.text
    wait_until(lambda: server.get(f"/api/batches/{batch}")["status"] == "completed")
    again = server.client.get(path, params={"attempt": 3, "since": 1, "format": "json"}).json()
    assert [file["path"] for file in again["files"]] == ["lamp.txt"]
    assert project.plait("diff", "02-cellar", "--since", "1", "--name-only").out == "lamp.txt\n"
