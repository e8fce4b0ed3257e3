"""Tasks written on the page: they are files, others write them too, and what was typed is never lost."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, Route, expect

from tests.support.accessibility import find_violations
from tests.support.browser import OpenWindow
from tests.support.temp_project import TempProject

KEY_MS = 60.0  # between two keys of a quick typist


def card(page: Page, task: str) -> Locator:
    return page.locator(f'[data-card="{task}"]')


def edit(page: Page, task: str) -> Locator:
    card(page, task).get_by_role("button").first.focus()
    page.keyboard.press("e")
    return page.get_by_role("dialog", name=f"Edit {task}")


def test_a_new_task_is_written_previewed_and_listed(project: TempProject, open_window: OpenWindow) -> None:
    project.task("01-walls", "true")
    project.task("01-walls-inside", "true")
    project.commit_all()
    window = open_window()
    page = window.page
    expect(card(page, "01-walls")).to_be_visible()
    page.keyboard.press("c")
    form = page.get_by_role("dialog", name="New task")
    create = form.get_by_role("button", name="Create task")
    expect(form.get_by_label("Title")).to_be_focused()
    expect(create).to_have_attribute("aria-disabled", "true")
    form.get_by_label("Title").fill("Put the roof on")
    form.get_by_label("Body", exact=True).last.fill(
        "**Red** tiles\n\n- [x] [shop](https://example.org)\n\n![tile](https://example.org/t.png)\n\n<img src=x>"
    )
    form.get_by_role("radio", name="Preview").check()
    preview = form.get_by_role("region", name="Preview")
    expect(preview.locator("strong")).to_have_text("Red")
    expect(preview.get_by_role("link", name="shop")).to_have_attribute("rel", "noreferrer noopener")
    expect(preview).to_contain_text("tile (https://example.org/t.png)")
    expect(preview).to_contain_text("<img src=x>")
    expect(preview.locator("img")).to_have_count(0)
    form.get_by_label("Needs").press_sequentially("01-walls-inside")
    form.get_by_label("Priority").fill("very")
    create.click()
    expect(form.get_by_role("alert")).to_contain_text("priority")
    window.ignore_errors("422")
    form.get_by_label("Priority").fill("3")
    page.keyboard.press("Control+Enter")
    expect(form).to_have_count(0)
    new = page.locator("[data-card]", has_text="Put the roof on")
    expect(new).to_contain_text("needs 1")
    (made,) = [path for path in (project.top / "tasks").iterdir() if "roof" in path.name]
    assert "**Red** tiles" in made.read_text()
    assert "01-walls-inside" in made.read_text()


def test_an_unsaved_draft_is_kept_until_it_is_discarded(project: TempProject, open_window: OpenWindow) -> None:
    project.task("01-walls", "true")
    project.write("TODO.md", "# Todo\n\n- [ ] Attic\n")
    project.write("plait.toml", '[sources]\npaths = ["tasks", "TODO.md"]')
    project.commit_all()
    page = open_window().page
    expect(card(page, "01-walls")).to_be_visible()
    form = edit(page, "01-walls")
    form.get_by_label("Title").fill("Walls, and windows in them")
    page.keyboard.press("Escape")
    expect(form).to_have_count(0)
    expect(page.get_by_text("Draft kept")).to_be_visible()
    page.reload()
    expect(card(page, "01-walls")).to_be_visible()
    edit(page, "01-walls")
    expect(form.get_by_label("Title")).to_have_value("Walls, and windows in them")
    expect(form.get_by_text("Unsaved draft")).to_be_visible()
    form.get_by_role("button", name="Discard").click()
    page.get_by_role("dialog", name="Discard your changes?").get_by_role("button", name="Discard").click()
    expect(form).to_have_count(0)
    edit(page, "01-walls")
    expect(form.get_by_label("Title")).to_have_value("01-walls")

    form.get_by_role("radio", name="File").check()
    whole = form.get_by_label("The whole file")
    whole.fill(whole.input_value().replace("Do it.", "Do it in stone."))
    form.get_by_role("button", name="Save").click()
    expect(form).to_have_count(0)
    assert "Do it in stone." in project.read("tasks/01-walls.md")

    still = edit(page, "attic")
    expect(still).to_contain_text("TODO.md, and is edited there")


def test_keys_after_that_of_the_editor_reach_nothing_else(project: TempProject, open_window: OpenWindow) -> None:
    """Though it can't show the task before the server has answered."""
    for name in ("01-walls", "02-roof"):
        project.task(name, "true")
    project.commit_all()
    page = open_window().page
    expect(card(page, "02-roof")).to_be_visible()
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/tasks/01-walls", hold)
    form = edit(page, "01-walls")
    page.keyboard.type("x j x t ", delay=KEY_MS)
    expect(form).to_contain_text("Loading the task")
    expect(page.get_by_role("dialog")).to_have_count(1)
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(0)
    for route in held:
        route.continue_()
    expect(form.get_by_label("Title")).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.type(" of stone", delay=KEY_MS)
    expect(form.get_by_label("Title")).to_have_value("01-walls of stone")


def test_two_edits_of_one_task_lose_nothing(project: TempProject, open_window: OpenWindow) -> None:
    project.task("01-walls", "true")
    project.commit_all()
    window = open_window()
    page = window.page
    expect(card(page, "01-walls")).to_be_visible()
    form = edit(page, "01-walls")
    path = project.top / "tasks" / "01-walls.md"
    form.get_by_label("Title").fill("Walls of stone")
    path.write_text(path.read_text().replace("Do it.", "Do it with care."))
    form.get_by_role("button", name="Save").click()
    conflict = form.get_by_role("region", name="Edit conflict")
    expect(conflict).to_contain_text("both can be merged")
    window.ignore_errors("409")
    conflict.get_by_role("button", name="Compare").click()
    expect(conflict).to_contain_text("Do it with care.")
    assert find_violations(page) == []
    conflict.get_by_role("button", name="Merge my changes").click()
    form.get_by_role("button", name="Save").click()
    expect(form).to_have_count(0)
    assert "# Walls of stone" in path.read_text()
    assert "Do it with care." in path.read_text()

    edit(page, "01-walls")
    form.get_by_label("Title").fill("Walls of wood")
    path.write_text(path.read_text().replace("# Walls of stone", "# Walls of glass"))
    form.get_by_role("button", name="Save").click()
    expect(conflict).to_be_visible()
    window.ignore_errors("409")
    expect(form.get_by_label("Title")).to_have_value("Walls of wood")
    conflict.get_by_role("button", name="Load theirs").click()
    page.get_by_role("button", name="Load theirs").last.click()
    expect(form.get_by_label("Title")).to_have_value("Walls of glass")


def test_selecting_text_beyond_the_edge_of_a_dialog_leaves_it_open(
    project: TempProject, open_window: OpenWindow
) -> None:
    project.task("01-walls", "true")
    project.commit_all()
    page = open_window().page
    expect(card(page, "01-walls")).to_be_visible()
    page.keyboard.press("c")
    form = page.get_by_role("dialog", name="New task")
    title = form.get_by_label("Title")
    title.fill("Put the roof on")
    box = title.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 100, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(5, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    expect(title).to_have_value("Put the roof on")
    page.mouse.click(5, 5)
    expect(form).to_have_count(0)


def test_an_entry_that_was_not_ended_is_saved_by_the_key_that_saves(
    project: TempProject, open_window: OpenWindow
) -> None:
    project.task("01-walls", "true")
    project.task("02-roof", "true")
    project.commit_all()
    page = open_window().page
    expect(card(page, "02-roof")).to_be_visible()
    form = edit(page, "02-roof")
    form.get_by_label("Touches").press_sequentially("roof.txt")
    page.keyboard.press("Control+Enter")
    expect(form).to_have_count(0)
    assert "roof.txt" in project.read("tasks/02-roof.md")


def test_lines_of_a_file_keep_their_ends(project: TempProject, open_window: OpenWindow) -> None:
    """A text field has only one kind of line end."""
    project.task("01-walls", "true")
    path = project.top / "tasks" / "01-walls.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    project.commit_all()
    page = open_window().page
    expect(card(page, "01-walls")).to_be_visible()
    form = edit(page, "01-walls")
    form.get_by_role("radio", name="File").check()
    whole = form.get_by_label("The whole file")
    text = whole.input_value()
    whole.fill(f"{text}x")
    whole.fill(text)
    expect(form.get_by_role("button", name="Save")).to_have_attribute("aria-disabled", "true")  # nothing is changed
    whole.fill(text.replace("Do it.", "Do it in stone.\nSlowly."))
    form.get_by_role("button", name="Save").click()
    expect(form).to_have_count(0)
    saved = path.read_bytes()
    assert b"Do it in stone.\r\nSlowly." in saved
    assert saved.count(b"\n") == saved.count(b"\r\n")
