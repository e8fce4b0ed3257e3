"""Run the simulator with every defect and print what caught it. `--record` saves the run that did, which then comes first."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from tests.support.mutants.defects import DEFECTS, Defect
from tests.support.mutants.trial import CAUGHT, RUNS_FILE, SURVIVED, read_catching_runs

NO_DEFECT = Defect("", "", "", "")


@dataclass(frozen=True, slots=True)
class TrialResult:
    defect: Defect
    caught: bool
    how: str
    run: tuple[str, int] | None = None

    @property
    def is_expected(self) -> bool:
        """The healthy core must pass the same trial, or catching the others means nothing."""
        return self.caught is (self.defect is not NO_DEFECT)

    def __str__(self) -> str:
        name = self.defect.name or "(the healthy core)"
        sign = "caught" if self.caught else "survived"
        return f"{sign if self.is_expected else sign.upper():<9} {name:<46} {self.how}"


def main(words: Sequence[str]) -> int:
    chosen = [defect for defect in DEFECTS if all(word in defect.name for word in words if word != "--record")]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = []
        for verdict in pool.map(_run_trial, [NO_DEFECT, *chosen]):
            verdicts.append(verdict)
            print(verdict, flush=True)
    if "--record" in words:
        runs = read_catching_runs() if chosen != list(DEFECTS) else {}
        runs |= {verdict.defect.name: verdict.run for verdict in verdicts if verdict.run}
        RUNS_FILE.write_text(json.dumps(runs, indent=2) + "\n")
    caught = sum(verdict.caught for verdict in verdicts[1:])
    print(f"{caught} of {len(chosen)} defects caught")
    return 0 if all(verdict.is_expected for verdict in verdicts) else 1


def _run_trial(defect: Defect) -> TrialResult:
    command = [sys.executable, "-m", "tests.support.mutants.trial", defect.name]
    trial = subprocess.run(command, capture_output=True, text=True, check=False)  # our own module
    if trial.returncode == -signal.SIGXCPU:
        return TrialResult(defect, caught=True, how="it does not end")
    if trial.returncode not in {CAUGHT, SURVIVED}:
        sys.exit(f"the trial of {defect.name!r} failed:\n{trial.stderr}")
    how, records, kind, seed = trial.stdout.strip("\n").split("\t")
    run = (kind, int(seed)) if kind else None
    told = f"{kind} {seed}: {how[:90]}" if run else f"after {records} records"
    return TrialResult(defect, trial.returncode == CAUGHT, told, run)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
