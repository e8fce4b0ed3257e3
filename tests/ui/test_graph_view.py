"""A batch as a graph: what needs what, who stands where, and the same in words."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.support.browser import PHONE, OpenWindow
from tests.support.temp_project import TempProject

TASKS = ("01-walls", "02-windows", "03-paint", "04-roof")


def _project(project: TempProject, go: Path) -> None:
    """Walls that wait for a file; windows and paint need them, and share a file; the roof needs the windows.

    The walls are a phase, and everything else the next.
    """
    held = f"while [ ! -e {go} ]; do sleep 0.05; done"
    project.task("01-walls", f"{held}; echo walls > walls.txt", phase="1")
    project.task("02-windows", "echo glass > front.txt", needs="[01-walls]", touches="[front.txt]", phase="2")
    project.task("03-paint", "echo red >> front.txt", needs="[01-walls]", touches="[front.txt]", phase="2")
    project.task("04-roof", "echo roof > roof.txt", needs="[02-windows]", phase="2")
    project.commit_all()


def _run(project: TempProject) -> str:
    """Somebody runs all of it elsewhere. The batch's name."""
    answer = project.plait("run", "--agent", "shell", "--detach", "--yes")
    assert answer.code == 0, answer.err
    return project.batch().id


def _node(page: Page, task: str, status: str) -> Locator:
    return page.get_by_role("button", name=f"{task} {status}", exact=True)


def _lines(page: Page, words: str) -> Locator:
    return page.get_by_role("img", name=words)


def _kind(page: Page, name: str) -> Locator:
    return page.get_by_role("group", name="Lines").get_by_role("button", name=name)


def test_a_graph_follows_its_batch_and_links_to_its_tasks(
    project: TempProject, open_window: OpenWindow, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    _project(project, go)
    window = open_window()
    page = window.page
    batch = _run(project)
    window.go(f"/batches/{batch}/graph")

    expect(_node(page, "01-walls", "running")).to_be_visible()
    expect(_node(page, "04-roof", "waiting")).to_be_visible()
    before = {task: _box(page, task) for task in TASKS}
    assert before["01-walls"] < before["02-windows"] < before["04-roof"]  # waves, from left to right
    expect(page.get_by_role("img", name="Overview of the graph")).to_have_count(0)  # all of it is in sight
    walls, rest = page.get_by_text("Phase 1", exact=True), page.get_by_text("Phase 2", exact=True)
    assert _left(walls) < before["01-walls"][0] < _left(rest) < before["02-windows"][0]

    _node(page, "02-windows", "waiting").hover()  # what it needs and what needs it, and nothing else
    expect(_node(page, "03-paint", "waiting")).to_have_css("opacity", "0.35")
    for task, status in (("01-walls", "running"), ("02-windows", "waiting"), ("04-roof", "waiting")):
        expect(_node(page, task, status)).to_have_css("opacity", "1")
    page.get_by_role("searchbox", name="Find a task").hover()
    expect(_node(page, "03-paint", "waiting")).to_have_css("opacity", "1")

    expect(_lines(page, "02-windows needs 01-walls: needs: 01-walls (tasks/02-windows.md:")).to_have_count(1)
    shared = "02-windows and 03-paint touch front.txt: they run one after the other"
    expect(_lines(page, shared)).to_have_count(1)
    _kind(page, "Need").click()
    expect(_lines(page, "needs 01-walls")).to_have_count(0)
    expect(_lines(page, shared)).to_have_count(1)
    _kind(page, "Shared file").click()
    expect(_lines(page, shared)).to_have_count(0)
    _kind(page, "Need").click()
    expect(_lines(page, "needs 01-walls")).to_have_count(2)

    page.keyboard.press("/")
    page.keyboard.type("ROOF")
    expect(page.get_by_text("1 task", exact=True)).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_text("04-roof is waiting: needs 02-windows")).to_be_visible()
    page.keyboard.press("Escape")
    _node(page, "04-roof", "waiting").focus()
    page.keyboard.press("ArrowLeft")
    expect(_node(page, "02-windows", "waiting")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(_node(page, "01-walls", "running")).to_be_focused()

    go.touch()
    for task in TASKS:
        expect(_node(page, task, "done")).to_be_visible()
    assert {task: _box(page, task) for task in TASKS} == before  # nothing moved

    page.keyboard.press("Enter")
    page.wait_for_url(f"**/batches/{batch}/graph?task=01-walls&batch={batch}")
    page.go_back()
    _node(page, "04-roof", "done").click()
    page.wait_for_url(f"**/batches/{batch}/graph?task=04-roof&batch={batch}")


def test_the_list_view_matches_the_graph_and_is_the_default_on_a_phone(
    project: TempProject, open_window: OpenWindow, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    _project(project, go)
    window = open_window(size=PHONE)
    page = window.page
    batch = _run(project)
    window.go(f"/batches/{batch}/graph")

    expect(page.get_by_role("heading", name="Wave 3 1")).to_be_visible()
    roof = page.get_by_role("listitem").filter(has=page.get_by_role("button", name="04-roof"))
    expect(roof).to_contain_text("waiting")
    expect(roof).to_contain_text("Need 02-windows: needs: 02-windows (tasks/04-roof.md:")
    paint = page.get_by_role("listitem").filter(has=page.get_by_role("button", name="03-paint"))
    expect(paint).to_contain_text("Shared file front.txt with 02-windows")
    walls = page.get_by_role("listitem").filter(has=page.get_by_role("button", name="01-walls"))
    expect(walls).to_contain_text("running")
    go.touch()
    expect(walls).to_contain_text("done")
    expect(roof).to_contain_text("done")
    find = page.get_by_role("searchbox", name="Find a task")
    place = find.bounding_box()
    find.fill("paint")
    expect(roof).to_have_count(0)
    assert find.bounding_box() == place
    page.get_by_role("button", name="03-paint").click()
    page.wait_for_url("**task=03-paint**")

    page.goto(f"{window.url}/batches/{batch}/graph")
    page.get_by_role("radio", name="Graph").check()
    page.get_by_role("button", name="Show the whole graph").click()
    for task in TASKS:
        expect(_node(page, task, "done")).to_be_visible()
    for _ in range(12):
        page.get_by_role("button", name="Zoom out").click()  # from afar, a box with a name
    expect(page.get_by_role("button", name="04-roof, done")).to_have_text("")

    window.go("/batches/nobody/graph")
    expect(page.get_by_text("There is no such batch")).to_be_visible()
    window.ignore_errors("404")


# The most tasks that any one frame has put into the page.
_WATCH = """
window.most = 0;
new MutationObserver((changes) => {
  const added = changes.flatMap(({ addedNodes }) => [...addedNodes]).filter((node) => node.matches?.("button"));
  window.most = Math.max(window.most, added.length);
}).observe(document, { childList: true, subtree: true });
"""


def test_the_graph_of_an_ended_batch_opens_at_its_beginning(project: TempProject, open_window: OpenWindow) -> None:
    """Though its longest path begins far from it."""
    for phase in range(1, 9):
        project.task(f"{phase:02}", f"echo {phase} > {phase}.txt", phase=phase)
    project.task("09", "echo 9 > 9.txt", phase=8, needs="[08]")
    project.commit_all()
    assert project.plait("run", "--yes").code == 0
    window = open_window()
    window.go(f"/batches/{project.batch().id}/graph")
    expect(_node(window.page, "01", "done")).to_be_in_viewport()
    expect(_node(window.page, "08", "done")).not_to_be_in_viewport()


# The tasks that the overview covers, also where they are too small for a text.
_UNDER_OVERVIEW = """() => {
    const map = document.querySelector("[aria-label='Overview of the graph']").getBoundingClientRect();
    const isUnder = ({ left, right, top, bottom }) =>
        left < map.right && map.left < right && top < map.bottom && map.top < bottom;
    return [...document.querySelectorAll("[aria-label='Task graph'] button")]
        .filter(node => isUnder(node.getBoundingClientRect()))
        .map(node => (node.ariaLabel ?? node.textContent).slice(0, 4))
        .filter(name => /^t\\d/.test(name));
}"""

# Points of lines that are behind a task, though the line leads to none or to another one; whatever the zoom.
_BEHIND_TASKS = """
(graph) => {
  const lines = [...graph.querySelectorAll("[role=img][data-kind] path:nth-of-type(2)")];
  const unzoomed = lines[0].getScreenCTM().inverse();
  const corner = (x, y) => new DOMPoint(x, y).matrixTransform(unzoomed);
  const boxes = [...graph.querySelectorAll("button")].map((node) => {
    const { left, right, top, bottom } = node.getBoundingClientRect();
    return [corner(left, top), corner(right, bottom)];
  });
  return lines.flatMap((path) => Array.from({ length: 40 }, (_, at) => path.getPointAtLength((path.getTotalLength() * at) / 39)))
    .filter(({ x, y }) => boxes.some(([from, to]) => x > from.x + 2 && x < to.x - 2 && y > from.y + 2 && y < to.y - 2))
    .map(({ x, y }) => [x, y]);
}
"""


def test_a_graph_of_many_tasks_is_legible_and_drawn_in_parts(
    project: TempProject, open_window: OpenWindow, tmp_path: Path
) -> None:
    """Four waves of a hundred; every tenth of the last one needs one of the first, too."""
    for n in range(400):
        needs = [f"t{n - 100:03}"] * (n >= 100) + [f"t{n % 100:03}"] * (n >= 300 and n % 10 == 0)
        held = f"while [ ! -e {tmp_path / 'go'} ]; do sleep 0.05; done"
        project.task(f"t{n:03}", held, **({"needs": f"[{', '.join(needs)}]"} if needs else {}))
    project.commit_all()
    window = open_window()
    page = window.page
    answer = project.plait("run", "--agent", "shell", "--detach", "--yes", "--max-parallel", "1")
    assert answer.code == 0, answer.err
    batch = project.batch().id
    page.add_init_script(_WATCH)
    window.go(f"/batches/{batch}/graph")

    graph = page.get_by_label("Task graph")
    tasks = graph.get_by_role("button", name=re.compile(r"^t\d\d\d"))
    first = _node(page, "t000", "running")
    expect(first).to_be_in_viewport()
    box = first.bounding_box()
    assert box is not None
    assert box["width"] > 160  # legible, though far from everything fits
    assert tasks.count() < 400  # what is out of view is not drawn
    page.get_by_role("button", name="Show the whole graph").click()
    expect(tasks).to_have_count(400)
    assert page.evaluate("window.most") <= 150
    columns = tasks.evaluate_all("nodes => nodes.map(node => Math.round(node.getBoundingClientRect().left))")
    assert sorted(columns.count(x) for x in set(columns)) == [100] * 4  # a column for each wave
    assert graph.evaluate(_BEHIND_TASKS) == []

    for _ in range(9):
        page.get_by_role("button", name="Zoom in").click()
    expect(graph.get_by_text("Wave 2 100", exact=True)).to_be_in_viewport()
    page.get_by_role("searchbox", name="Find a task").fill("t150")
    page.keyboard.press("Enter")
    expect(_node(page, "t150", "waiting")).to_be_in_viewport()
    covered = page.evaluate(_UNDER_OVERVIEW)
    assert covered
    page.get_by_role("searchbox", name="Find a task").fill(covered[0])
    page.keyboard.press("Enter")
    page.wait_for_function(f"name => !({_UNDER_OVERVIEW})().includes(name)", arg=covered[0])
    expect(_node(page, covered[0], "waiting")).to_be_in_viewport(ratio=1)
    page.get_by_role("searchbox", name="Find a task").fill("t399")
    page.keyboard.press("Enter")
    expect(_node(page, "t399", "waiting")).to_be_in_viewport()
    page.get_by_role("img", name="Overview of the graph").click(position={"x": 80, "y": 50})
    expect(_node(page, "t399", "waiting")).not_to_be_in_viewport()
    project.plait("cancel", batch)


def _left(locator: Locator) -> float:
    box = locator.bounding_box()
    assert box is not None
    return box["x"]


def _box(page: Page, task: str) -> tuple[float, float]:
    box = page.get_by_role("button", name=task).bounding_box()
    assert box is not None
    return box["x"], box["y"]


def test_a_search_that_is_ended_highlights_nothing(
    project: TempProject, open_window: OpenWindow, tmp_path: Path
) -> None:
    _project(project, tmp_path / "go")
    window = open_window()
    page = window.page
    window.go(f"/batches/{_run(project)}/graph")
    paint = _node(page, "03-paint", "waiting")
    expect(paint).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("roof")
    page.keyboard.press("Enter")
    expect(paint).to_have_css("opacity", "0.35")
    page.keyboard.press("Escape")
    expect(page.get_by_role("searchbox", name="Find a task")).to_have_value("")
    expect(paint).to_have_css("opacity", "1")
    (tmp_path / "go").touch()
