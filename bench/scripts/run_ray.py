# It runs where its library is, in an environment of the peers' own.
# mypy: ignore-errors
# ruff: noqa: ANN001, ANN002, ANN201
"""python run_ray.py GRAPH PARALLEL: ray on this machine, with so many processors."""

import json
import subprocess
import sys
from pathlib import Path

import ray


@ray.remote(num_cpus=1)
def run(command, *_needs):
    return subprocess.run(command, check=True).returncode


ray.init(num_cpus=int(sys.argv[2]), include_dashboard=False, logging_level="ERROR", log_to_driver=False)
references = {}
for node in json.loads(Path(sys.argv[1]).read_text()):
    needs = [references[need] for need in node["needs"]]
    references[node["name"]] = run.remote(node["command"], *needs)
ray.get(list(references.values()))
