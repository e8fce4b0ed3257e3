# It runs where its library is, in an environment of the peers' own.
# mypy: ignore-errors
# ruff: noqa: ANN001, ANN002, ANN201
"""python run_dask.py GRAPH PARALLEL: a local cluster of two processes."""

import json
import subprocess
import sys
from pathlib import Path

from dask.distributed import Client, LocalCluster, wait


def run(command, *_needs):
    return subprocess.run(command, check=True).returncode


if __name__ == "__main__":
    parallel = int(sys.argv[2])
    cluster = LocalCluster(n_workers=2, threads_per_worker=max(1, parallel // 2), dashboard_address=None)
    with cluster, Client(cluster) as client:
        futures = {}
        for node in json.loads(Path(sys.argv[1]).read_text()):
            needs = [futures[need] for need in node["needs"]]
            futures[node["name"]] = client.submit(run, node["command"], *needs, pure=False)
        wait(list(futures.values()))
        sys.exit(any(future.status != "finished" for future in futures.values()))
