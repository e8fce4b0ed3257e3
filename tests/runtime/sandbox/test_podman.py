"""Attempts in real containers of podman, whose image is made from programs of this machine: `make test-containers`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from plait.core.settings import SandboxMode
from plait.runtime.executor import AttemptSpec
from plait.runtime.sandbox.detection import probe_container
from plait.runtime.sandbox.spec import SandboxSpec
from plait.testing.contracts.executor import ExecutorHarness
from tests.support.local_executor import local_executor_setup
from tests.support.waiting import wait_until

pytestmark = pytest.mark.skipif(not os.environ.get("PLAIT_CONTAINERS"), reason="it needs podman: make test-containers")
IMAGE = "plait-test:1"
PROGRAMS = ("bash", "sh", "git", "cat", "ls", "sleep", "touch", "true")
CONTAINER = SandboxSpec(SandboxMode.CONTAINER, hosts=("good.example",), image=IMAGE)


@pytest.fixture(scope="module")
def variables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Settings of podman, whose images and containers are in a folder of the test."""
    folder = tmp_path_factory.mktemp("podman")
    (folder / "containers.conf").write_text('[engine]\nruntime = "runc"\n')
    stores = {name: folder / name for name in ("graphroot", "runroot")}
    lines = [f'{name} = "{path}"' for name, path in stores.items()]
    (folder / "storage.conf").write_text("\n".join(["[storage]", 'driver = "vfs"', *lines, ""]))
    variables = {
        "CONTAINERS_CONF": str(folder / "containers.conf"),
        "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
    }
    with pytest.MonkeyPatch.context() as environment:
        for name, value in variables.items():
            environment.setenv(name, value)
        _make_image(folder / "image.tar")
        subprocess.run(["podman", "import", "--quiet", folder / "image.tar", IMAGE], check=True, capture_output=True)
        yield variables


def _make_image(path: Path) -> None:
    with tarfile.open(path, "w") as archive:
        added: set[str] = set()
        for program in PROGRAMS:
            source = shutil.which(program)
            assert source is not None, program
            libraries = subprocess.run(["ldd", source], capture_output=True, text=True, check=False).stdout
            for file in (source, *re.findall(r"(/\S+) \(", libraries)):
                if file not in added:
                    archive.add(os.path.realpath(file), file)
                    added.add(file)
        for name in ("tmp", "etc", "proc", "dev", "sys"):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(folder)


@pytest.fixture
def harness(tmp_path: Path, variables: dict[str, str]) -> Iterator[ExecutorHarness]:
    assert variables
    with local_executor_setup(tmp_path) as harness:
        yield harness


def make_job(harness: ExecutorHarness, variables: dict[str, str], lines: str) -> AttemptSpec:
    job = harness.make_worktree_job(lines, harness.commit_file("file.txt", "text\n"))
    return replace(job, argv=("bash", "-c", lines), env={**job.env, **variables}, sandbox=CONTAINER)


def test_podman_is_found_to_work(variables: dict[str, str]) -> None:
    assert variables
    probe_container.cache_clear()
    assert probe_container(IMAGE).works, probe_container(IMAGE).text
    probe_container.cache_clear()


def test_an_attempt_has_its_worktree_and_nothing_else_of_the_machine(
    harness: ExecutorHarness, variables: dict[str, str]
) -> None:
    secret = harness.repository / "secret.txt"
    job = make_job(
        harness,
        variables,
        "echo made >made.txt; git add -A; git -c user.name=a -c user.email=a@b commit -qm mine;"
        f" ls {secret} {sys.executable}; touch /made; touch {harness.repository}/.git/hooks/made;"
        " (exec 3<>/dev/tcp/192.0.2.1/80);"
        " exec 4<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT evil.example:443 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&4;"
        " cat <&4; exit 5",
    )
    secret.write_text("secret\n")
    harness.executor.start(job)
    assert harness.wait_for_end(job.attempt) == 5
    output = harness.executor.open_transcript(job.attempt).tail(1 << 16).decode()
    assert output.count("No such file or directory") == 2, output
    assert output.count("Read-only file system") == 2, output
    assert "Network is unreachable" in output
    assert "plait: blocked: evil.example:443\n" in output
    assert "HTTP/1.1 403 " in output
    captured = harness.capture(job)
    assert not isinstance(captured, Exception)
    assert captured.files == ("made.txt",)
    assert list_containers() == []


def test_an_attempt_that_is_ended_leaves_no_container(harness: ExecutorHarness, variables: dict[str, str]) -> None:
    job = make_job(harness, variables, ": >up; sleep 1000")
    harness.executor.start(job)
    assert harness.wait_until(Path(job.workspace, "up").exists)
    harness.executor.terminate(job.attempt, at_once=False)
    assert harness.wait_for_end(job.attempt) != 0
    wait_until(lambda: list_containers() == [])


def list_containers() -> list[str]:
    done = subprocess.run(["podman", "ps", "--all", "--quiet"], capture_output=True, text=True, check=True)
    return done.stdout.split()
