"""Every view, in both themes and on a phone: nothing serious by axe, nothing in the console; and pictures on request.

`make pictures` keeps what is seen under docs/img/.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from plait.server.http.web_page import PAGE_FOLDER_VARIABLE
from tests.support.accessibility import find_violations
from tests.support.browser import PHONE, WIDE, BrowserWindow, window
from tests.support.local_forge import REPOSITORY, local_forge
from tests.support.running_server import ServerAccess, start_server
from tests.support.screenshots import SampleProject, run_sample_batches, write_sample_project
from tests.support.temp_project import temp_project as make_project

TOP = Path(__file__).parents[2]
PICTURES = TOP / "docs" / "img"

Scene = Callable[[Page, SampleProject], None]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SampleProject]:
    folder = tmp_path_factory.mktemp("sample")
    with make_project(folder, worktrees=True) as made, local_forge(folder / "forge") as remote:
        made.git("remote", "set-url", "origin", f"{remote.url}/{REPOSITORY}.git")
        made.env |= {"PLAIT_PR_FORGE": "gitea", "PLAIT_FORGE_TOKEN": "t0ken-t0ken-t0ken", "NO_PROXY": "*"}
        if PAGE_FOLDER_VARIABLE in os.environ:
            made.env[PAGE_FOLDER_VARIABLE] = os.environ[PAGE_FOLDER_VARIABLE]
        write_sample_project(made, folder / "held")
        yield run_sample_batches(made, start_server(made), folder / "held")


@pytest.fixture(scope="module")
def windows(browser: Browser, sample: SampleProject) -> Iterator[dict[str, BrowserWindow]]:
    """Light, dark, on a phone, and for pictures at 1024 px."""
    with ExitStack() as stack:

        def opened(size: tuple[int, int], *, dark: bool) -> BrowserWindow:
            return stack.enter_context(window(browser, _linked(sample), size=size, dark=dark))

        yield {
            "light": opened(WIDE, dark=False),
            "dark": opened(WIDE, dark=True),
            "phone": opened(PHONE, dark=False),
            "1024": opened((1024, 768), dark=False),
        }


def board(page: Page, _: SampleProject) -> None:
    """On a phone, its columns are tabs."""
    expect(page.get_by_role("heading", name="To do").or_(page.get_by_role("tab", name="To do")).first).to_be_visible()


def selection(page: Page, sample: SampleProject) -> None:
    board(page, sample)
    for task in ("10-changelog", "11-focus-order", "12-rate-limit"):
        page.get_by_role("checkbox", name=f"Select {task}").check()
    expect(page.get_by_text("3 tasks selected")).to_be_visible()


def plan(page: Page, sample: SampleProject) -> None:
    selection(page, sample)
    page.get_by_role("button", name="Execute parallel").click()
    expect(page.get_by_role("dialog").get_by_text("10-changelog").first).to_be_visible()


def editor(page: Page, sample: SampleProject) -> None:
    board(page, sample)
    page.keyboard.press("c")
    expect(page.get_by_role("dialog")).to_be_visible()


def palette(page: Page, sample: SampleProject) -> None:
    board(page, sample)
    page.keyboard.press("ControlOrMeta+k")
    expect(page.get_by_role("combobox", name="Find anything")).to_be_visible()


def shortcuts(page: Page, sample: SampleProject) -> None:
    board(page, sample)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()


def panel(page: Page, _: SampleProject) -> None:
    expect(page.get_by_role("tab", name="About")).to_be_visible()


def diff(page: Page, sample: SampleProject) -> None:
    panel(page, sample)
    expect(page.get_by_text("shop/prices.py").first).to_be_visible()


def log(page: Page, sample: SampleProject) -> None:
    panel(page, sample)
    expect(page.get_by_text("indexing 412 titles").last).to_be_visible()


def batch(page: Page, sample: SampleProject) -> None:
    expect(page.get_by_role("heading", name=f"Batch {sample.batch[:8]}")).to_be_visible()
    expect(page.get_by_text("09-promise").first).to_be_visible()


def batches(page: Page, sample: SampleProject) -> None:
    expect(page.get_by_role("main").get_by_text(sample.batch[:8]).first).to_be_visible()


def settings(page: Page, _: SampleProject) -> None:
    expect(page.get_by_text("Engine parallel limit").first).to_be_visible()


def filter_menu(page: Page, sample: SampleProject) -> None:
    board(page, sample)
    page.keyboard.press("f")
    expect(page.get_by_role("dialog", name="Filter")).to_be_visible()


def card_menu(page: Page, sample: SampleProject) -> None:
    board(page, sample)
    page.keyboard.press("j")
    page.keyboard.press("m")
    expect(page.get_by_role("menu")).to_be_visible()


def tell(page: Page, sample: SampleProject) -> None:
    """On a phone, the column is chosen first."""
    board(page, sample)
    failed = page.get_by_role("tab", name="Failed")
    if failed.count():
        failed.click()
    page.locator("[data-card='07-translations']").get_by_role("button").first.focus()
    page.keyboard.press("t")
    expect(page.get_by_role("dialog").get_by_role("textbox")).to_be_focused()


def confirm(page: Page, _: SampleProject) -> None:
    page.get_by_role("toolbar", name="Task actions").get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("dialog", name="Cancel 03-search-index?")).to_be_visible()


def graph_list(page: Page, sample: SampleProject) -> None:
    batch(page, sample)
    page.get_by_role("radio", name="List").check()
    expect(page.get_by_role("list", name="Tasks by wave")).to_be_visible()


def change(page: Page, _: SampleProject) -> None:
    expect(page.get_by_role("heading", name="shop/prices.py")).to_be_visible()


def resolve(page: Page, _: SampleProject) -> None:
    """The result is edited by hand."""
    page.get_by_role("group", name="Resolution of shop/slogan.txt").get_by_text("Edit").click()
    expect(page.get_by_role("textbox", name="Result of shop/slogan.txt")).to_be_visible()


def preview(page: Page, _: SampleProject) -> None:
    page.get_by_role("radio", name="Preview").check()
    expect(page.get_by_role("cell", name="01-price-rounding")).to_be_visible()


def navigation(page: Page, sample: SampleProject) -> None:
    """On a phone, it is in a dialog; else the list of projects is opened."""
    board(page, sample)
    menu = page.get_by_role("button", name="Menu", exact=True)
    if menu.count():
        menu.click()
        expect(page.get_by_role("dialog").get_by_role("link", name="Batches")).to_be_visible()
    else:
        page.get_by_role("button", name="repository", exact=True).click()
        expect(page.get_by_role("region", name="Projects")).to_be_visible()


def add_project(page: Page, sample: SampleProject) -> None:
    board(page, sample)
    page.get_by_role("button", name="repository", exact=True).click()
    page.get_by_role("button", name="Add a project").click()
    expect(page.get_by_role("dialog", name="Add a project")).to_be_visible()


def run_agents(page: Page, sample: SampleProject) -> None:
    selection(page, sample)
    page.get_by_role("region", name="Selection").get_by_role("button", name="Agent", exact=True).click()
    expect(page.get_by_role("region", name="Run agents").get_by_text("shell", exact=True)).to_be_visible()


def run_settings(page: Page, sample: SampleProject) -> None:
    selection(page, sample)
    page.get_by_role("region", name="Selection").get_by_role("button", name="Settings", exact=True).click()
    expect(page.get_by_role("textbox", name="Max parallel")).to_be_visible()


def more_actions(page: Page, sample: SampleProject) -> None:
    selection(page, sample)
    page.get_by_role("button", name="More", exact=True).click()
    expect(page.get_by_role("region", name="More actions")).to_be_visible()


def retry_agents(page: Page, _: SampleProject) -> None:
    page.get_by_role("button", name="Retry with another agent").click()
    expect(page.get_by_role("region", name="Retry with another agent").get_by_text("shell")).to_be_visible()


def pretty_log(page: Page, sample: SampleProject) -> None:
    log(page, sample)
    page.get_by_role("radio", name="Pretty").check()
    expect(page.get_by_text("indexing 412 titles").last).to_be_visible()


def comment(page: Page, sample: SampleProject) -> None:
    diff(page, sample)
    page.get_by_role("button", name="Comment on line 7 of shop/prices.py").click()
    expect(page.get_by_role("textbox", name="Comment on shop/prices.py:7")).to_be_focused()


def edit_file(page: Page, sample: SampleProject) -> None:
    board(page, sample)
    page.locator("[data-card='10-changelog']").get_by_role("button").first.focus()
    page.keyboard.press("e")
    page.get_by_role("radio", name="File").check()
    expect(page.get_by_role("textbox", name="The whole file")).to_be_visible()


def all_of_a_table(page: Page, _: SampleProject) -> None:
    page.get_by_text("[run]").click()
    expect(page.locator("[data-setting=score]")).to_be_visible()


def shows(text: str) -> Scene:
    """A view without data, or with data of its own, is recognised by its text."""

    def reach(page: Page, _: SampleProject) -> None:
        expect(page.get_by_text(text).first).to_be_visible()

    return reach


SCENES: dict[str, tuple[str, Scene]] = {
    "board": ("/", board),
    "selection": ("/", selection),
    "plan": ("/", plan),
    "editor": ("/", editor),
    "palette": ("/", palette),
    "shortcuts": ("/", shortcuts),
    "task": ("/?task=09-promise&batch={batch}", panel),
    "log": ("/?task=03-search-index&batch={batch}&tab=log", log),
    "diff": ("/?task=01-price-rounding&batch={batch}&tab=diff", diff),
    "checks": ("/?task=01-price-rounding&batch={batch}&tab=checks", panel),
    "review": ("/batches/{batch}", batch),
    "graph": ("/batches/{batch}/graph", batch),
    "timeline": ("/batches/{batch}/timeline", batch),
    "batches": ("/batches", batches),
    "settings": ("/settings", settings),
}
# What opens above or in a view, and views without data. They have no pictures.
OVERLAYS: dict[str, tuple[str, Scene]] = {
    "filter": ("/", filter_menu),
    "menu": ("/", card_menu),
    "tell": ("/", tell),
    "confirm": ("/?task=03-search-index&batch={batch}", confirm),
    "about": ("/?task=01-price-rounding&batch={batch}&tab=about", panel),
    "list": ("/batches/{batch}/graph", graph_list),
    "change": ("/batches/{batch}?view=change", change),
    "resolve": ("/batches/{batch}", resolve),
    "preview": ("/batches/{batch}", preview),
    "navigation": ("/", navigation),
    "add project": ("/", add_project),
    "agents": ("/", run_agents),
    "run settings": ("/", run_settings),
    "more": ("/", more_actions),
    "retry": ("/?task=07-translations&batch={batch}", retry_agents),
    "pretty": ("/?task=03-search-index&batch={batch}&tab=log", pretty_log),
    "comment": ("/?task=01-price-rounding&batch={batch}&tab=diff", comment),
    "file": ("/", edit_file),
    "table": ("/settings", all_of_a_table),
    "queue": ("/batches/{queue}", shows("Nothing merged yet.")),
    "found settings": ("/settings?find=timeout", shows("Idle timeout")),
    "no settings": ("/settings?find=zzzz", shows("No settings match")),
    "no tasks": ("/?q=nothing", shows("No matching tasks")),
    "no task": ("/?task=nothing", shows("Task nothing not found")),
    "no page": ("/nothing", shows("Page not found")),
}
SEEN = [
    (scene, theme)
    for theme in ("light", "dark", "phone", *(["1024"] if os.environ.get("PLAIT_PICTURES") else []))
    for scene in (SCENES | OVERLAYS if theme in {"dark", "phone"} else SCENES)
]


@pytest.mark.parametrize(("scene", "theme"), SEEN)
def test_every_view_is_accessible(
    scene: str, theme: str, windows: dict[str, BrowserWindow], sample: SampleProject
) -> None:
    shown = windows[theme]
    path, reach = (SCENES | OVERLAYS)[scene]
    shown.go(path.format(batch=sample.batch, queue=sample.queue))
    reach(shown.page, sample)
    assert find_violations(shown.page) == []
    if scene in SCENES and os.environ.get("PLAIT_PICTURES"):
        shown.page.screenshot(path=PICTURES / f"{scene}-{theme}.png")
    assert shown.console_errors == []


def test_the_buttons_of_a_batch_are_beside_its_name(windows: dict[str, BrowserWindow], sample: SampleProject) -> None:
    shown = windows["1024"]
    shown.go(f"/batches/{sample.batch}")
    header = shown.page.locator("main header").first
    for name in ("Pause", "Retry", "Cancel"):
        button = header.get_by_role("button", name=name)
        expect(button).to_be_visible()
        assert button.evaluate(
            "it => it.getBoundingClientRect().top < it.closest('header').querySelector('h1').getBoundingClientRect().bottom"
        )


def _linked(sample: SampleProject) -> ServerAccess:
    link = sample.project.plait("token", "--link", "--url", sample.server.url).out.strip()
    return replace(sample.server, link=link)
