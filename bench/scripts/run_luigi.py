# It runs where its library is, in an environment of the peers' own.
# mypy: ignore-errors
# ruff: noqa: ANN201
"""python run_luigi.py GRAPH PARALLEL: a target file for each task, as luigi wants it."""

import json
import subprocess
import sys
from pathlib import Path

import luigi

NODES = {node["name"]: node for node in json.loads(Path(sys.argv[1]).read_text())}


class Run(luigi.Task):
    name = luigi.Parameter()

    def requires(self):
        return [Run(name=need) for need in NODES[self.name]["needs"]]

    def output(self):
        return luigi.LocalTarget(f"done/{self.name}")

    def run(self):
        subprocess.run(NODES[self.name]["command"], check=True)
        Path(self.output().path).touch()


Path("done").mkdir()
every = [Run(name=name) for name in NODES]
good = luigi.build(every, workers=int(sys.argv[2]), local_scheduler=True, log_level="WARNING")
sys.exit(not good)
