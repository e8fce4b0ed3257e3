# It runs where its library is, in an environment of the peers' own.
# mypy: ignore-errors
# ruff: noqa: ANN001, ANN201
"""python run_prefect.py GRAPH PARALLEL: a flow on threads, with the server that prefect starts for itself."""

import json
import subprocess
import sys
from pathlib import Path

from prefect import flow, task
from prefect.task_runners import ThreadPoolTaskRunner


@task
def run(command):
    return subprocess.run(command, check=True).returncode


@flow(task_runner=ThreadPoolTaskRunner(max_workers=int(sys.argv[2])))
def everything():
    futures = {}
    for node in json.loads(Path(sys.argv[1]).read_text()):
        needs = [futures[need] for need in node["needs"]]
        futures[node["name"]] = run.submit(node["command"], wait_for=needs)
    for future in futures.values():
        future.result()


everything()
