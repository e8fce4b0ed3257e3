"""A batch is read before it is shipped: its merges in order, its conflicts, its gate, and its pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support.accessibility import find_violations
from tests.support.browser import PHONE, BrowserWindow, OpenWindow, drawn_colour
from tests.support.local_forge import REPOSITORY, LocalForge, local_forge
from tests.support.temp_project import TempProject
from tests.support.waiting import wait_until


@pytest.fixture
def remote(tmp_path: Path, project: TempProject) -> Iterator[LocalForge]:
    """The project's remote is a forge's."""
    with local_forge(tmp_path / "forge") as made:
        project.git("remote", "set-url", "origin", f"{made.url}/{REPOSITORY}.git")
        project.env |= {"PLAIT_PR_FORGE": "gitea", "PLAIT_FORGE_TOKEN": "t0ken-t0ken-t0ken", "NO_PROXY": "*"}
        yield made


# The empty pixels below the last row of a diff.
_BELOW_ROWS = """sheet => sheet.getBoundingClientRect().bottom
  - Math.max(...[...sheet.querySelectorAll("[data-index]")].map(row => row.getBoundingClientRect().bottom))"""


def _review(window: BrowserWindow, project: TempProject) -> Page:
    window.go(f"/batches/{project.batch().id}")
    return window.page


def _merged(page: Page) -> list[str]:
    """The merged tasks, as they stand there."""
    names = page.get_by_role("list", name="Merged tasks, in order").get_by_role("button", name="Diff of ")
    return [(name.get_attribute("aria-label") or "").split()[2] for name in names.all()]


def _until_done(project: TempProject, task: str) -> None:
    wait_until(lambda: project.state().batches and project.statuses()[task] == "done")


def test_merges_are_listed_in_order_and_one_is_dropped(
    project: TempProject, open_window: OpenWindow, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    project.task("01-walls", f"while [ ! -e {go} ]; do sleep 0.05; done; echo walls > walls.txt")
    project.task("02-roof", "echo roof > roof.txt", verify="test -e roof.txt")
    project.task("03-door", "echo door > door.txt", needs="[01-walls]", touches="[doors/]")
    project.task("04-lamp", "exit 1", title="A lamp over the door")
    project.commit_all()
    front = project.start("run", "--yes", "--retries", "0")
    _until_done(project, "02-roof")
    window = open_window()
    page = _review(window, project)
    expect(page.get_by_text("2 tasks pending")).to_be_visible()
    go.touch()
    project.finish(front)
    expect(page.get_by_role("button", name="Diff of 03-door")).to_be_visible()
    assert _merged(page) == ["02-roof", "01-walls", "03-door"]
    roof = page.get_by_role("listitem").filter(has=page.get_by_role("button", name="Diff of 02-roof"))
    expect(roof).to_contain_text("+1")
    expect(roof).to_contain_text("verified")

    expect(page.get_by_text("A lamp over the door")).to_be_visible()  # what isn't included comes first
    places = [page.get_by_text(text).bounding_box() for text in ("1 task not merged", "in 3 files · 3 tasks")]
    assert places[0]
    assert places[1]
    assert places[0]["y"] < places[1]["y"]

    first = page.get_by_role("region", name="Read first").get_by_role("listitem")
    expect(first).to_have_text([re.compile(r"^03-doorchanges a file it didn't declare: door.txt\+1 .0$")])

    page.get_by_role("button", name="Diff of 02-roof").click()
    expect(page.get_by_role("heading", name="roof.txt")).to_be_visible()
    wait_until(lambda: page.get_by_role("region", name="Diff, line by line").evaluate(_BELOW_ROWS) < 24)
    page.get_by_role("button", name="Diff of 02-roof").click()

    page.get_by_role("button", name="Drop 02-roof").click()
    page.get_by_role("button", name="Drop and rebuild").click()
    expect(page.get_by_role("button", name="Diff of 02-roof")).to_have_count(0)
    expect(page.get_by_text("2 tasks not merged")).to_be_visible()
    assert _merged(page) == ["01-walls", "03-door"]
    wait_until(lambda: sorted(project.read_merged_files()) == ["door.txt", "walls.txt"])

    page.get_by_text("Full diff").click()
    expect(page.get_by_role("heading", name="door.txt")).to_be_visible()
    expect(page.get_by_role("heading", name="roof.txt")).to_have_count(0)
    page.get_by_role("region", name="Diff, line by line").get_by_role("button", name="03-door").click()
    page.get_by_role("complementary").get_by_role("button", name="Comment on line 1 of door.txt").click()
    expect(page.get_by_label("Comment on door.txt:1")).to_be_focused()


def test_what_to_read_first_is_named_with_its_reasons(project: TempProject, open_window: OpenWindow) -> None:
    project.write("tests/test_roof.py", "def test_roof(): ...")
    project.task("01-rows", "seq 300 > rows.txt")
    project.task("02-door", "echo 'door = 1' > door.py", touches="[house.py]")
    project.task("03-roof", "echo 'roof = 1' > roof.py; echo 'def test_it(): ...' >> tests/test_roof.py")
    project.task("04-lamp", "echo 'lamp = 1' > lamp.py")
    project.commit_all()
    project.plait("run", "--yes", "--no-pr")
    page = _review(open_window(), project)
    first = page.get_by_role("region", name="Read first").get_by_role("listitem")
    expect(first).to_have_text(
        [
            re.compile(r"^02-doorno tests changed, changes a file it didn't declare: door.py\+1 .0$"),
            re.compile(r"^01-rows300 lines changed\+300 .0$"),
            re.compile(r"^04-lampno tests changed\+1 .0$"),
        ]
    )
    first.nth(1).get_by_role("button", name="01-rows").click()
    expect(page.get_by_role("button", name="Diff of 01-rows")).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_role("heading", name="rows.txt")).to_be_in_viewport()


def test_a_conflict_is_shown_with_both_sides_and_retried(
    project: TempProject, open_window: OpenWindow, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    project.write("house.txt", "cellar\nwalls of straw\nroof of straw")
    project.task("01-walls", "sed -i 's/walls of straw/walls of wood/' house.txt")
    project.task(
        "02-stone",
        f"while [ ! -e {go} ]; do sleep 0.05; done; sed -i 's/walls of [a-z]*/walls of <b>stone<\\/b>/' house.txt",
    )
    project.commit_all()
    front = project.start("run", "--yes")
    _until_done(project, "01-walls")
    go.touch()
    project.finish(front)
    window = open_window()
    page = _review(window, project)

    conflict = page.get_by_role("region", name="Conflict in house.txt")
    expect(conflict.get_by_role("figure").nth(0)).to_contain_text("last changed by 01-walls")
    expect(conflict.get_by_role("figure").nth(0)).to_contain_text("walls of wood")
    expect(conflict.get_by_role("figure").nth(1)).to_contain_text("In 02-stone")
    expect(conflict.get_by_role("figure").nth(1)).to_contain_text("walls of <b>stone</b>")
    expect(conflict).to_contain_text("cellar")
    conflict.get_by_role("button", name="Show base").click()
    expect(conflict).to_contain_text("walls of straw")

    page.get_by_role("button", name="Let an agent repair it: 02-stone").click()
    expect(page.get_by_role("button", name="Diff of 02-stone")).to_be_visible()
    expect(conflict).to_have_count(0)
    assert _merged(page) == ["01-walls", "02-stone"]
    assert "walls of <b>stone</b>" in project.read_merged_files()["house.txt"]


def test_a_person_resolves_a_conflict_file_by_file(
    project: TempProject, open_window: OpenWindow, tmp_path: Path
) -> None:
    go = [tmp_path / name for name in ("walls", "late")]
    wait = [f"while [ ! -e {file} ]; do sleep 0.05; done" for file in go]
    project.write("house.txt", "cellar\r\nwalls of straw\r\n")
    project.write("colour.txt", "grey")
    project.task("01-walls", "printf 'cellar\\r\\nwalls of wood\\r\\n' > house.txt; echo red > colour.txt")
    stone = "printf 'cellar\\r\\nwalls of stone\\r\\n' > house.txt; echo blue > colour.txt"
    project.task("02-stone", f"{wait[0]}; {stone}", verify="test ! -e bad.txt")
    project.task("03-door", f"{wait[1]}; echo door > door.txt")
    project.commit_all()
    front = project.start("run", "--yes")
    _until_done(project, "01-walls")
    go[0].touch()
    window = open_window()
    page = _review(window, project)
    form = page.get_by_role("form", name="Resolve the conflict of 02-stone")
    merge = form.get_by_role("button", name="Verify and merge")
    expect(form).to_contain_text("Choose what becomes of 2 more files.")
    colour = form.get_by_role("group", name="Resolution of colour.txt")
    colour.get_by_text("02-stone").click()
    expect(form).to_contain_text("Choose what becomes of house.txt.")

    form.get_by_role("group", name="Resolution of house.txt").get_by_text("Edit").click()
    expect(form).to_contain_text("house.txt, line 2: still a conflict marker.")
    expect(merge).to_have_attribute("aria-disabled", "true")
    text = form.get_by_role("textbox", name="Result of house.txt")
    text.fill("cellar\nwalls of wood and stone\n")
    _leave_resolution(page)
    go[1].touch()  # the branch moves on while they read
    project.finish(front)
    merge.click()
    expect(form.get_by_role("alert")).to_contain_text("the batch branch has moved on: 03-door was merged")
    window.ignore_errors("status of 409")
    expect(text).to_have_value("cellar\nwalls of wood and stone\n")
    merge.click()
    wait_until(lambda: _merged(page) == ["01-walls", "03-door", "02-stone"])
    files = project.read_merged_files()
    assert (files["colour.txt"], "walls of wood and stone" in files["house.txt"]) == ("blue", True)
    assert project.git("cat-file", "-s", f"{project.batch().branch}:house.txt") == str(
        len("cellar\r\nwalls of wood and stone\r\n")
    )

    merged = page.get_by_role("list", name="Merged tasks, in order")
    merged.get_by_role("button", name="02-stone", exact=True).click()
    thread = page.get_by_role("list", name="Conversation")
    resolved = thread.get_by_role("listitem").filter(has_text="Conflict resolved by a person").first
    expect(resolved).to_contain_text("colour.txt this task's version")
    expect(resolved).to_contain_text("house.txt edited")
    expect(thread.locator(":scope > li").nth(-1)).to_contain_text("Merged")
    resolved.get_by_role("button", name="Diff of the resolved conflict").click()
    panel = page.get_by_role("complementary", name="02-stone")
    expect(panel.get_by_role("combobox", name="Changes")).to_contain_text("Resolved conflict")
    expect(panel.get_by_text("walls of wood and stone").first).to_be_visible()


def _leave_resolution(page: Page) -> None:
    """What was edited is kept while a side is chosen, and everything in a window that is opened later."""
    house = page.get_by_role("group", name="Resolution of house.txt")
    house.get_by_text("02-stone").click()
    house.get_by_text("Edit").click()
    page.reload()
    expect(page.get_by_role("textbox", name="Result of house.txt")).to_have_value("cellar\nwalls of wood and stone\n")
    colour = page.get_by_role("group", name="Resolution of colour.txt")
    expect(colour.get_by_role("radio", name="02-stone")).to_be_checked()


def test_a_resolved_conflict_is_verified_and_gated(
    project: TempProject, open_window: OpenWindow, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    project.write("house.txt", "\n".join([*(f"row {n}" for n in range(60)), "walls of straw"]))
    project.task("01-walls", "sed -i 's/straw/wood/' house.txt")
    for name in ("02-stone", "03-glass"):
        project.task(name, f"while [ ! -e {go} ]; do sleep 0.05; done; sed -i 's/straw/{name}/' house.txt")
    project.commit_all()
    checks = ("--verify", "! grep crooked house.txt", "--gate", "! grep leaking house.txt")
    front = project.start("run", "--yes", "--no-pr", "--retries", "0", *checks)
    _until_done(project, "01-walls")
    go.touch()
    project.finish(front)
    page = _review(open_window(), project)
    for task, word, check in (("02-stone", "crooked", "verif"), ("03-glass", "leaking", "gate")):
        form = page.get_by_role("form", name=f"Resolve the conflict of {task}")
        if not form.count():
            page.get_by_role("button", name=f"Resolve {task}").click()
        form.get_by_role("group", name="Resolution of house.txt").get_by_text("Edit").click()
        text = form.get_by_role("textbox", name="Result of house.txt")
        assert text.evaluate("field => field.scrollTop + field.clientHeight > field.scrollHeight - 100")  # the conflict
        text.fill(f"{word} walls\n")
        form.get_by_role("button", name="Verify and merge").click()
        expect(form).to_have_count(0)
        unmerged = page.get_by_role("group").filter(has_text="not merged").get_by_role("listitem")
        expect(unmerged.filter(has_text=task)).to_contain_text(check)
    assert _merged(page) == ["01-walls"]
    assert project.read_merged_files()["house.txt"].endswith("walls of wood")


def test_the_output_of_the_gate_is_shown(project: TempProject, open_window: OpenWindow) -> None:
    # After the other: merged first and alone, it would have passed its gate, and no newer run would follow the failed one.
    after = "until git for-each-ref refs/plait/attempts | grep -q 02-fire; do sleep 0.05; done"
    project.task("01-walls", f"{after}; echo walls > walls.txt")
    project.task("02-fire", "echo fire > fire.txt")
    project.commit_all()
    burns = "test ! -e fire.txt || { echo '<b>it burns</b>'; exit 1; }"
    project.plait("run", "--yes", "-p", "2", "--gate", f"echo looking; {burns}")
    page = _review(open_window(), project)
    gate = page.get_by_role("region", name="Gate")
    expect(gate).to_contain_text("The gate passed on the merged result.")
    expect(gate).to_contain_text("test ! -e fire.txt")
    expect(page.get_by_role("button", name="Diff of 01-walls")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="02-fire")).to_contain_text("gate")

    gate.get_by_role("button", name="Show output", exact=True).click()
    expect(gate.get_by_role("region", name="Output of gate")).to_have_text("looking\n")
    gate.get_by_role("button", name="Hide output", exact=True).click()
    expect(gate.get_by_role("region", name="Output of gate")).to_have_count(0)
    gate.get_by_text("earlier gate run").click()
    failed = gate.get_by_role("listitem").filter(has_text="failed").first
    failed.get_by_role("button", name="Show output of gate").click()
    expect(failed.get_by_role("region", name="Output of gate")).to_contain_text("<b>it burns</b>")

    page.get_by_role("listitem").filter(has_text="02-fire").get_by_role("button", name="02-fire").click()
    panel = page.get_by_role("complementary")
    panel.get_by_role("tab", name="Checks").click()
    panel.get_by_role("button", name="Show output").click()
    expect(panel.get_by_role("region", name="Output of gate")).to_contain_text("<b>it burns</b>")
    assert find_violations(page) == []


def test_a_gate_that_fails_on_the_base_prevents_publishing(project: TempProject, open_window: OpenWindow) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.commit_all()
    project.plait("run", "--yes", "--gate", "echo it never holds; exit 1")
    page = _review(open_window(), project)
    expect(page.get_by_role("region", name="Gate")).to_contain_text("The gate failed.")
    ship = page.get_by_role("region", name="Ship")
    expect(ship.get_by_role("button", name="Open pull request")).to_have_attribute("aria-disabled", "true")
    expect(ship).to_contain_text("The gate has not passed on what is merged")


def test_a_pull_request_has_the_title_and_body_from_the_page(
    project: TempProject, open_window: OpenWindow, remote: LocalForge
) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.task("02-roof", "echo roof > roof.txt")
    project.task("03-door", "echo door > door.txt")
    project.commit_all()
    project.plait("run", "--select", "03-door", "--yes", "--no-pr")
    (other,) = project.state().batches
    project.plait("run", "--select", "01-walls 02-roof", "--yes", "--no-pr")
    (mine,) = project.state().batches.keys() - {other}
    window = open_window()
    window.go(f"/batches/{mine}")
    page = window.page
    ship = page.get_by_role("region", name="Ship")
    title, body = ship.get_by_label("Title"), ship.get_by_label("Description")
    expect(title).not_to_have_value("")
    own = title.input_value()
    expect(body).to_have_value(_holding("01-walls"))
    ship.get_by_role("radio", name="Preview").check()
    word = ship.get_by_role("cell", name="01-walls").locator("code")
    expect(word).to_have_text("01-walls")
    assert word.evaluate("it => it.getClientRects().length") == 1  # no word is broken in two
    ship.get_by_role("radio", name="Write").check()

    title.fill("A house")
    body.fill("# Walls and a roof\n\n<script>alert(1)</script>")
    ship.get_by_role("radio", name="Preview").check()
    expect(ship.get_by_role("heading", name="Walls and a roof")).to_be_visible()
    expect(ship.get_by_text("<script>alert(1)</script>")).to_be_visible()
    page.reload()
    expect(title).to_have_value("A house")
    batches = page.get_by_role("list", name="Newest batches")
    batches.get_by_role("link", name="03-door").click()  # each batch has its own words
    expect(body).to_have_value(_holding("03-door"))
    expect(title).not_to_have_value("A house")
    batches.get_by_role("link", name="01-walls").click()
    expect(title).to_have_value("A house")
    ship.get_by_role("button", name="Restore plait's text").click()
    expect(title).to_have_value(own)
    title.fill("A house of wood")

    ship.get_by_role("button", name="Open pull request").click()
    link = f"{remote.url}/{REPOSITORY}/pulls/1"
    expect(ship.get_by_role("link", name=link)).to_have_attribute("href", link)
    expect(ship.get_by_role("button", name="Update pull request")).to_be_visible()
    expect(ship.get_by_text("Published at")).to_be_visible()
    assert remote.pulls[0]["title"] == "A house of wood"
    assert "01-walls" in remote.pulls[0]["body"]


def test_a_branch_can_be_pushed_without_a_pull_request(project: TempProject, open_window: OpenWindow) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.commit_all()
    project.plait("run", "--yes", "--no-pr")
    window = open_window(size=PHONE, dark=True)
    for_you = window.page.get_by_role("region", name="For you")
    expect(for_you).to_contain_text("1 merged")
    page = _review(window, project)
    ship = page.get_by_role("region", name="Ship")
    expect(ship.get_by_text("No pull request: this remote is not on GitHub, GitLab or Gitea.")).to_be_visible()
    expect(ship.get_by_role("radio")).to_have_count(0)
    expect(ship.get_by_label("Title")).to_have_count(0)
    ship.get_by_role("button", name="Push the branch").click()
    expect(ship.get_by_text("Published at")).to_be_visible()
    branch = project.branch
    assert branch in project.git("ls-remote", "origin", branch)
    expect(page.get_by_text(f"git switch --detach {branch}")).to_be_visible()
    window.go("/batches")
    outcome = page.get_by_role("table").get_by_text("1 task shipped")
    red, green, blue = drawn_colour(outcome)
    assert green > max(red, blue)
    page.set_viewport_size({"width": 1440, "height": 900})
    window.go("/")
    expect(page.locator("[data-card]")).to_have_count(1)
    expect(for_you).to_have_count(0)


def test_a_failed_publish_says_why_and_what_to_do_also_after_a_reload(
    project: TempProject, open_window: OpenWindow, tmp_path: Path
) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.commit_all()
    project.plait("run", "--yes", "--no-pr")
    project.git("remote", "set-url", "origin", str(tmp_path / "nowhere.git"))
    page = _review(open_window(), project)
    ship = page.get_by_role("region", name="Ship")
    ship.get_by_role("button", name="Push the branch").click()
    problem = ship.get_by_role("alert")
    expect(problem.get_by_role("paragraph")).to_have_count(2)
    message = problem.inner_text()
    page.reload()
    expect(problem).to_have_text(message, use_inner_text=True)


def test_a_batch_without_merges_cannot_be_published(project: TempProject, open_window: OpenWindow) -> None:
    project.task("01-walls", "exit 1")
    project.commit_all()
    project.plait("run", "--yes", "--retries", "0")
    window = open_window()
    page = _review(window, project)
    expect(page.get_by_text("Nothing merged yet")).to_be_visible()
    ship = page.get_by_role("region", name="Ship")
    expect(ship.get_by_role("button", name="Open pull request")).to_have_attribute("aria-disabled", "true")
    expect(ship).to_contain_text("is merged.")
    page.get_by_text("Full diff").click()
    expect(page.get_by_text("Nothing merged yet")).to_be_visible()


def _holding(words: str) -> re.Pattern[str]:
    return re.compile(re.escape(words))


def test_statuses_that_cannot_be_written_are_shown(project: TempProject, open_window: OpenWindow) -> None:
    todo = project.top / "TODO.md"
    todo.write_text("# TODO\n\n### 1. Walls\n**Status**: [NOT STARTED]\n")
    project.commit_all()
    command = f"sh -c 'rm {todo}; mkdir {todo}; echo walls > walls.txt'"
    assert project.plait("run", "TODO.md", "--yes", "--agent-command", command).code == 1
    page = _review(open_window(), project)
    expect(page.get_by_text("Statuses are not in TODO.md: no status could be written")).to_be_visible()


def test_what_is_written_while_the_branch_is_published_stays(
    project: TempProject, open_window: OpenWindow, remote: LocalForge
) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.commit_all()
    project.plait("run", "--yes", "--no-pr")
    page = _review(open_window(), project)
    ship = page.get_by_role("region", name="Ship")
    title = ship.get_by_label("Title")
    title.fill("A house")
    held: list[Route] = []
    page.route("**/pr", lambda route: held.append(route) if route.request.method == "POST" else route.continue_())
    ship.get_by_role("button", name="Open pull request").click()
    expect(ship.get_by_text("Publishing the branch")).to_be_visible()
    title.fill("A house of wood")
    held[0].continue_()
    expect(ship.get_by_role("button", name="Update pull request")).to_be_visible()
    expect(title).to_have_value("A house of wood")
    assert remote.pulls[0]["title"] == "A house"


def test_both_sides_of_a_conflict_stay_while_it_is_resolved(
    project: TempProject, open_window: OpenWindow, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    project.write("house.txt", "straw")
    project.task("01-walls", "echo wood > house.txt")
    project.task("02-stone", f"while [ ! -e {go} ]; do sleep 0.05; done; echo stone > house.txt")
    project.commit_all()
    front = project.start("run", "--yes")
    _until_done(project, "01-walls")
    go.touch()
    project.finish(front)
    window = open_window()
    window.page.clock.install()
    page = _review(window, project)
    expect(page.get_by_role("region", name="Conflict in house.txt")).to_be_visible()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.clock.fast_forward(60_000)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))")
    wait_until(lambda: any("/timeline" in url for url in asked))
    assert [url for url in asked if url.endswith("/conflict")] == []
