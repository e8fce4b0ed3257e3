# It runs where its library is, in an environment of the peers' own.
# mypy: ignore-errors
# ruff: noqa: ANN201
"""doit -f dodo.py: a task for each of the graph's, in the folder that it is run in."""

import json
from pathlib import Path

DOIT_CONFIG = {"dep_file": "doit.db", "verbosity": 0}


def task_graph():
    for node in json.loads(Path("graph.json").read_text()):
        needs = [f"graph:{need}" for need in node["needs"]]
        yield {"name": node["name"], "actions": [node["command"]], "task_dep": needs}
