"""`plait doctor`: check this machine and repository, with a hint for each problem."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from plait.cli import options as opt
from plait.cli.output import FAILED, OK, Page, print_json
from plait.client.doctor.checkup import run_checks
from plait.client.planning.submission import require_executor
from plait.client.project_state import read_saved_settings
from plait.config.loading import load_config
from plait.core.settings import ExecutorKind
from plait.git.location import find_repo

if TYPE_CHECKING:
    from plait.client.doctor.check import DoctorCheck

_STYLES = {"ok": "green", "warning": "yellow", "problem": "bold red"}
_WIDTH = len("problem")


def doctor_command(
    where: Path,
    *,
    executor: Annotated[
        ExecutorKind, typer.Option("--executor", help="Also check where attempts would run: each node of the cluster.")
    ] = ExecutorKind.LOCAL,
    as_json: opt.Json = False,
) -> int:
    """Run the checks. The exit code is 1 if there is a problem; warnings don't count."""
    require_executor(executor)
    checks = run_checks(where)
    if executor is ExecutorKind.RAY:
        from plait.client.doctor.cluster_checks import check_cluster  # Ray is slow to import

        location = find_repo(where)
        checks += check_cluster(load_config(location.top, saved=read_saved_settings(location)[0]))
    if as_json:
        print_json({"checks": [_describe_check(check) for check in checks]})
    else:
        _print_checks(checks)
    return FAILED if any(check.verdict.value == "problem" for check in checks) else OK


def _describe_check(check: DoctorCheck) -> dict[str, object]:
    return {
        "topic": check.topic,
        "verdict": check.verdict.value,
        "message": check.text,
        "hint": check.hint or None,
    }


def _print_checks(checks: list[DoctorCheck]) -> None:
    page = Page()
    topics = max(len(check.topic) for check in checks)
    for check in checks:
        verdict = check.verdict.value
        page.add_line((f"{verdict:{_WIDTH}}", _STYLES[verdict]), f"  {check.topic:{topics}}  {check.text}")
        if check.hint:
            page.add_line((f"{'':{_WIDTH + topics + 4}}{check.hint}", "dim"))
    page.show()
