from __future__ import annotations

from contextlib import closing

from plait.client.event_stream import EventStream
from plait.engine.daemon import find_engine
from plait.git.location import find_repo
from plait.server.event_buffer import encode_events
from plait.store.project_files import open_project_journal
from tests.support.running_server import EventFollower, start_server
from tests.support.temp_project import TempProject
from tests.support.waiting import wait_until

TASKS = [f"{n:02}-task" for n in range(1, 5)]
AT_ONCE = 2


def list_event_ids(project: TempProject) -> list[str]:
    """The ids of all events of the journal, as an uninterrupted reader receives them."""
    feed, found = EventStream(), list[str]()
    with closing(open_project_journal(find_repo(project.top))) as reader:
        for record in reader.read():
            for piece in encode_events(reader.id, record.seq, feed.apply(record)):
                found.append(piece.data.partition(b"\n")[0].decode().removeprefix("id: "))
    return found


def finish(project: TempProject, name: str) -> None:
    project.write(f"go-{name}", "")
    wait_until(lambda: project.statuses()[name] == "done")


def test_killing_the_server_during_a_batch_loses_no_event_and_no_work(
    project: TempProject,
) -> None:
    for name in TASKS:
        project.task(name, f"echo $$ >> runs-{name}\nuntil [ -e go-{name} ]; do sleep 0.02; done")
    server = start_server(project)
    port = int(server.url.rpartition(":")[2])
    follower = EventFollower(server.url, server.token)
    follower.wait_until(lambda: follower.connections)
    made = server.post("/api/batches", {"taskIds": TASKS, "mode": "parallel", "settings": {"maxBatchSize": AT_ONCE}})
    project.wait_for_file(f"runs-{TASKS[0]}")
    engine = find_engine(find_repo(project.top))
    assert engine is not None

    for n, name in enumerate(TASKS):
        if n % 2:  # what happens while nobody serves is heard later; what was heard before is not heard again
            server.kill()
            finish(project, name)
            assert find_engine(find_repo(project.top)) == engine or name == TASKS[-1]
            server = start_server(project, port=port, token=server.token)
        else:
            finish(project, name)
        follower.wait_for_event("batch:task:completed", name)

    follower.wait_for_event("batch:completed")
    wait_until(lambda: find_engine(find_repo(project.top)) is None)
    follower.wait_for_event("engine:released")
    follower.close()
    assert follower.connections == 1 + len(TASKS) // 2
    assert [each.id for each in follower.events if each.id] == list_event_ids(project)
    assert not follower.has_event("reset")
    assert [each.type for each in follower.events].count("engine:taken") == 1
    assert {project.read(f"runs-{name}").count("\n") for name in TASKS} == {1}
    assert server.get(f"/api/batches/{made['id']}")["status"] == "completed"
