"""The list of defects follows the code, and a defect is really grafted."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.mutants.defects import DEFECTS, Defect


def source(defect: Defect) -> str:
    spec = find_spec(f"plait.core.{defect.module}")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_text()


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_the_text_of_a_defect_is_there_once(defect: Defect) -> None:
    assert source(defect).count(defect.old) == 1
    compile(source(defect).replace(defect.old, defect.new), defect.module, "exec")


def test_the_names_are_told_apart() -> None:
    assert len({defect.name for defect in DEFECTS}) == len(DEFECTS) >= 15


def test_a_grafted_module_has_the_defect() -> None:
    defect = next(defect for defect in DEFECTS if defect.module == "retry_policy" and "MAX_LOST_ATTEMPTS" in defect.old)
    code = (
        "from tests.support.mutants.defects import DEFECTS\n"
        "from tests.support.mutants.trial import graft\n"
        f"graft(next(defect for defect in DEFECTS if defect.name == {defect.name!r}))\n"
        "from plait.core.retry_policy import MAX_LOST_ATTEMPTS\n"
        "print(MAX_LOST_ATTEMPTS)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "300"
