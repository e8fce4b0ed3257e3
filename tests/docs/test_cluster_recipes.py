"""The recipes of clusters can be used as they are: the manifest has the fields of a RayCluster, the script is valid bash."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml

from plait.config.keys import KEYS_BY_VARIABLE
from plait.runtime.ray.cluster import SLOT_RESOURCE

DEPLOY = Path(__file__).parents[2] / "docs" / "deploy"

# The names in KubeRay's custom resource definition of ray.io/v1.
CLUSTER_FIELDS = {
    "authOptions",
    "autoscalerOptions",
    "enableInTreeAutoscaling",
    "gcsFaultToleranceOptions",
    "headGroupSpec",
    "headServiceAnnotations",
    "historyServerOptions",
    "managedBy",
    "networkPolicy",
    "rayVersion",
    "suspend",
    "tlsOptions",
    "upgradeStrategy",
    "workerGroupSpecs",
}
HEAD_FIELDS = {
    "enableIngress",
    "headService",
    "ingressOptions",
    "labels",
    "rayStartParams",
    "resources",
    "serviceType",
    "template",
}
WORKER_FIELDS = {
    "groupName",
    "idleTimeoutSeconds",
    "labels",
    "maxReplicas",
    "minReplicas",
    "numOfHosts",
    "priority",
    "rayStartParams",
    "replicas",
    "resources",
    "scaleStrategy",
    "suspend",
    "template",
}


@pytest.fixture(scope="module")
def manifest() -> Mapping[str, Any]:  # Any: YAML
    (document,) = yaml.safe_load_all((DEPLOY / "kuberay.yaml").read_text())
    assert isinstance(document, dict)
    return document


def test_the_manifest_is_a_ray_cluster(manifest: Mapping[str, Any]) -> None:
    assert (manifest["apiVersion"], manifest["kind"]) == ("ray.io/v1", "RayCluster")
    spec = manifest["spec"]
    assert spec.keys() <= CLUSTER_FIELDS
    assert spec["headGroupSpec"].keys() <= HEAD_FIELDS
    for group in spec["workerGroupSpecs"]:
        assert group.keys() <= WORKER_FIELDS
        assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]
    assert spec["rayVersion"] == version("ray")


def test_its_nodes_have_slots_and_its_volumes_exist(manifest: Mapping[str, Any]) -> None:
    spec = manifest["spec"]
    slots = []
    for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
        params = group["rayStartParams"]
        assert all(isinstance(value, str) for value in params.values())  # they become flags of a shell command
        slots.append(json.loads(json.loads(params["resources"]))[SLOT_RESOURCE])
        pod = group["template"]["spec"]
        volumes = {volume["name"] for volume in pod.get("volumes", ())}
        for container in pod["containers"]:
            assert {mount["name"] for mount in container.get("volumeMounts", ())} == volumes
            assert container["resources"]["limits"]["memory"]
            assert not any("emptyDir" in volume for volume in pod.get("volumes", ()))  # every user can write to it
    assert slots == [0, 4]
    assert spec["headGroupSpec"]["template"]["spec"]["securityContext"]["fsGroup"] == 1000


def test_the_slurm_script_is_valid_and_sets_known_settings() -> None:
    path = DEPLOY / "ray.slurm"
    subprocess.run(["bash", "-n", str(path)], check=True, capture_output=True)
    text = path.read_text()
    assert {line.split()[1].partition("=")[0] for line in text.splitlines() if line.startswith("#SBATCH")} >= {
        "--nodes",
        "--time",
        "--signal",
    }
    assert set(re.findall(r"export (PLAIT_\w+)", text)) <= KEYS_BY_VARIABLE.keys()
    assert f'\\"{SLOT_RESOURCE}\\": $SLOTS' in text
    assert text.index("export SRUN_CPUS_PER_TASK=") < text.index("srun --")
