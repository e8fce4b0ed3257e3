"""`plait run --web`: the page is served while the batch is watched, and ends with the run, however that ends."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
from collections.abc import Callable

import httpx
import pytest

from tests.support.temp_project import TempProject, plait_command
from tests.support.waiting import wait_until

WAITS = "until [ -e go ]; do sleep 0.02; done"
TIMEOUT_SECONDS = 60.0  # httpx waits 5 s, which is too short on a busy machine
LINK = re.compile(r"(http://127\.0\.0\.1:[0-9]+)(/login\?code=\S+)")


def linked(front: subprocess.Popen[str], *, stderr: bool = False) -> tuple[str, str]:
    """The server's address and the link, as soon as they are printed."""
    stream = front.stderr if stderr else front.stdout
    assert stream is not None
    found = next(filter(None, map(LINK.search, stream)))
    return found[1], found[2]


def answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", trust_env=False, timeout=TIMEOUT_SECONDS).status_code == 200
    except httpx.TransportError:
        return False


def test_the_page_is_served_during_the_run_and_the_output_stays_json(project: TempProject) -> None:
    project.task("01-walls", WAITS)
    front = project.start("run", "--web", "--json")
    url, link = linked(front, stderr=True)
    with httpx.Client(base_url=url, trust_env=False, follow_redirects=True, timeout=TIMEOUT_SECONDS) as browser:
        assert browser.get(link).status_code == 200
        (batch,) = browser.get("/api/batches").json()["batches"]
        assert [task["taskId"] for task in batch["tasks"]] == ["01-walls"]
    project.write("go", "")
    answer = project.finish(front)
    assert answer.code == 0, answer
    events = [json.loads(line) for line in answer.out.splitlines()]
    assert events[-1]["type"] == "batch:completed"
    project.wait_for_exit()
    assert not answers(url)


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (lambda front: front.send_signal(signal.SIGINT), 130),
        (lambda front: front.send_signal(signal.SIGTERM), 128 + signal.SIGTERM),
        (lambda front: front.kill(), -signal.SIGKILL),
    ],
    ids=["Ctrl+C", "SIGTERM", "killed"],
)
def test_no_server_remains_however_the_run_ends(
    project: TempProject, end: Callable[[subprocess.Popen[str]], None], code: int
) -> None:
    project.task("01-walls", WAITS)
    front = project.start("run", "--web")
    url, _ = linked(front)
    assert answers(url)
    end(front)
    assert project.finish(front).code == code
    wait_until(lambda: not answers(url))
    project.write("go", "")
    project.wait_for_exit()


def test_another_port_is_used_if_the_default_one_is_taken(project: TempProject) -> None:
    project.task("01-walls", WAITS)
    project.task("02-roof", WAITS)
    fronts = [project.start("run", "--web", "-s", task) for task in ("01-walls", "02-roof")]
    first, second = (linked(front)[0] for front in fronts)
    assert first != second
    project.write("go", "")
    assert [project.finish(front).code for front in fronts] == [0, 0]


def test_the_batch_runs_even_if_the_page_cannot_be_served(project: TempProject) -> None:
    project.task("01-walls", "true")
    project.plait("token")
    (token,) = (project.top.parent / "home").rglob("plait/token")
    token.chmod(0o644)
    answer = project.plait("run", "--web")
    assert answer.code == 0, answer
    assert "the page can't be served" in answer.err
    assert "\ufffd" not in answer.err
    assert project.statuses() == {"01-walls": "done"}


def test_web_is_refused_with_detach(project: TempProject) -> None:
    project.task("01-walls", "true")
    answer = project.plait("run", "--web", "--detach")
    assert (answer.code, "plait serve" in answer.err) == (2, True)
    assert project.state().batches == {}


def test_a_closed_pipe_does_not_stop_the_batch_with_web(project: TempProject) -> None:
    project.task("01-walls", WAITS)
    front = project.start("run", "--web")
    assert front.stdout is not None
    assert front.stderr is not None
    front.stdout.close()
    assert front.wait(timeout=60) == 128 + signal.SIGPIPE
    assert "continues in the background" in front.stderr.read()
    project.write("go", "")
    project.wait_for_exit()
    assert project.statuses() == {"01-walls": "done"}


def test_a_full_disk_for_the_output_is_reported_with_web(project: TempProject) -> None:
    project.task("01-walls", WAITS)
    answer = project.finish(
        project.popen(["sh", "-c", f"exec {shlex.join(plait_command('run', '--web'))} > /dev/full"])
    )
    assert answer.code == 1
    assert "continues in the background" in answer.err
    project.write("go", "")
    project.wait_for_exit()
