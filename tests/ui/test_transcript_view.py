"""What an attempt prints: followed while it comes, searched, and read at any place however long it is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from playwright.sync_api import CDPSession, Locator, Page, Route, expect

from tests.support.browser import OpenWindow
from tests.support.temp_project import TempProject
from tests.support.waiting import wait_until

LONG = 100_000_000  # bytes
HEAP = 60_000_000  # bytes that the page may take, however long the transcript is
HOSTILE = r"""
printf '<script>document.title = "taken"</script><img src=x onerror=alert(1)>\n'
printf '\033[31mred\033[0m \033]0;title\007bell\n'
printf 'left \342\200\256 tfel \331\205\331\204\331\201 right\n'
printf 'tab\tstop\r\n'
head -c 10000 /dev/zero | tr '\0' 'x'; printf 'the end of it\n'
head -c 600 /dev/zero | tr '\0' 'W'; echo
printf '\000\377 no text\n'
"""


def _run(page: Page, *ids: str, **more: object) -> str:
    """A batch of these; its id."""
    ask = """async body => (await (await fetch("/api/batches", {
        method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)})).json()).id"""
    result: Any = page.evaluate(ask, {"taskIds": [*ids], "mode": "parallel", **more})
    return str(result)


def _log(page: Page, task: str) -> Locator:
    page.goto(f"{page.url.split('?')[0]}?task={task}&tab=log")
    return page.get_by_role("region", name="Transcript: write 1")


def _place(page: Page) -> Locator:
    return page.get_by_role("scrollbar", name="Position in the transcript")


def _last(log: Locator) -> str:
    """The last line that is in sight."""
    rows: Any = log.evaluate(
        """box => [...box.querySelectorAll("[data-row]")]
            .filter(row => row.getBoundingClientRect().bottom <= box.getBoundingClientRect().bottom + 1)
            .map(row => row.textContent)"""
    )
    return str(rows[-1])


def _reads_in_two_seconds(page: Page) -> int:
    """How often the log is requested in two seconds of the page's clock."""
    reads: list[str] = []
    page.on("request", lambda request: reads.append(request.url) if "/log?" in request.url else None)
    now: int = page.evaluate("Date.now()")
    page.clock.pause_at(now / 1000 + 60)  # a time that has not passed when this arrives, on the slowest machine
    reads.clear()
    for _ in range(20):
        page.clock.run_for(100)
        page.evaluate("fetch('/api/me')")  # what was requested before is answered
    count = len(reads)
    page.clock.resume()
    return count


def _still(log: Locator) -> str:
    """The last line in sight, once nothing moves any more."""
    log.evaluate(
        """async box => { for (let same = 0, top = -1; same < 5; top = box.scrollTop) {
            await new Promise(requestAnimationFrame);
            same = box.scrollTop === top ? same + 1 : 0; } }"""
    )
    return _last(log)


def test_the_end_of_a_transcript_is_followed_until_the_user_scrolls_up(
    project: TempProject, open_window: OpenWindow, tmp_path: Path
) -> None:
    more, go = tmp_path / "more", tmp_path / "go"
    printing = "for i in $(seq {0}); do echo {1} $i; done"
    waits = "while [ ! -e {} ]; do sleep 0.05; done"
    script = [
        printing.format(300, "brick"),
        waits.format(more),
        printing.format(300, "tile"),
        waits.format(go),
    ]
    project.task("01-walls", "\n".join([*script, "echo finished; echo walls > walls.txt"]))
    project.task("02-roof", "true", needs="[01-walls]")
    project.commit_all()
    page = open_window().page
    _run(page, "01-walls", "02-roof")

    page.clock.install()
    log = _log(page, "01-walls")
    panel = page.get_by_role("complementary")
    expect(log).to_contain_text("brick 300")
    assert _reads_in_two_seconds(page) <= 4  # its length and what is new, once a second
    assert _last(log) == "brick 300"
    expect(panel).to_contain_text("Following")
    more.touch()
    expect(log).to_contain_text("tile 300")
    assert _last(log) == "tile 300"

    log.hover()
    page.mouse.wheel(0, -1500)
    expect(panel).to_contain_text("Not following")
    wait_until(lambda: _last(log).startswith("tile 2"))
    there = _still(log)
    go.touch()
    expect(panel).to_contain_text("passed")
    assert _last(log) == there
    panel.get_by_role("button", name="Jump to the end").click()
    expect(log).to_contain_text("finished")
    assert _last(log) == "finished"
    log.press("Home")
    expect(log).to_contain_text(re.compile("^brick 1brick 2"))
    expect(panel.get_by_role("button", name="Jump to the end")).to_be_visible()

    project.plait("feedback", "01-walls", "once more")  # the transcript being read stays
    expect(panel).to_contain_text("Write 2 has started.")
    expect(log).to_contain_text(re.compile("^brick 1brick 2"))
    panel.get_by_role("button", name="Show it").click()
    expect(page.get_by_role("region", name="Transcript: write 2")).to_contain_text("finished")
    expect(panel.get_by_role("button", name="Show it")).to_have_count(0)

    panel.get_by_role("radio", name="Pretty").check()
    expect(page.get_by_role("region", name="Transcript: write 2")).to_contain_text("tile 300")
    panel.get_by_role("combobox", name="Attempt").select_option("write 1")
    expect(log).to_contain_text("tile 300")
    expect(panel.get_by_role("radio", name="Pretty")).to_be_checked()
    page.goto(f"{page.url.split('?')[0]}?task=02-roof&tab=log")
    expect(panel).to_contain_text(re.compile("passed|changed nothing|running|No attempt"))


def test_text_is_found_and_lines_are_copied(project: TempProject, open_window: OpenWindow) -> None:
    lines = "seq -f 'a quite ordinary line number %.0f' 1 30000"
    project.task("01-walls", f"echo the first needle; {lines}; echo the second NEEDLE; {lines}; echo w > w.txt")
    project.commit_all()
    page = open_window().page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    batch = _run(page, "01-walls")
    wait_until(lambda: project.statuses()["01-walls"] == "done")
    log = _log(page, "01-walls")
    expect(log).to_contain_text("ordinary line number 30000")

    page.keyboard.press("/")
    find = page.get_by_role("searchbox", name="Find in the log")
    expect(find).to_be_focused()
    place = find.bounding_box()
    page.keyboard.type("needle")
    expect(page.get_by_text("Not in the loaded part")).to_be_visible()
    assert find.bounding_box() == place  # what appears beside it does not make it smaller
    find.press("Enter")
    current = log.locator("mark[data-current]")
    expect(log).to_contain_text("the first needle")
    expect(current).to_have_text("needle")
    find.press("Enter")
    expect(log).to_contain_text("the second NEEDLE")
    expect(current).to_have_text("NEEDLE")
    find.press("Shift+Enter")
    expect(log).to_contain_text("the first needle")
    find.fill("gable")
    find.press("Enter")
    expect(page.get_by_text("Not found")).to_be_visible()
    find.press("Escape")
    expect(find).to_have_value("")

    def copied(what: str) -> str:
        page.get_by_role("button", name="Copy", exact=True).click()
        page.get_by_role("button", name=what).click()
        expect(page.get_by_text("Copied").last).to_be_visible()
        result: Any = page.evaluate("navigator.clipboard.readText()")
        return str(result)

    assert copied("Command: plait logs") == f"plait logs {batch} 01-walls"
    seen = copied("Visible lines")
    assert seen.startswith("the first needle\na quite ordinary line number 1\n")
    log.evaluate(
        """box => { const rows = box.querySelectorAll("[data-row]");
            getSelection().setBaseAndExtent(rows[0].firstChild, 4, rows[1].firstChild, 7); }"""
    )
    assert copied("Selection") == "first needle\na quite"


def test_hostile_output_is_shown_as_text(project: TempProject, open_window: OpenWindow) -> None:
    project.write("hostile.sh", HOSTILE)
    project.task("01-walls", "sh hostile.sh; echo w > w.txt")
    project.task("02-roof", "head -c 3000000 /dev/zero | tr '\\0' x; echo ' is the end'; echo r > r.txt")
    project.commit_all()
    page = open_window().page
    _run(page, "01-walls", "02-roof")
    wait_until(lambda: [*project.statuses().values()] == ["done", "done"])
    log = _log(page, "01-walls")
    expect(log).to_contain_text('<script>document.title = "taken"</script><img src=x onerror=alert(1)>')
    expect(log).to_contain_text("red bell")
    expect(log).to_contain_text("left \ufffd tfel")
    expect(log).to_contain_text("tab\tstop")
    expect(log).not_to_contain_text("stop\ufffd")  # nothing is shown of a carriage return
    expect(log).to_contain_text("\ufffd\ufffd no text")
    expect(log).not_to_contain_text("the end of it")
    log.get_by_role("button", name="Show 8,013 more characters of this line").click()
    expect(log).to_contain_text("the end of it")
    assert log.locator("script, img").count() == 0
    assert "taken" not in page.title()

    page.get_by_role("radio", name="Pretty").check()
    expect(log.get_by_role("button", name="Show 2,096 more characters of this line")).to_be_visible()
    assert log.evaluate(  # long lines wrap
        """box => [...box.querySelectorAll("[data-row]")]
            .every(row => row.getBoundingClientRect().right <= box.getBoundingClientRect().right)"""
    )

    log = _log(page, "02-roof")
    page.get_by_role("radio", name="Pretty").check()
    expect(log).to_contain_text("xxx is the end")
    expect(log.get_by_text("of a long line: see Raw")).to_have_text(re.compile(r"^2\.9 MB"))
    assert _still(log).endswith("d")  # wherever it wraps


def test_a_transcript_of_a_hundred_megabytes_is_read_at_any_place(
    project: TempProject, open_window: OpenWindow
) -> None:
    project.write("plait.toml", '[engine]\ntranscript_cap = "256MB"')
    numbers = "seq -f 'this is the line of the number %.0f, and it is as long as lines usually are' 1 2000000"
    project.task("01-walls", f"{numbers} | head -c {LONG}; echo; echo the very last line; echo w > w.txt")
    project.commit_all()
    page = open_window().page
    _run(page, "01-walls")
    wait_until(lambda: project.statuses()["01-walls"] == "done")
    measure = page.context.new_cdp_session(page)
    log = _log(page, "01-walls")
    expect(log).to_contain_text("the very last line")
    expect(page.get_by_role("complementary")).to_contain_text("100.0 MB")

    log.press("Home")
    expect(log).to_contain_text("this is the line of the number 1, and")
    expect(_place(page)).to_have_attribute("aria-valuenow", "0")
    bar = _place(page).bounding_box()
    assert bar is not None
    page.mouse.click(bar["x"] + 4, bar["y"] + bar["height"] / 2)
    expect(_place(page)).to_have_attribute("aria-valuenow", re.compile("^(49|50|51)$"))
    middle = _last(log)
    log.hover()
    for _ in range(40):
        page.mouse.wheel(0, 2000)
    expect(log).not_to_contain_text(middle)
    expect(_place(page)).to_have_attribute("aria-valuenow", re.compile("^(49|50|51)$"))
    page.mouse.move(bar["x"] + 4, bar["y"] + bar["height"] / 2)
    page.mouse.down()
    for share in range(50, 101, 2):
        page.mouse.move(bar["x"] + 4, bar["y"] + bar["height"] * share / 100)
    page.mouse.up()
    expect(log).to_contain_text("the very last line")
    assert _heap(measure) < HEAP


def test_an_omitted_middle_of_a_transcript_is_announced(project: TempProject, open_window: OpenWindow) -> None:
    project.write("plait.toml", '[engine]\ntranscript_cap = "1MB"')
    project.task("01-walls", "seq -f 'this is the line of the number %.0f' 1 300000; echo w > w.txt")
    project.commit_all()
    page = open_window().page
    _run(page, "01-walls")
    wait_until(lambda: project.statuses()["01-walls"] == "done")
    log = _log(page, "01-walls")
    expect(log).to_contain_text("the number 300000")
    bar = _place(page).bounding_box()
    assert bar is not None
    page.mouse.click(bar["x"] + 4, bar["y"] + bar["height"] / 2)
    expect(log).to_contain_text(re.compile(r"\d\.\d MB omitted here"))
    log.hover()
    page.mouse.wheel(0, 3000)
    expect(log).not_to_contain_text("left out")
    expect(log).to_contain_text(re.compile(r"the number 2\d{5}"))
    page.mouse.wheel(0, -9000)
    expect(log).to_contain_text(re.compile(r"the number \d{4}\D"))
    log.press("Home")
    expect(log).to_contain_text("the number 1this")


def _heap(session: CDPSession) -> float:
    session.send("HeapProfiler.collectGarbage")
    session.send("Performance.enable")
    result: dict[str, Any] = session.send("Performance.getMetrics")
    return next(float(each["value"]) for each in result["metrics"] if each["name"] == "JSHeapUsedSize")


def test_what_is_typed_while_a_log_is_loading_reaches_its_search(project: TempProject, open_window: OpenWindow) -> None:
    project.task("01-walls", "echo the first needle; echo walls > walls.txt")
    project.commit_all()
    assert project.plait("run", "--yes").code == 0
    page = open_window().page
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/explain", hold)
    page.locator('[data-card="01-walls"]').get_by_role("button").first.focus()
    page.keyboard.press("Shift+L")
    page.keyboard.type("/need", delay=60)
    find = page.get_by_role("searchbox", name="Find in the log")
    expect(find).to_have_value("need")
    while held:
        held.pop().continue_()
    page.unroute("**/explain")
    expect(page.get_by_role("combobox", name="Attempt")).to_be_visible()
    page.keyboard.type("le", delay=60)
    expect(find).to_have_value("needle")
    expect(page.get_by_role("searchbox", name="Search tasks")).to_have_value("")
    expect(page.get_by_text("1 match loaded")).to_be_visible()
    page.get_by_role("radio", name="Pretty").check()  # the search is for every form of the log
    expect(find).to_have_value("needle")
