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
        page.get_by_role("checkbox", name=f"Select {task}").check(force=True)
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
NOT_ON_PHONES = {
    "selection",
    "plan",
    "editor",
    "palette",
    "shortcuts",
}  # they begin with a key or the whole board
SEEN = [
    (scene, theme)
    for theme in ("light", "dark", "phone", *(["1024"] if os.environ.get("PLAIT_PICTURES") else []))
    for scene in SCENES
    if theme != "phone" or scene not in NOT_ON_PHONES
]


@pytest.mark.parametrize(("scene", "theme"), SEEN)
def test_every_view_is_accessible(
    scene: str, theme: str, windows: dict[str, BrowserWindow], sample: SampleProject
) -> None:
    shown = windows[theme]
    path, reach = SCENES[scene]
    shown.go(path.format(batch=sample.batch))
    reach(shown.page, sample)
    assert find_violations(shown.page) == []
    if os.environ.get("PLAIT_PICTURES"):
        shown.page.screenshot(path=PICTURES / f"{scene}-{theme}.png")
    assert shown.console_errors == []


def _linked(sample: SampleProject) -> ServerAccess:
    link = sample.project.plait("token", "--link", "--url", sample.server.url).out.strip()
    return replace(sample.server, link=link)
