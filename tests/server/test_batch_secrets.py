"""A secret that only the batch's environment had stays masked over HTTP, while the batch runs and after it has ended."""

from __future__ import annotations

from collections.abc import Iterator

from tests.support.running_server import RunningServer
from tests.support.waiting import wait_until

SECRET = "zebra-of-the-deployment"
# Each waits for the other to have begun, so that both have the same base.
MEET = "touch ../../$PLAIT_TASK_ID; until [ -e ../../01-slate ] && [ -e ../../02-tiles ]; do sleep 0.02; done"


def read_all(server: RunningServer, batch: str) -> Iterator[tuple[str, str]]:
    for task in ("01-slate", "02-tiles"):
        files = (
            "diff/file?path=roof.txt",
            "diff/file?path=roof.svg&format=image",
            "diff/file?path=roof.gif&format=image",
        )
        for name in ("log", "log?format=events", "diff", "diff?format=json", *files, "conflict", "explain"):
            answer = server.client.get(f"/api/batches/{batch}/tasks/{task}/{name}")
            if answer.status_code != 409:  # one of the two has no conflict, and an image with a secret isn't sent
                assert answer.status_code == 200, answer.text
                yield f"{task} {name}", answer.text
    for name in ("", "/diff", "/diff?format=json", "/diff/file?path=roof.txt", "/timeline", "/pr"):
        yield name, server.client.get(f"/api/batches/{batch}{name}").text


def test_logs_diffs_and_conflicts_are_sent_without_secrets_also_after_the_batch(worktree_server: RunningServer) -> None:
    server, project = worktree_server, worktree_server.project
    says = 'echo "with $DEPLOY_TOKEN"'
    for task in ("01-slate", "02-tiles"):
        images = 'echo "GIF89a $DEPLOY_TOKEN" > roof.gif; echo "<svg>$DEPLOY_TOKEN</svg>" > roof.svg'
        project.task(task, f'{MEET}; {says}; echo "{task} $DEPLOY_TOKEN" > roof.txt; {images}')
    project.task("03-door", f"{says}; until [ -e {project.top}/go ]; do sleep 0.02; done; echo door > door.txt")
    project.commit_all()
    assert project.plait("run", "tasks", "--yes", "--detach", env={"DEPLOY_TOKEN": SECRET}).code == 0
    batch = server.batch_ids()[0]
    server.wait_until(batch, lambda told: [task["status"] for task in told["tasks"]].count("conflicted") == 1)
    during = dict(read_all(server, batch))
    project.write("go", "")
    server.wait_until_finished(batch)
    wait_until(lambda: not [*(project.place.state / "batches" / batch).glob("environment*")])
    after = dict(read_all(server, batch))
    for texts in (during, after):
        assert {name: text for name, text in texts.items() if SECRET in text or SECRET[6:] in text} == {}
        assert "with ***" in texts["01-slate log"]
        assert "-slate ***" in texts["01-slate diff"] + texts["/diff"]
        assert texts["01-slate diff/file?path=roof.txt"] == "01-slate ***\n"
        assert texts["01-slate diff/file?path=roof.svg&format=image"] == "<svg>***</svg>\n"
        assert "01-slate diff/file?path=roof.gif&format=image" not in texts
        assert any("conflict" in name and "already merged" in text and "***" in text for name, text in texts.items())
    assert during["01-slate diff"] == after["01-slate diff"]
    assert SECRET in project.git("log", "--all", "--patch")  # it is a mask, not a change
    assert SECRET in project.plait("diff", batch).out  # as git has it, to be applied elsewhere
