"""A sample project with tasks in every column of the board: for screenshots and tests of all views."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.support.running_server import ServerProcess
from tests.support.temp_project import TempProject
from tests.support.waiting import wait_until

_ORDERS = """\
PRICES = {"book": 12.5, "map": 8.0, "globe": 49.0}


def total(items):
    amount = 0
    for item in items:
        amount = amount + PRICES[item]
    return amount


def receipt(items):
    lines = []
    for item in items:
        lines.append(item + " " + str(PRICES[item]))
    lines.append("total " + str(total(items)))
    return "\\n".join(lines)
"""
_ROUNDED = """\
python3 - <<'END'
from pathlib import Path
file = Path("shop/prices.py")
text = file.read_text()
text = text.replace("amount = 0", "amount = Decimal(0)").replace("return amount", "return round(amount, 2)")
file.write_text("from decimal import Decimal\\n\\n" + text)
END
printf 'editing shop/prices.py\\n2 tests passed\\n'
"""


@dataclass
class SampleProject:
    """`batch` is running, `queue` waits for an approval."""

    project: TempProject
    server: ServerProcess
    batch: str
    queue: str


def write_sample_project(project: TempProject, folder: Path) -> None:
    """`folder` holds the files that tasks wait for. Call this before the server starts, which needs the variable."""
    folder.mkdir(exist_ok=True)
    project.env["HELD"] = str(folder)
    project.write("shop/prices.py", _ORDERS)
    project.write("shop/slogan.txt", "Maps and books.")
    project.write("shop/old_layout.py", "WIDTH = 640")
    project.write("check.sh", "test -s shop/prices.py && echo '2 tests passed'")
    held = "while [ ! -e $HELD/go ]; do sleep 0.1; done"
    project.task("00-scaffold", title="Lay out the shop", status="completed")
    project.task("01-price-rounding", _ROUNDED, title="Round prices to cents", priority="high")
    project.task("02-dead-layouts", "git rm -q shop/old_layout.py", title="Delete the layouts nobody uses")
    project.task(
        "03-search-index",
        f"echo '═══ Phase 1: Read ═══'; echo '═══ Phase 2: Index ═══'; echo 'indexing 412 titles'; {held}; echo i > shop/index",
        title="Build the search index once, not per request",
    )
    project.task(
        "04-split-orders",
        f"echo 'editing shop/prices.py'; echo 'moving receipt() to shop/receipts.py'; {held}; echo r > shop/receipts.py",
        title="Split prices and receipts",
    )
    project.task("05-receipt-tests", "echo t > t", needs="[04-split-orders]", title="Tests for receipts")
    project.task("06-docstrings", "echo d > d", needs="[04-split-orders]", title="Docstrings for the public names")
    project.task(
        "07-translations",
        "echo 'reading locale/de.po'; echo 'locale/de.po: no such file' >&2; exit 1",
        title="German translations",
    )
    project.task(
        "08-slogan",
        "echo 'Maps, books and globes.' > shop/slogan.txt",
        title="A slogan that names the globes",
    )
    project.task(
        "09-promise",
        "echo 'Books and maps since 1987.' > shop/slogan.txt; while [ ! -e $HELD/late ]; do sleep 0.1; done",
        title="A slogan with our promise",
    )
    for name, title in _LATER.items():
        project.task(name, "echo x > x", title=title)
    project.commit_all()


_LATER = {
    "10-changelog": "Start a changelog",
    "11-focus-order": "Focus order of the checkout form",
    "12-rate-limit": "Limit logins to five a minute",
    "13-licence": "Licence headers in every file",
    "14-readme": "A readme that says how to run it",
}


def run_sample_batches(project: TempProject, server: ServerProcess, folder: Path) -> SampleProject:
    """Run batches until nothing changes any more before the file `go` is created in the folder."""
    parallel = [f"{path.stem}" for path in sorted((project.top / "tasks").glob("0[1-9]*.md"))]
    server.request("PATCH", "/api/settings", {"parallelLimit": 10}).raise_for_status()
    settings = {"retries": 0, "verify": "sh check.sh", "maxBatchSize": 10}
    batch = server.post("/api/batches", {"taskIds": parallel, "mode": "parallel", "settings": settings})["id"]
    _wait_for_status(server, batch, "08-slogan", "done")
    (folder / "late").touch()
    queue = server.post("/api/batches", {"taskIds": ["13-licence", "14-readme"], "mode": "queue"})["id"]
    for task, status in {
        "01-price-rounding": "done",
        "09-promise": "conflicted",
        "07-translations": "failed",
    }.items():
        _wait_for_status(server, batch, task, status)
    return SampleProject(project, server, batch, queue)


def _wait_for_status(server: ServerProcess, batch: str, task: str, status: str) -> None:
    def reached() -> bool:
        tasks = server.get(f"/api/batches/{batch}")["tasks"]
        return any(each["taskId"] == task and each["status"] == status for each in tasks)

    wait_until(reached)
