"""Attempts in real containers, whose image is made from programs of this machine: `make test-containers`.

Those of docker are tested where its service runs.
"""

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

pytestmark = pytest.mark.skipif(not os.environ.get("PLAIT_CONTAINERS"), reason="it needs podman: make test-containers")
IMAGE = "plait-test:1"
PROGRAMS = ("bash", "sh", "git", "cat", "ls", "sleep", "touch", "true")
CONTAINER = SandboxSpec(SandboxMode.CONTAINER, hosts=("good.example",), image=IMAGE)


@pytest.fixture(scope="module", params=["podman", "docker"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """With the image. Images and containers of podman are in a folder of the test."""
    name, folder = str(request.param), tmp_path_factory.mktemp("containers")
    _make_image(folder / "image.tar")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("plait.runtime.sandbox.container.find_container_program", lambda: name)
        probe_container.cache_clear()
        if name == "podman":
            _confine_podman(folder, patch)
        elif not shutil.which(name) or subprocess.run([name, "version"], capture_output=True, check=False).returncode:
            pytest.skip("no service of docker runs here")
        subprocess.run([name, "import", folder / "image.tar", IMAGE], check=True, capture_output=True)
        yield name
    probe_container.cache_clear()


def _confine_podman(folder: Path, environment: pytest.MonkeyPatch) -> None:
    (folder / "containers.conf").write_text('[engine]\nruntime = "runc"\n')
    stores = {name: folder / name for name in ("graphroot", "runroot")}
    lines = [f'{name} = "{path}"' for name, path in stores.items()]
    (folder / "storage.conf").write_text("\n".join(["[storage]", 'driver = "vfs"', *lines, ""]))
    environment.setenv("CONTAINERS_CONF", str(folder / "containers.conf"))
    environment.setenv("CONTAINERS_STORAGE_CONF", str(folder / "storage.conf"))


def _make_image(path: Path) -> None:
    with tarfile.open(path, "w") as archive:
        added: set[str] = set()
        for program in PROGRAMS:
            source = shutil.which(program)
            assert source is not None, program
            libraries = subprocess.run(["ldd", source], capture_output=True, text=True, check=False).stdout
            for file in (source, *re.findall(r"(/\S+) \(", libraries)):
                for parent in reversed(Path(file).parents[:-1]):
                    if str(parent) not in added:
                        _add_folder(archive, str(parent))
                        added.add(str(parent))
                if file not in added:
                    archive.add(os.path.realpath(file), file)
                    added.add(file)
        if "/bin/sh" not in added:
            _add_folder(archive, "bin")
            link = tarfile.TarInfo("bin/sh")
            link.type, link.linkname = tarfile.SYMTYPE, shutil.which("sh") or ""
            archive.addfile(link)
        for name in ("tmp", "etc", "proc", "dev", "sys"):
            _add_folder(archive, name)


def _add_folder(archive: tarfile.TarFile, name: str) -> None:
    folder = tarfile.TarInfo(name.strip("/"))
    folder.type, folder.mode = tarfile.DIRTYPE, 0o755
    archive.addfile(folder)


@pytest.fixture
def harness(tmp_path: Path, program: str) -> Iterator[ExecutorHarness]:
    assert program
    with local_executor_setup(tmp_path) as harness:
        yield harness


def make_job(harness: ExecutorHarness, lines: str) -> AttemptSpec:
    job = harness.make_worktree_job(lines, harness.commit_file("file.txt", "text\n"))
    podman = {name: value for name, value in os.environ.items() if name.startswith("CONTAINERS_")}
    return replace(job, argv=("bash", "-c", lines), env={**job.env, **podman}, sandbox=CONTAINER)


def test_it_is_found_to_work(program: str) -> None:
    support = probe_container(IMAGE)
    assert support.works, support.text
    assert support.text.startswith(f"{program}, ")


def test_an_attempt_has_its_worktree_and_nothing_else_of_the_machine(harness: ExecutorHarness, program: str) -> None:
    if not probe_container(IMAGE).filters:
        pytest.skip("this user can't filter the network of docker")
    secret = harness.repository / "secret.txt"
    job = make_job(
        harness,
        "echo made >made.txt; git add -A; git -c user.name=a -c user.email=a@b commit -qm mine;"
        f" ls {secret} {sys.executable}; touch /made; touch {harness.repository}/.git/hooks/made;"
        " (exec 3<>/dev/tcp/192.0.2.1/80);"
        " exec 4<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT evil.example:443 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&4;"
        " cat <&4; exit 5",
    )
    secret.write_text("secret\n")
    harness.executor.start(job)
    code = harness.wait_for_end(job.attempt)
    assert code == 5, harness.executor.open_transcript(job.attempt).tail(1 << 14).decode()
    output = harness.executor.open_transcript(job.attempt).tail(1 << 16).decode()
    assert output.count("No such file or directory") == 2, output
    assert output.count("Read-only file system") == 1, output
    assert not (harness.repository / ".git" / "hooks" / "made").exists()
    assert "Network is unreachable" in output
    assert "plait: blocked: evil.example:443\n" in output
    assert "HTTP/1.1 403 " in output
    captured = harness.capture(job)
    assert not isinstance(captured, Exception)
    assert captured.files == ("made.txt",)
    assert list_containers(program) == []


def test_an_attempt_that_is_ended_leaves_no_container(harness: ExecutorHarness, program: str) -> None:
    job = make_job(harness, ": >up; sleep 1000")
    harness.executor.start(job)
    assert harness.wait_until(Path(job.workspace, "up").exists)
    harness.executor.terminate(job.attempt, at_once=False)
    assert harness.wait_for_end(job.attempt) != 0
    assert harness.wait_until(lambda: list_containers(program) == [])


def list_containers(program: str) -> list[str]:
    done = subprocess.run([program, "ps", "--all", "--quiet"], capture_output=True, text=True, check=True)
    return done.stdout.split()
