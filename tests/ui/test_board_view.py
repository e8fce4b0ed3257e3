"""The board: every task of the sources, by where it stands; searched, narrowed, walked through by the keys."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, Route, expect

from tests.support.accessibility import find_violations
from tests.support.browser import PHONE, TURNING_TEXTS, OpenWindow
from tests.support.temp_project import TempProject
from tests.support.waiting import wait_until

# All that any frame shows in the column of what is published.
_WATCH_DONE = """
window.done = [];
new MutationObserver(() => window.done.push(...document.querySelectorAll("[aria-label=Done] [data-card]")))
  .observe(document, { childList: true, subtree: true });
"""


def column(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


def card(page: Page, task: str) -> Locator:
    return page.locator(f'[data-card="{task}"]')


def held_up(go: Path, then: str) -> str:
    return f"echo laying tiles; while [ ! -e {go} ]; do sleep 0.05; done; {then}"


def heights(elements: Locator) -> list[float]:
    return [box["height"] for each in elements.all() if (box := each.bounding_box()) is not None]


def right_edge(element: Locator) -> float:
    box = element.bounding_box()
    return box["x"] + box["width"] if box is not None else float("inf")


def bottom_edge(element: Locator) -> float:
    box = element.bounding_box()
    return box["y"] + box["height"] if box is not None else float("inf")


def line_count(text: Locator) -> int:
    box = text.bounding_box()
    return round(box["height"] / 16) if box is not None else 0


def begun(project: TempProject, *tasks: str) -> None:
    """A batch of these, that goes on without anybody."""
    words = ("run", "--detach", "--yes", "--retries", "0", "-s", ", ".join(tasks))
    assert project.plait(*words).code == 0


def test_tasks_move_between_columns_by_themselves(project: TempProject, open_window: OpenWindow) -> None:
    go = project.top.parent / "go"
    project.task("01-walls", "echo walls > walls.txt", title="Build the walls")
    project.task("02-roof", held_up(go, "echo roof > roof.txt"), needs="[01-walls]")
    project.task("03-paint", "echo paint > paint.txt", needs="[02-roof, 01-walls]")
    project.task("04-fence", "echo no wood left in sheds >&2; exit 3", title="A fence around the garden")
    project.task("05-later", "true")
    project.commit_all()
    page = open_window().page
    page.add_init_script(_WATCH_DONE)
    page.reload()
    todo = column(page, "To do")
    for name in ("01-walls", "02-roof", "03-paint", "04-fence", "05-later"):
        expect(todo.get_by_role("button", name=name)).to_be_visible()
    expect(card(page, "03-paint")).to_contain_text("needs 2")
    expect(card(page, "01-walls")).to_contain_text("Build the walls")

    begun(project, "01-walls", "02-roof", "03-paint", "04-fence")
    expect(column(page, "Review").get_by_role("button", name="01-walls")).to_be_visible()
    expect(card(page, "01-walls")).to_contain_text(re.compile(r"\+1 .0"))
    expect(column(page, "Running").get_by_role("button", name="02-roof")).to_be_visible()
    expect(card(page, "02-roof")).to_contain_text("laying tiles")
    expect(card(page, "02-roof")).to_contain_text("shell")
    expect(column(page, "Waiting").get_by_role("button", name="03-paint")).to_be_visible()
    expect(card(page, "03-paint")).to_contain_text("needs 02-roof")
    expect(column(page, "Failed").get_by_role("button", name="04-fence")).to_be_visible()
    fence = card(page, "04-fence")
    expect(fence).to_contain_text(re.compile(r"no wood left in sheds$"))  # and no "exit status 3" before it
    page.set_viewport_size({"width": 1280, "height": 900})  # a title has the line that a reason leaves
    wait_until(lambda: line_count(fence.get_by_role("button").first) == 2)
    assert line_count(fence.get_by_text("no wood left in sheds")) == 1
    page.set_viewport_size({"width": 1440, "height": 900})
    assert [height for height in heights(page.locator("[data-card]")) if not 56 <= height <= 72] == []

    # In a window that is opened later, cards show the last output, too.
    expect(card(open_window().page, "02-roof")).to_contain_text("laying tiles")
    expect(todo.locator("[data-card]")).to_have_count(1)

    # The panel leaves less room for the board: the card that it belongs to is not behind it.
    card(page, "04-fence").click()
    expect(page.get_by_role("complementary")).to_be_visible()
    expect(card(page, "04-fence")).to_be_in_viewport(ratio=1)
    wait_until(lambda: right_edge(card(page, "04-fence")) <= 1440 - 600)
    page.keyboard.press("Escape")

    go.touch()
    expect(column(page, "Review").locator("[data-card]")).to_have_count(3)
    assert page.evaluate("window.done.length") == 0  # no card passes through another column
    card(page, "02-roof").click()
    expect(page).to_have_url(re.compile("task=02-roof.*batch="))


def test_ids_and_titles_stand_at_the_same_place_on_all_cards(project: TempProject, open_window: OpenWindow) -> None:
    long = "the table of the orders of 2019 has no column for the tax of the country that they are sent to"
    for name, reason in {"01-walls": "no key", "02-roof": long, "03-door": ""}.items():
        project.task(name, f"echo 'error: {reason}' >&2; exit 1", title="A title")
    project.commit_all()
    begun(project, "01-walls", "02-roof", "03-door")
    page = open_window().page
    expect(card(page, "02-roof").get_by_text("the table of the orders")).to_be_visible()
    places = set()
    for task in ("01-walls", "02-roof", "03-door"):
        expect(card(page, task).get_by_text(task)).to_have_count(1)
        outer, inner = card(page, task).bounding_box(), card(page, task).get_by_text(task).bounding_box()
        assert outer is not None
        assert inner is not None
        places.add((round(inner["x"] - outer["x"]), round(inner["y"] - outer["y"])))
    assert len(places) == 1


def test_nothing_moves_under_the_cursor(project: TempProject, open_window: OpenWindow) -> None:
    go = project.top.parent / "go"
    for name in ("01-walls", "02-roof", "03-door"):
        project.task(name, held_up(go, f"echo > {name}"))
    project.commit_all()
    page = open_window().page
    todo, running = column(page, "To do"), column(page, "Running")
    names = todo.locator("[data-card]")

    card(page, "02-roof").get_by_role("button").first.focus()
    page.keyboard.press("ArrowUp")
    expect(card(page, "01-walls").get_by_role("button").first).to_be_focused()
    begun(project, "01-walls", "02-roof")
    expect(card(page, "01-walls")).to_contain_text("now running")
    expect(card(page, "02-roof")).to_contain_text("now running")
    assert [each.get_attribute("data-card") for each in names.all()] == ["01-walls", "02-roof", "03-door"]
    expect(running.locator("[data-card]")).to_have_count(0)
    expect(todo.locator("header")).to_contain_text("3")  # what is shown, whatever has started
    expect(running.locator("header")).to_contain_text("0")

    page.keyboard.press("/")
    expect(running.locator("[data-card]")).to_have_count(2)
    expect(names).to_have_count(1)

    box = card(page, "03-door").bounding_box()
    assert box is not None
    begun(project, "03-door")
    activity = card(page, "03-door").get_by_text("now running")
    steps = iter(range(100_000))

    def moved_until_it_says_so() -> bool:
        page.mouse.move(box["x"] + 20 + next(steps) % 2, box["y"] + 20)
        return activity.is_visible()

    wait_until(moved_until_it_says_so)
    expect(todo.get_by_role("button", name="03-door")).to_be_visible()
    page.mouse.move(5, 5)
    expect(running.get_by_role("button", name="03-door")).to_be_visible()
    go.touch()


def test_a_refused_retry_is_an_error_until_its_task_ends(project: TempProject, open_window: OpenWindow) -> None:
    hold = project.folder / "hold"
    for name in ("01-walls", "02-roof"):
        project.task(name, f"while [ -e {hold} ]; do sleep 0.05; done; exit 3")
    project.commit_all()
    assert project.plait("run", "--yes", "--retries", "0").code == 1
    hold.touch()
    window = open_window()
    page = window.page
    asked: list[Route] = []

    def ask(route: Route) -> None:
        asked.append(route)

    page.route("**/api/bulk", ask)
    column(page, "Failed").get_by_role("button", name="Retry all failed").click()
    wait_until(lambda: page.evaluate("true") and asked)
    asked[0].fetch()  # the same was asked for a moment ago, in another window
    expect(column(page, "Running").locator("[data-card]")).to_have_count(2)
    asked[0].continue_()
    expect(page.get_by_role("alert")).to_contain_text("Retrying 01-walls")
    hold.unlink()
    expect(column(page, "Failed").locator("[data-card]")).to_have_count(2)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_search_filters_and_grouping_survive_a_reload(project: TempProject, open_window: OpenWindow) -> None:
    for name in ("01-walls", "02-roof"):
        project.task(name, "true", phase="1", agent="shell")
    project.task("03-hedge", "true", phase="Garden", agent="claude")
    project.task("04-pond", "true")
    project.commit_all()
    page = open_window().page
    shown = page.locator("[data-card]")
    expect(shown).to_have_count(4)

    page.keyboard.press("/")
    page.keyboard.type("ROOF tasks")
    expect(shown).to_have_count(1)
    expect(card(page, "02-roof")).to_be_visible()
    page.get_by_label("Search tasks").fill("no such thing")
    expect(page.get_by_text("No matching tasks")).to_be_visible()
    page.get_by_role("button", name="Show all tasks").click()
    expect(shown).to_have_count(4)

    page.keyboard.press("f")
    menu = page.get_by_role("dialog", name="Filter")
    menu.get_by_label("Phase 1").check()
    menu.get_by_label("Garden").check()
    menu.get_by_label("shell").check()
    page.keyboard.press("Escape")
    expect(menu).to_have_count(0)
    expect(shown).to_have_count(2)
    page.get_by_role("button", name="Remove the filter Agent: shell").click()
    expect(shown).to_have_count(3)

    page.get_by_label("Group", exact=True).select_option("By phase")
    expect(page.get_by_role("heading", name="Garden")).to_be_visible()
    expect(page).to_have_url(re.compile("phase=Garden.*group=phase"))
    page.reload()
    expect(page.get_by_role("heading", name="Phase 1")).to_be_visible()
    expect(shown).to_have_count(3)
    page.get_by_role("button", name="Show all", exact=True).click()
    expect(page.get_by_role("heading", name="No phase")).to_be_visible()
    expect(shown).to_have_count(4)


def test_phases_have_their_names(project: TempProject, open_window: OpenWindow) -> None:
    project.write("TODO.md", "# Todo\n\n## Phase 1: Cellar\n\n- [ ] Dig\n\n## Phase 2: Roof\n\n- [ ] Tile\n")
    project.write("plait.toml", '[sources]\npaths = ["TODO.md"]')
    project.commit_all()
    page = open_window().page
    expect(card(page, "dig")).to_be_visible()
    page.get_by_label("Group", exact=True).select_option("By phase")
    for name in ("Cellar", "Roof"):
        expect(page.get_by_role("heading", name=name)).to_be_visible()
    page.keyboard.press("f")
    page.get_by_role("dialog", name="Filter").get_by_label("Cellar").check()
    page.keyboard.press("Escape")
    expect(card(page, "tile")).to_have_count(0)
    page.get_by_role("button", name="Remove the filter Phase: Cellar").click()
    page.get_by_label("Search tasks").fill("cellar")
    expect(page.locator("[data-card]")).to_have_count(1)
    card(page, "dig").click()
    page.get_by_role("tab", name="About").click()
    expect(page.get_by_role("complementary")).to_contain_text("PhaseCellar")


def test_a_thousand_tasks_are_navigated_by_keyboard(project: TempProject, open_window: OpenWindow) -> None:
    for number in range(1000):
        project.task(f"{number:04}-brick", "true")
    done = "".join(f"- [x] Tile {number}\n" for number in range(40))
    project.write("TODO.md", f"# Todo\n\n{done}")
    project.write("plait.toml", '[sources]\npaths = ["tasks", "TODO.md"]')
    page = open_window().page
    expect(column(page, "To do").get_by_text("1000", exact=True)).to_be_visible()
    page.wait_for_function("document.querySelectorAll('[data-card]').length > 11")
    whole = [each for each in page.locator("[data-card*=brick]").all() if bottom_edge(each) <= 900]
    assert len(whole) >= 11  # on a screen of 900 pixels
    search = page.get_by_role("searchbox", name="Search tasks")
    width = search.bounding_box()
    search.fill("brick")
    expect(page.get_by_role("button", name="Show all", exact=True)).to_be_visible()
    assert search.bounding_box() == width  # what appears beside it does not make it smaller
    search.fill("")
    search.blur()
    assert page.locator("[data-card]").count() < 60
    page.keyboard.press("j")
    expect(card(page, "0000-brick").get_by_role("button").first).to_be_focused()
    for key in ("j", "ArrowDown", "k"):
        page.keyboard.press(key)
    expect(card(page, "0001-brick").get_by_role("button").first).to_be_focused()
    page.keyboard.press("End")
    expect(card(page, "0999-brick").get_by_role("button").first).to_be_focused()
    expect(card(page, "0999-brick")).to_be_in_viewport()
    page.mouse.move(400, 400)
    page.mouse.wheel(0, -1_000_000)
    expect(card(page, "0000-brick")).to_be_in_viewport()
    expect(card(page, "0999-brick").get_by_role("button").first).to_be_focused()
    assert find_violations(page) == []
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("task=0999-brick"))
    page.keyboard.press("Escape")

    # A column without the cursor is scrolled with the keyboard, too.
    page.get_by_role("checkbox", name="Select all in Done").focus()
    page.keyboard.press("Tab")
    expect(column(page, "Done").locator("[tabindex='0']:focus")).to_have_count(1)
    page.keyboard.press("End")
    expect(card(page, "tile-39")).to_be_in_viewport()


def test_hostile_tasks_are_text_and_source_errors_are_shown(project: TempProject, open_window: OpenWindow) -> None:
    hostile = "<script>window.hurt = 1</script><img src=x onerror='window.hurt = 1'> \u202eדלת " + "y" * 10_000
    facts = "run: echo x > x.txt\nphase: House \u202eA\ntouches: [src/\u202ecod.exe]"
    project.write("tasks/01-evil.md", f"---\n{facts}\n---\n# {hostile}\n\nDo it \u202e**twice**.")
    project.write("tasks/02-broken.md", "---\npriority: [\n---\n# Broken\n\nDo it.")
    project.write(".kiro/specs/house/tasks.md", "# Plan\n\n- [ ] 1. House\n  - [ ] 1.1 Cellar\n  - [x] 1.2 Attic\n")
    project.write("plait.toml", '[sources]\npaths = ["tasks", ".kiro/specs/house/tasks.md"]')
    project.commit_all()
    window = open_window()
    page = window.page
    evil = card(page, "01-evil")
    expect(evil).to_contain_text("<script>window.hurt = 1</script>")
    box = evil.bounding_box()
    assert box is not None
    assert box["height"] < 150
    assert page.evaluate("window.hurt === undefined && document.documentElement.scrollWidth <= innerWidth")

    page.get_by_text("problem in the sources").click()
    expect(page.get_by_text("tasks/02-broken.md:")).to_be_visible()
    expect(card(page, "02-broken")).to_contain_text("can't be read")

    group = card(page, "1")
    expect(group).to_contain_text("group of 2 tasks")
    expect(group).to_contain_text("1/2 done")
    group.hover()
    group.get_by_role("checkbox").check()
    expect(card(page, "1.1").get_by_role("checkbox")).to_be_checked()
    expect(page.get_by_text("2 tasks selected")).to_be_visible()

    begun(project, "01-evil")
    batch = f"/batches/{project.batch().id}"
    views = {
        "/?group=phase": "House <U+202E>A",
        "/?task=01-evil&tab=about": "src/<U+202E>cod.exe",
        "/batches": "<U+202E>דלת",
        batch: "<U+202E>דלת",
        f"{batch}/timeline": "<U+202E>דלת",
        f"{batch}/graph": "House <U+202E>A",
    }
    for view, words in views.items():
        window.go(view)
        expect(page.get_by_text(words).last).to_be_visible()
        if "about" in view:
            expect(page.locator("strong", has_text="twice")).to_be_visible()  # the description is Markdown
        assert page.evaluate(TURNING_TEXTS) == []  # such a character takes effect nowhere
    page.get_by_role("radio", name="List").check()
    expect(page.get_by_role("list", name="Tasks by wave")).to_contain_text("<U+202E>")
    assert page.evaluate(TURNING_TEXTS) == []


def test_on_a_narrow_screen_one_column_is_shown_at_a_time(project: TempProject, open_window: OpenWindow) -> None:
    project.task("01-walls", "true")
    project.write("TODO.md", "# Todo\n\n- [x] Attic\n")
    project.write("plait.toml", '[sources]\npaths = ["tasks", "TODO.md"]')
    project.commit_all()
    page = open_window(size=PHONE).page
    expect(card(page, "01-walls")).to_be_visible()
    expect(card(page, "attic")).to_have_count(0)
    page.get_by_role("tab", name="Done, 1").click()
    expect(card(page, "attic")).to_be_visible()
    expect(card(page, "01-walls")).to_have_count(0)
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("tab", name="Review, 0")).to_be_focused()
    expect(page.get_by_text("No tasks here.")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    # On a screen that is not small an open task takes the room; the column that is left is the one of its card.
    page.set_viewport_size({"width": 1024, "height": 768})
    expect(page.get_by_role("tab", name="To do, 1")).to_have_count(0)
    for task, tab in (("attic", "Done, 1"), ("01-walls", "To do, 1")):
        card(page, task).click()
        expect(page.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
        expect(card(page, task)).to_be_in_viewport(ratio=1)
        page.get_by_role("button", name="Close").click()
        expect(page.get_by_role("tab", name=tab)).to_have_count(0)


def test_an_empty_board_and_an_unreadable_one_say_so(project: TempProject, open_window: OpenWindow) -> None:
    project.commit_all()
    window = open_window()
    page = window.page
    expect(page.get_by_text("No tasks yet")).to_be_visible()
    expect(page.get_by_text("plait init")).to_be_visible()
    expect(page.get_by_text("in the sources")).to_have_count(0)
    assert find_violations(page) == []
    page.get_by_role("button", name="New task").click()
    expect(page.get_by_role("dialog", name="New task")).to_be_visible()
    page.keyboard.press("Escape")

    project.write("plait.toml", '[sources]\nformat = "own.reader:Format"')
    project.task("01-walls", "true")
    page.reload()
    expect(page.get_by_text(re.compile(r"plait -C \S+ trust"))).to_be_visible()
    assert find_violations(page) == []
    window.ignore_errors("409")
    (project.top / "plait.toml").unlink()
    page.get_by_role("button", name="Try again").click()
    expect(card(page, "01-walls")).to_be_visible()
    window.ignore_errors("409")


def test_a_menu_or_dialog_that_was_left_does_not_return_with_the_board(
    project: TempProject, open_window: OpenWindow
) -> None:
    project.task("01-walls", "exit 1")
    project.commit_all()
    assert project.plait("run", "--detach", "--yes", "--retries", "0").code == 0
    wait_until(lambda: project.statuses().get("01-walls") == "failed")
    window = open_window()
    page = window.page
    views = page.get_by_role("navigation", name="Views", exact=True)
    views.get_by_role("link", name="Batches").click()
    views.get_by_role("link", name="Board").click()
    first = page.locator('[data-card="01-walls"]').get_by_role("button").first
    for key, opened in (("m", page.get_by_role("menu")), ("t", page.get_by_role("dialog"))):
        first.focus()
        page.keyboard.press(key)
        expect(opened).to_be_visible()
        page.evaluate("history.back()")
        expect(page.get_by_role("heading", name="Batches", level=1)).to_be_visible()
        page.evaluate("history.forward()")
        expect(first).to_be_visible()
        expect(opened).to_have_count(0)
