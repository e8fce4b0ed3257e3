"""What was changed, read in a browser: both views, folding, finding, and comments that become a new attempt."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.support.accessibility import find_violations
from tests.support.browser import PHONE, BrowserWindow, OpenWindow
from tests.support.temp_project import TempProject
from tests.support.waiting import wait_until

# What a shell task does with feedback: a file of its change tells what it was given.
_HEARD = 'if [ -n "$PLAIT_FEEDBACK_FILE" ]; then cp "$PLAIT_FEEDBACK_FILE" heard.txt; fi'

_OWN = "parent.document.title = 1 || 'owned'"
_GIF = b"GIF89a%s\0\x80\0\0\0\0\0\xff\xff\xff,\0\0\0\0\1\0\1\0\0\2\2D\1\0;"

# Lines that wrap push those below them down: no row lies over another.
_APART = """sheet => {
  const rows = [...sheet.querySelectorAll("[data-index]")].map(row => row.getBoundingClientRect());
  return rows.slice(1).every((row, place) => row.top >= rows[place].bottom - 1);
}"""


def _task(window: BrowserWindow, project: TempProject, task: str) -> Page:
    """The change of a task, opened in the review of its batch."""
    window.go(f"/batches/{project.batch().id}")
    window.page.get_by_role("button", name=f"Diff of {task}").click()
    return window.page


def _file(page: Page, path: str) -> Locator:
    return page.get_by_role("heading", name=path).get_by_role("button")


def _mark_viewed(page: Page) -> None:
    """A viewed file is collapsed, and stays so."""
    sheet = page.get_by_role("region", name="Diff, line by line")
    page.get_by_role("button", name="6 files").click()
    page.get_by_role("navigation", name="Changed files").get_by_role("button", name="roof.py").click()
    sheet.locator("[data-index]", has=_file(page, "src/roof.py")).get_by_role("checkbox", name="Viewed").check()
    expect(_file(page, "src/roof.py")).to_have_attribute("aria-expanded", "false")
    page.reload()
    page.get_by_role("button", name="Diff of 01-roof").click()
    expect(page.get_by_text("1 of 6 viewed")).to_be_visible()
    page.get_by_role("button", name="Collapse all").click()
    page.get_by_role("button", name="Expand all").click()


def _show_hidden_lines(page: Page) -> None:
    """Some of those between two changes, all that are left, all of the file; and only the changes again."""
    sheet = page.get_by_role("region", name="Diff, line by line")
    expect(sheet.get_by_text("row_7()", exact=True)).to_have_count(0)
    listed = page.get_by_role("navigation", name="Changed files").get_by_role("button", name="roof.py")
    listed.click()
    sheet.get_by_role("button", name="Show lines 57 to 76 of src/roof.py").press("Enter")
    expect(sheet.get_by_role("button", name="Show lines 37 to 56 of src/roof.py")).to_be_focused()
    expect(listed).to_have_attribute("aria-current", "true")  # it is the same file, with more lines
    page.keyboard.press("Enter")
    sheet.get_by_role("button", name="Show lines 7 to 26 of src/roof.py").click()
    expect(sheet.locator('[data-side="new"]', has_text="row_7()")).to_have_text(re.compile(r"^7\s*row_7\(\)$"))
    sheet.hover()
    page.mouse.wheel(0, 300)
    sheet.get_by_role("button", name="Show lines 27 to 36 of src/roof.py").press("Enter")
    expect(sheet.get_by_role("button", name=re.compile("^Show line.*roof.py"))).to_have_count(0)
    expect(sheet).to_be_focused()
    expect(sheet.locator('[data-side="new"]', has_text="row_30()")).to_have_count(1)
    sheet.get_by_role("button", name="Show only the changes of src/roof.py").click()
    expect(sheet.get_by_text("row_30()", exact=True)).to_have_count(0)
    sheet.get_by_role("button", name="Show all lines of src/roof.py").click()
    expect(sheet.locator('[data-side="new"]', has_text="row_7()")).to_have_count(1)


def _find(page: Page, text: str) -> None:
    page.get_by_role("button", name="Find in the diff").click()
    find = page.get_by_role("searchbox", name="Find in the diff")
    place = find.bounding_box()
    find.fill(text)
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 of 1 lines")).to_be_visible()
    assert find.bounding_box() == place
    expect(page.locator("[data-found]", has_text=text)).to_be_in_viewport()
    page.keyboard.press("Escape")


def _look_at_image(page: Page) -> None:
    """Before and after the change, with its sizes."""
    page.get_by_role("button", name="6 files").click()
    page.get_by_role("navigation", name="Changed files").get_by_role("button", name="logo.gif").click()
    for version, width in (("before", 3), ("after", 7)):
        image = page.get_by_role("figure").filter(has=page.get_by_role("img", name=f"logo.gif, {version}"))
        text = f"{version.capitalize()}{width} \N{MULTIPLICATION SIGN} 2 · {len(_GIF) + 1} bytes"
        expect(image).to_contain_text(text)
    before, after = (each.bounding_box() for each in page.get_by_role("figure").all())
    assert before is not None
    assert after is not None
    assert (before["y"], before["x"] + before["width"] <= after["x"]) == (after["y"], True)  # side by side
    page.get_by_role("button", name="6 files").click()


def _drag_a_range(page: Page) -> None:
    """From the number of one line to that of another."""
    sheet = page.get_by_role("region", name="Diff, line by line")
    page.get_by_role("button", name="Comment on line 2 of house.txt").hover()
    page.mouse.down()
    page.get_by_role("button", name="Comment on line 3 of house.txt").hover()
    expect(sheet.locator("[data-chosen]")).to_have_count(2)
    page.mouse.up()
    page.get_by_label("Comment on house.txt:2-3").fill("Dragged.")
    page.keyboard.press("Control+Enter")
    expect(sheet).to_be_focused()


def _compare_attempts(window: BrowserWindow) -> None:
    """The conversation has the comments, and the diff of each attempt and between them."""
    page = window.page
    window.go("/?task=01-house")
    panel = page.get_by_role("complementary")
    expect(panel.get_by_role("list", name="Conversation")).to_contain_text("Told: review comments")
    panel.get_by_role("button", name="Changes of attempt 2 since attempt 1").click()
    expect(panel.get_by_text("attempt 2 since attempt 1", exact=True)).to_be_visible()
    expect(panel.get_by_role("button", name="1 file ")).to_be_visible()
    panel.get_by_role("combobox", name="Changes").select_option("Attempt 1")
    expect(panel.get_by_role("heading", name="house.txt")).to_be_visible()
    expect(panel.get_by_role("heading", name="heard.txt")).to_have_count(0)


def test_a_diff_is_shown_unified_and_side_by_side(project: TempProject, open_window: OpenWindow) -> None:
    roof = ["def roof():", "    wood = 3", "    return wood", *(f"    row_{n}()" for n in range(4, 80)), "end = True"]
    project.write("src/roof.py", "\n".join(roof))
    project.write("src/old.py", "moved = True\nand_more = 1\nand_most = 2")
    (project.top / "logo.gif").write_bytes(_GIF % b"\3\0\2")
    project.task(
        "01-roof",
        """
        sed -i 's/wood = 3/stone = 3/; s/return wood/return stone/; s/end = True/end = False/' src/roof.py
        git mv src/old.py src/new.py
        seq 2000 > numbers.txt
        seq 5 > package-lock.json
        printf '\\000\\001' > logo.bin
        printf '\\007' | dd of=logo.gif bs=1 seek=6 conv=notrunc
        """.replace("\n        ", "\n"),
    )
    project.commit_all()
    project.plait("run", "--yes", "--no-pr")
    window = open_window()
    page = _task(window, project, "01-roof")
    expect(page.get_by_role("button", name="6 files")).to_be_visible()

    # side by side at first: a line and what it became are beside each other, with the words that changed
    sheet = page.get_by_role("region", name="Diff, line by line")
    expect(sheet.get_by_text("Lock file, collapsed by default")).to_be_visible()
    expect(sheet.get_by_text("2,000 changed lines, collapsed by default")).to_be_visible()
    expect(sheet.get_by_text("Binary file")).to_be_visible()
    page.get_by_role("button", name="6 files").click()
    page.get_by_role("navigation", name="Changed files").get_by_role("button", name="roof.py").click()
    before, after = sheet.locator('[data-side="old"]'), sheet.locator('[data-side="new"]')
    expect(before.filter(has_text="wood = 3")).to_have_text(re.compile(r"^2\S\s*wood = 3$"))
    expect(after.filter(has_text="stone = 3")).to_have_text(re.compile(r"^2\+\s*stone = 3$"))
    expect(after.filter(has_text="stone = 3").locator("[data-marked]")).to_have_text("stone")
    expect(after.filter(has_text="return stone").locator("[data-syntax=keyword]")).to_have_text("return")

    _show_hidden_lines(page)

    # unified, by its key; it is kept
    page.get_by_role("heading", name="src/roof.py").click()
    page.keyboard.press("u")
    expect(sheet.locator('[data-side="old"]')).to_have_count(0)
    expect(sheet.locator('[data-kind="removed"]', has_text="wood = 3")).to_be_visible()
    page.reload()
    page.get_by_role("button", name="Diff of 01-roof").click()
    expect(page.get_by_role("radio", name="Unified")).to_be_checked()

    # a folded file opens, all fold and unfold
    page.get_by_role("button", name="Show it: package-lock.json").click()
    expect(sheet.locator('[data-kind="added"]').get_by_text("5", exact=True).first).to_be_visible()
    page.get_by_role("button", name="Collapse all").click()
    expect(sheet.locator("[data-kind]")).to_have_count(0)
    expect(_file(page, "src/roof.py")).to_have_attribute("aria-expanded", "false")
    page.get_by_role("button", name="Expand all").click()

    _find(page, "1987")  # far out of sight, and in a file that was folded
    _mark_viewed(page)

    _look_at_image(page)
    assert find_violations(page) == []

    # from file to file
    page.get_by_role("button", name="6 files").click()
    page.get_by_role("navigation", name="Changed files").get_by_role("button", name="new.py").click()
    expect(page.get_by_role("heading", name="src/old.py → src/new.py")).to_be_in_viewport()
    page.keyboard.press("n")
    expect(page.get_by_role("heading", name="src/roof.py")).to_be_in_viewport()
    page.keyboard.press("p")
    page.keyboard.press("p")
    expect(page.get_by_role("heading", name="package-lock.json")).to_be_in_viewport()


def test_comments_become_a_new_attempt(project: TempProject, open_window: OpenWindow) -> None:
    project.write("house.txt", "cellar\nwalls\nroof")
    project.task("01-house", f"sed -i 's/walls/walls of wood/' house.txt; echo lamp > lamp.txt; {_HEARD}")
    project.commit_all()
    project.plait("run", "--yes", "--no-pr")
    window = open_window()
    page = _task(window, project, "01-house")
    sheet = page.get_by_role("region", name="Diff, line by line")

    page.get_by_role("button", name="Comment on line 2 of house.txt").click()
    page.get_by_label("Comment on house.txt:2").fill("Of stone, please.")
    page.reload()  # what is being written is kept
    page.get_by_role("button", name="Diff of 01-house").click()
    expect(page.get_by_label("Comment on house.txt:2")).to_have_value("Of stone, please.")
    page.get_by_role("button", name="Add comment").click()
    expect(page.get_by_role("article", name="Comment on house.txt:2")).to_contain_text("Of stone, please.")

    # a range: from one line to another, with Shift
    page.get_by_role("button", name="Comment on line 1 of house.txt").click()
    page.get_by_role("button", name="Comment on line 3 of house.txt").click(modifiers=["Shift"])
    page.get_by_label("Comment on house.txt:1-3").fill("All of it is <b>small</b>.")
    page.keyboard.press("Control+Enter")

    _drag_a_range(page)

    # on no line
    page.get_by_role("button", name="Comment", exact=True).click()
    page.get_by_label("Comment on the whole change").fill("More light.")
    page.keyboard.press("Control+Enter")

    # by the keyboard alone
    sheet.focus()
    page.keyboard.press("j")
    page.keyboard.press("c")
    page.keyboard.type("And this.")
    page.keyboard.press("Control+Enter")

    page.reload()
    page.get_by_role("button", name="Diff of 01-house").click()
    draft = page.get_by_role("region", name="Comments to send")
    draft.get_by_text("5 comments not sent").click()
    expect(draft.get_by_role("listitem")).to_have_count(5)
    draft.get_by_role("listitem").filter(has_text="And this.").get_by_role("button", name="Remove").click()
    draft.get_by_role("button", name="Send 4 comments and retry").click()
    expect(draft).to_have_count(0)

    _until_merged(page, "2 attempts")
    heard = project.read_merged_files()["heard.txt"]
    assert "house.txt:2\n" in heard
    assert "> +walls of wood\nOf stone, please." in heard
    assert "house.txt:1-3\n" in heard
    assert "the whole change\nMore light." in heard
    assert "house.txt:2-3\n" in heard
    assert "All of it is <b>small</b>." in heard
    assert "And this." not in heard
    _newer(page)
    expect(page.get_by_role("heading", name="heard.txt")).to_be_visible()
    expect(page.get_by_text("attempt 2", exact=True)).to_be_visible()
    _compare_attempts(window)


def test_comments_on_an_older_attempt_are_kept_and_sent(project: TempProject, open_window: OpenWindow) -> None:
    project.task("01-house", f"echo walls > house.txt; {_HEARD}")
    project.commit_all()
    project.plait("run", "--yes", "--no-pr")
    window = open_window()
    page = _task(window, project, "01-house")
    page.get_by_role("button", name="Comment on line 1 of house.txt").click()
    page.get_by_label("Comment on house.txt:1").fill("Why?")
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Comment on line 1 of house.txt").click()
    page.get_by_role("textbox", name="Comment on house.txt:1").fill("And what")
    project.plait("feedback", "01-house", "somebody else was quicker")
    draft = page.get_by_role("region", name="Comments to send")
    expect(draft).to_contain_text("about attempt 1. Attempt 2 is newer.")
    _newer(page)
    expect(page.get_by_text("attempt 2", exact=True)).to_be_visible()
    begun = draft.get_by_label("Comment on house.txt:1, not shown")
    expect(begun).to_have_value("And what")
    expect(draft.get_by_role("button", name="Send 1 comment")).to_have_attribute(
        "title", "Add or discard the open comment first."
    )
    begun.fill("And what else?")
    draft.get_by_role("button", name="Add comment").click()
    draft.get_by_role("button", name="Send 2 comments").click()
    expect(draft).to_have_count(0)
    _until_merged(page, "3 attempts")
    assert "And what else?" in project.read_merged_files()["heard.txt"]
    assert "house.txt:1, in attempt 1" in project.read_merged_files()["heard.txt"]


def test_hidden_lines_are_those_of_the_diff_that_is_shown(
    project: TempProject, open_window: OpenWindow, tmp_path: Path
) -> None:
    """Of a running attempt, whose files change meanwhile."""
    begun, go, done = tmp_path / "begun", tmp_path / "go", tmp_path / "done"
    project.write("house.txt", "\n".join(f"row {n}" for n in range(1, 90)))
    wait = f"until [ -e {go} ]; do sleep 0.02; done; sed -i '1i new first row' house.txt; touch {done}"
    project.task("01-house", f"sed -i '50d' house.txt; touch {begun}; {wait}; until [ ! -e {go} ]; do sleep 0.02; done")
    project.commit_all()
    front = project.start("run", "--yes", "--no-pr")
    wait_until(begun.exists)
    window = open_window()
    page = window.page
    window.go(f"/?task=01-house&batch={project.batch().id}&tab=diff")
    sheet = page.get_by_role("region", name="Diff, line by line")
    sheet.hover()
    expect(sheet.get_by_text("row 47", exact=True)).to_be_visible()
    go.touch()
    wait_until(done.exists)
    sheet.get_by_role("button", name="Show lines 27 to 46 of house.txt").click()
    message = page.get_by_text("house.txt has changed since this diff was read")
    expect(message).to_be_visible()
    expect(sheet.get_by_text("row 46", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Show it", exact=True).click()
    expect(message).to_have_count(0)
    sheet.get_by_role("button", name="Show lines 28 to 47 of house.txt").click()
    expect(sheet.locator('[data-kind="same"]', has_text="row 46")).to_have_text(re.compile("^46 ?47 *row 46$"))
    window.ignore_errors("409")
    go.unlink()
    project.finish(front)


def test_hostile_names_and_texts_are_text(project: TempProject, open_window: OpenWindow) -> None:
    name = "<img src=x onerror=alert(1)>\u202egpj.txt"
    project.task(
        "01-evil",
        f"""
        echo '<script>document.title = "owned"</script>' > '{name}'
        printf 'red \\033[31m bell \\007 right \\342\\200\\256 left\\n' >> '{name}'
        head -c 10000 /dev/zero | tr '\\0' x >> '{name}'
        printf 'a\\r\\n' > "tab	and\\"quote.txt"
        echo '<svg xmlns="http://www.w3.org/2000/svg" onload="{_OWN}"><script>{_OWN}</script></svg>' > evil.svg
        """.replace("\n        ", "\n"),
    )
    project.commit_all()
    project.plait("run", "--yes", "--no-pr")
    window = open_window(size=PHONE)
    page = _task(window, project, "01-evil")
    sheet = page.get_by_role("region", name="Diff, line by line")
    expect(page.get_by_role("heading", name="<img src=x onerror=alert(1)><U+202E>gpj.txt")).to_be_visible()
    expect(sheet.get_by_text('<script>document.title = "owned"</script>')).to_be_visible()
    expect(sheet.get_by_text("␛")).to_be_visible()
    expect(sheet.get_by_text("<U+202E>").last).to_be_attached()
    expect(sheet.get_by_text("5,000 more characters")).to_be_attached()
    assert "␍" not in sheet.inner_text()  # a line that ends with CR LF is a line
    expect(sheet.get_by_role("img", name="evil.svg, added")).to_be_attached()
    assert "owned" not in page.title()
    assert page.locator("img").count() == 1
    image = f"{window.url}/api/batches/{project.batch().id}/diff/file?path=evil.svg&format=image"
    answer = page.request.get(image)
    assert (answer.headers["content-type"], answer.headers["x-content-type-options"]) == ("image/svg+xml", "nosniff")
    with page.expect_download():  # rather than being opened as a document of this server
        page.evaluate("url => { window.open(url) }", image)
    # on a phone there is one view, and nothing is wider than the screen
    expect(page.get_by_role("radio", name="Side by side")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    wait_until(lambda: sheet.evaluate(_APART))


def test_a_long_diff_is_rendered_in_parts(project: TempProject, open_window: OpenWindow) -> None:
    project.task("01-numbers", "seq 100000 > numbers.txt")
    project.commit_all()
    project.plait("run", "--yes", "--no-pr")
    page = _task(open_window(), project, "01-numbers")
    sheet = page.get_by_role("region", name="Diff, line by line")
    page.get_by_role("button", name="Show it: numbers.txt").click()
    expect(sheet.get_by_text("17", exact=True).first).to_be_visible()
    assert sheet.locator("[data-index]").count() < 200
    sheet.evaluate("it => it.scrollTo(0, it.scrollHeight)")
    expect(sheet.get_by_text("100000", exact=True).first).to_be_in_viewport()
    expect(_file(page, "numbers.txt")).to_be_in_viewport()
    assert sheet.locator("[data-index]").count() < 200


def _until_merged(page: Page, attempts: str) -> None:
    expect(page.get_by_role("list", name="Merged tasks, in order")).to_contain_text(attempts)


def _newer(page: Page) -> None:
    """A diff that is being read stays until the newer one is requested; otherwise it is updated by itself."""
    show = page.get_by_role("button", name="Show it", exact=True)
    expect(show.or_(page.get_by_text("attempt 2", exact=True)).first).to_be_visible()
    if show.count():
        show.click()
