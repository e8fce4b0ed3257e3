"""Several repositories, one page: switching between them, adding one, removing one."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from playwright.sync_api import expect

from tests.support.browser import OpenWindow
from tests.support.temp_project import TempProject


def _barn(project: TempProject, folder: Path) -> Path:
    """Another repository, with a task of its own."""
    subprocess.run(["git", "init", "--quiet", "-b", "main", str(folder)], check=True)
    (folder / "tasks").mkdir()
    (folder / "tasks" / "01-hay.md").write_text("---\nrun: echo hay > hay.txt\n---\n# 01-hay\n\nDo it.\n")
    project.git_in(folder, "add", "--all")
    project.git_in(folder, "commit", "--quiet", "--message", "begin")
    return folder


def test_a_project_is_added_opened_and_removed(project: TempProject, open_window: OpenWindow, tmp_path: Path) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.commit_all()
    barn = _barn(project, tmp_path / "barn")
    window = open_window()
    page = window.page
    page.get_by_role("checkbox", name="Select 01-walls", exact=True).check()
    page.get_by_role("button", name="repository").click()
    page.get_by_role("button", name="Add a project").click()

    # A wrong path is reported at the field, and nothing is lost.
    dialog = page.get_by_role("dialog")
    where = dialog.get_by_label("Folder on the server, or URL")
    where.fill(str(tmp_path / "nowhere"))
    page.keyboard.press("Enter")
    expect(where).to_have_accessible_description(re.compile("No such file or directory"))
    expect(where).to_have_value(str(tmp_path / "nowhere"))
    where.fill(str(barn))
    dialog.get_by_role("button", name="Add project").click()

    expect(page.get_by_role("checkbox", name="Select 01-hay", exact=True)).to_be_attached()
    expect(page.get_by_role("checkbox", name="Select 01-walls", exact=True)).to_have_count(0)
    expect(page.get_by_role("region", name="Selection")).to_have_count(0)
    assert "?project=" in page.url

    # What is run now is run there.
    page.get_by_role("checkbox", name="Select 01-hay", exact=True).check()
    page.get_by_role("button", name="Execute parallel").click()
    page.get_by_role("dialog").get_by_role("button", name="Start 1 task").click()
    expect(page.get_by_role("region", name="For you")).to_contain_text("1 merged")
    (branch,) = project.git_in(barn, "for-each-ref", "--format=%(refname)", "refs/heads/plait/batch-*").splitlines()
    assert project.git_in(barn, "show", f"{branch}:hay.txt") == "hay"
    assert project.git("branch", "--list", "plait/*") == ""

    # Back to the first one, where nothing of that is seen.
    page.get_by_role("button", name="barn").click()
    page.get_by_role("region", name="Projects").get_by_role("button", name="repository").click()
    expect(page.get_by_role("checkbox", name="Select 01-walls", exact=True)).to_be_attached()
    expect(page.get_by_role("region", name="For you")).to_have_count(0)
    assert "?project=" not in page.url

    # Removed from the list, and nothing is deleted.
    page.get_by_role("button", name="repository").click()
    page.get_by_role("button", name="Remove barn").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    page.get_by_role("button", name="repository").click()
    expect(page.get_by_role("region", name="Projects").get_by_role("button", name="barn")).to_have_count(0)
    assert (barn / "tasks" / "01-hay.md").exists()
    window.ignore_errors("422")


def test_what_is_written_for_a_project_stays_there(
    project: TempProject, open_window: OpenWindow, tmp_path: Path
) -> None:
    project.task("01-walls", "echo walls > walls.txt")
    project.commit_all()
    barn = _barn(project, tmp_path / "barn")
    page = open_window().page
    page.get_by_role("button", name="repository").click()
    page.get_by_role("button", name="Add a project").click()
    page.get_by_role("dialog").get_by_label("Folder on the server, or URL").fill(str(barn))
    page.get_by_role("dialog").get_by_role("button", name="Add project").click()
    expect(page.get_by_role("checkbox", name="Select 01-hay", exact=True)).to_be_attached()
    page.keyboard.press("c")
    form = page.get_by_role("dialog", name="New task")
    form.get_by_label("Title").fill("Bring the hay in")
    page.go_back()
    expect(page.get_by_role("checkbox", name="Select 01-walls", exact=True)).to_be_attached()
    expect(form).to_have_count(0)
    page.keyboard.press("c")
    expect(form.get_by_label("Title")).to_have_value("")
    page.keyboard.press("Escape")
    page.go_forward()
    expect(page.get_by_role("checkbox", name="Select 01-hay", exact=True)).to_be_attached()
    page.keyboard.press("c")
    expect(form.get_by_label("Title")).to_have_value("Bring the hay in")
