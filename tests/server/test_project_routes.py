from __future__ import annotations

import asyncio
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from plait.client.api_errors import FieldError, NotFoundError, StateError
from plait.client.mirrors import get_mirror_settings, is_mirror
from plait.core.errors import PlaitError, WorldError
from plait.git.location import RepoLocation, compute_project_id, find_repo
from plait.server.projects import Project, ProjectCatalog, ProjectStore, find_project_register
from plait.server.session_pool import SessionPool

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("CONFIG", "STATE", "CACHE", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(folder / name.lower()))
    return folder


@pytest.fixture
def register(tmp_path: Path) -> ProjectStore:
    return ProjectStore(tmp_path / "state" / "projects.json")


def git(where: Path, *args: str) -> str:
    own = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
    done = subprocess.run(["git", *own, *args], cwd=where, check=True, capture_output=True, text=True, timeout=60)
    return done.stdout.strip()


def repository(top: Path, **files: str) -> Path:
    top.mkdir(parents=True)
    git(top, "init", "--quiet", "-b", "main")
    commit(top, **files or {"a": "1"})
    return top


def commit(top: Path, **files: str) -> None:
    for name, text in files.items():
        (top / name).write_text(text)
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "-m", "more")


def bare(source: Path, path: Path) -> Path:
    git(source, "clone", "--quiet", "--bare", str(source), str(path))
    return path


@asynccontextmanager
async def open_pool(register: ProjectStore, default: Path | None = None) -> AsyncIterator[SessionPool]:
    pool = SessionPool(register, find_repo(default) if default else None)
    try:
        yield pool
    finally:
        await pool.close()


# The register


def test_saved_projects_are_read_by_the_next_server_and_private(tmp_path: Path) -> None:
    path = tmp_path / "state" / "projects.json"
    one, two = Project("0" * 12, "one", "/one"), Project("1" * 12, "two", "/two", "https://host/two")
    ProjectStore(path).save(one)
    ProjectStore(path).save(two)
    assert ProjectStore(path).list_projects() == [one, two]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_saving_a_known_project_keeps_its_position(register: ProjectStore) -> None:
    for n in range(3):
        register.save(Project(f"{n}" * 12, "p", f"/{n}"))
    register.save(Project("0" * 12, "p", "/elsewhere"))
    assert [each.path for each in register.list_projects()] == ["/elsewhere", "/1", "/2"]
    assert register.remove("1" * 12)
    assert not register.remove("1" * 12)
    assert [each.path for each in register.list_projects()] == ["/elsewhere", "/2"]


_ONE = {"id": "0" * 12, "name": "one", "path": "/one", "url": ""}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", []),
        ('{"projects": [', []),
        ("[]", []),
        ('{"projects": {}}', []),
        ("[" * 100_000, []),
        (json.dumps({"projects": [_ONE, {**_ONE, "id": "../../etc"}]}), ["/one"]),
        (json.dumps({"projects": [_ONE, {**_ONE, "id": "1" * 12, "path": "two"}, 7]}), ["/one"]),
        (json.dumps({"projects": [_ONE, {**_ONE, "id": "1" * 12, "url": 7}]}), ["/one"]),
        ("\x00\xff", []),
    ],
)
def test_a_damaged_project_file_is_set_aside_and_its_valid_entries_stay(
    tmp_path: Path, text: str, kept: list[str]
) -> None:
    path, messages = tmp_path / "projects.json", list[str]()
    path.write_text(text)
    path.chmod(0o600)
    assert [each.path for each in ProjectStore(path, messages.append).list_projects()] == kept
    assert [each.path for each in ProjectStore(path, messages.append).list_projects()] == kept
    (aside,) = tmp_path.glob("projects.damaged-*")
    assert aside.read_text() == text
    assert stat.S_IMODE(aside.stat().st_mode) == 0o600
    assert len(messages) == 1
    assert aside.name in messages[0]


def test_a_project_file_that_others_can_write_is_refused(register: ProjectStore, tmp_path: Path) -> None:
    register.save(Project("0" * 12, "one", "/one"))
    (tmp_path / "state" / "projects.json").chmod(0o622)
    with pytest.raises(WorldError, match="another user"):
        register.list_projects()


def test_a_project_file_that_can_t_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    with pytest.raises(WorldError, match="can't save projects"):
        ProjectStore(tmp_path / "state" / "projects.json").save(Project("0" * 12, "one", "/one"))


_ADDS = """
import sys
from pathlib import Path
from plait.server.projects import Project
from plait.server.projects import ProjectStore
for n in range(int(sys.argv[2]), int(sys.argv[2]) + 10):
    ProjectStore(Path(sys.argv[1])).save(Project(f"{n:012x}", "p", f"/{n}"))
"""


def test_concurrent_servers_lose_no_projects(tmp_path: Path) -> None:
    path = tmp_path / "projects.json"
    adding = [subprocess.Popen([sys.executable, "-c", _ADDS, str(path), str(first)]) for first in (0, 10, 20, 30)]
    assert [each.wait(60) for each in adding] == [0] * 4
    assert {each.path for each in ProjectStore(path).list_projects()} == {f"/{n}" for n in range(40)}


# By path


async def test_adding_a_project_adds_the_whole_repository_and_changes_nothing_in_it(
    tmp_path: Path, register: ProjectStore
) -> None:
    top = repository(tmp_path / "here")
    (top / "deep").mkdir()
    before = sorted(top.rglob("*"))
    async with open_pool(register) as pool:
        added = await pool.add_project(path=f"{top}/deep/../deep")
        assert added == Project(compute_project_id(find_repo(top)), "here", str(top))
        assert pool.list_projects() == [added]
        assert (await pool.get(added.id)).location == find_repo(top)
    assert sorted(top.rglob("*")) == before


async def test_a_project_path_may_start_with_a_tilde(home: Path, register: ProjectStore) -> None:
    top = repository(home / "mine")
    async with open_pool(register) as pool:
        assert (await pool.add_project(path="~/mine")).path == str(top)


async def test_all_checkouts_of_a_repository_are_one_project(tmp_path: Path, register: ProjectStore) -> None:
    top = repository(tmp_path / "main")
    git(top, "worktree", "add", "--quiet", str(tmp_path / "linked"))
    async with open_pool(register) as pool:
        first = await pool.add_project(path=str(tmp_path / "linked"))
        assert await pool.add_project(path=str(top)) == first
        git(top, "worktree", "remove", "--force", str(tmp_path / "linked"))
        moved = await pool.add_project(path=str(top))
        assert (moved.id, moved.path) == (first.id, str(top))
        assert pool.list_projects() == [moved]


async def test_the_default_project_is_not_saved_again(tmp_path: Path, register: ProjectStore) -> None:
    top = repository(tmp_path / "here")
    async with open_pool(register, top) as pool:
        assert (await pool.add_project(path=str(top))).default
        assert [each.default for each in pool.list_projects()] == [True]
    assert register.list_projects() == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("  ", "empty"),
        ("repository", "not an absolute path"),
        ("../repository", "not an absolute path"),
        ("~nobody-at-all/x", "not an absolute path"),
        ("/tmp/\x1b[31m", "control"),
        ("/tmp/\x00", "control"),
        ("/" + "a" * 5000, "too long"),
        ("/" + "a" * 300, "can't access"),
        ("/nowhere/at/all", "can't access"),
        ("{tmp}/file", "no folder"),
        ("{tmp}/plain", "not in a git repository"),
        ("{tmp}/bare.git", "work tree"),
        ("{tmp}/loop/x", "can't be resolved|can't access"),
    ],
)
async def test_a_path_that_is_not_a_checkout_is_refused(
    tmp_path: Path, register: ProjectStore, text: str, why: str
) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "plain").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    bare(repository(tmp_path / "here"), tmp_path / "bare.git")
    async with open_pool(register) as pool:
        with pytest.raises(FieldError, match=why) as refused:
            await pool.add_project(path=text.format(tmp=tmp_path))
    assert refused.value.field == "path"
    assert register.list_projects() == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give things away")
async def test_a_repository_of_another_user_is_refused(tmp_path: Path, register: ProjectStore) -> None:
    top = repository(tmp_path / "theirs")
    os.chown(top, 12345, 12345)
    async with open_pool(register) as pool:
        with pytest.raises(FieldError, match="is owned by another user"):
            await pool.add_project(path=str(top))


@pytest.mark.parametrize("body", [{}, {"path": "/x", "url": "https://host/x"}])
async def test_a_project_has_either_a_path_or_a_url(register: ProjectStore, body: dict[str, str]) -> None:
    async with open_pool(register) as pool:
        with pytest.raises(FieldError, match="either a path or a url"):
            await pool.add_project(**body)


# By URL


async def test_a_url_becomes_a_mirror_with_a_checkout_of_its_default_branch(
    tmp_path: Path, register: ProjectStore, home: Path
) -> None:
    source = repository(tmp_path / "source", a="1")
    origin = bare(source, tmp_path / "origin.git")
    async with open_pool(register) as pool:
        added = await pool.add_project(url=origin.as_uri())
        assert (added.name, added.url) == ("origin", origin.as_uri())
        assert Path(added.path).is_relative_to(home / "data" / "plait" / "mirrors")
        assert (Path(added.path) / "a").read_text() == "1"
        session = await pool.get(added.id)
        assert is_mirror(session.location)
        assert get_mirror_settings(session.location) == {
            "sources.write_back": "branch",
            "run.isolation": "worktree",
        }
    assert register.list_projects() == [added]


async def test_a_mirror_is_fetched_before_a_batch_and_when_it_is_added_again(
    tmp_path: Path, register: ProjectStore
) -> None:
    source = repository(tmp_path / "source", a="1")
    origin = bare(source, tmp_path / "origin.git")
    async with open_pool(register) as pool:
        added = await pool.add_project(url=origin.as_uri())
        session = await pool.get(added.id)
        commit(source, a="2")
        git(source, "push", "--quiet", str(origin), "main")
        assert (await pool.get(added.id)).location.top.joinpath("a").read_text() == "1"
        assert await pool.get_updated(added.id) is session
        assert (session.location.top / "a").read_text() == "2"
        commit(source, a="3")
        git(source, "push", "--quiet", str(origin), "main")
        again = await pool.add_project(url=origin.as_uri())
        assert (again.id, Path(again.path)) == (added.id, session.location.top)
        assert (session.location.top / "a").read_text() == "3"
        assert pool.list_projects() == [again]
        assert compute_project_id(session.location) == added.id


async def test_a_mirror_without_its_remote_can_be_read_but_not_updated(tmp_path: Path, register: ProjectStore) -> None:
    origin = bare(repository(tmp_path / "source"), tmp_path / "origin.git")
    async with open_pool(register) as pool:
        added = await pool.add_project(url=origin.as_uri())
    shutil.rmtree(origin)
    async with open_pool(register) as pool:
        assert (await pool.get(added.id)).location.top == Path(added.path)
        with pytest.raises(PlaitError, match="no repository at"):
            await pool.get_updated(added.id)


async def test_a_mirror_whose_checkout_was_deleted_gets_a_new_one(tmp_path: Path, register: ProjectStore) -> None:
    origin = bare(repository(tmp_path / "source"), tmp_path / "origin.git")
    async with open_pool(register) as pool:
        added = await pool.add_project(url=origin.as_uri())
        session = await pool.get(added.id)
        shutil.rmtree(Path(added.path).parent)
        assert await pool.get(added.id) is session
        assert (session.location.top / "a").read_text() == "1"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no\x07bell",
        "repository",
        "../repository",
        "/srv/repository",
        "~/repository",
        "host/owner/name?token=hunter2",
        "https://me:hunter2@host/owner/name",
        "https://host/owner/name?token=hunter2",
        "me:hunter2@host/owner/name",
        "ext::sh -c hunter2",
        "ftp://host/name",
        "--upload-pack=hunter2",
        "https://" + "a" * 5000,
        "file:///nowhere/at/all",
    ],
)
async def test_an_invalid_repository_url_is_refused_without_showing_its_secrets(
    register: ProjectStore, home: Path, text: str
) -> None:
    async with open_pool(register) as pool:
        with pytest.raises(FieldError) as refused:
            await pool.add_project(url=text)
    assert refused.value.field == "url"
    assert "hunter2" not in refused.value.message + refused.value.hint or text.startswith("ext")
    assert register.list_projects() == []
    assert not (home / "data").exists()


# Offices


async def test_the_default_project_is_used_without_an_id(tmp_path: Path, register: ProjectStore) -> None:
    current, other = repository(tmp_path / "here"), repository(tmp_path / "other")
    async with open_pool(register, current) as pool:
        added = await pool.add_project(path=str(other))
        assert [each.default for each in pool.list_projects()] == [True, False]
        assert (await pool.get(None)).location.top == current
        assert await pool.get(pool.list_projects()[0].id) is await pool.get(None)
        assert (await pool.get(added.id)).location.top == other


async def test_without_a_default_project_the_only_one_is_used(tmp_path: Path, register: ProjectStore) -> None:
    async with open_pool(register) as pool:
        with pytest.raises(NotFoundError, match="not started in a project"):
            await pool.get(None)
        one = await pool.add_project(path=str(repository(tmp_path / "one")))
        assert (await pool.get(None)).id == one.id
        await pool.add_project(path=str(repository(tmp_path / "two")))
        with pytest.raises(NotFoundError, match="not started in a project"):
            await pool.get(None)


async def test_a_folder_without_a_repository_can_be_served(tmp_path: Path, register: ProjectStore) -> None:
    (tmp_path / "plain").mkdir()
    async with open_pool(register, tmp_path / "plain") as pool:
        session = await pool.get(None)
        assert not session.location.repository
        assert [each.name for each in pool.list_projects()] == ["plain"]


@pytest.mark.parametrize("name", ["", "0" * 12, "../../etc/passwd", "\x1b[31m", "x" * 10_000])
async def test_an_unknown_project_is_not_found(register: ProjectStore, name: str) -> None:
    async with open_pool(register) as pool:
        with pytest.raises(NotFoundError) as refused:
            await pool.get(name)
        assert "\x1b" not in refused.value.message
        assert len(refused.value.message) < 200


async def test_concurrent_callers_get_the_same_session(tmp_path: Path, register: ProjectStore) -> None:
    async with open_pool(register, repository(tmp_path / "here")) as pool:
        found = await asyncio.gather(*(pool.get(None) for _ in range(20)))
        assert len(set(map(id, found))) == 1


async def test_a_missing_project_is_an_error_and_the_others_still_work(tmp_path: Path, register: ProjectStore) -> None:
    gone, there = repository(tmp_path / "gone"), repository(tmp_path / "there")
    async with open_pool(register, there) as pool:
        added = await pool.add_project(path=str(gone))
        shutil.rmtree(gone)
        with pytest.raises(WorldError, match="can't open gone"):
            await pool.get(added.id)
        await pool.get(None)
        repository(tmp_path / "outer")
        git(tmp_path / "outer", "worktree", "add", "--quiet", str(gone))
        with pytest.raises(WorldError, match="is a different repository now"):
            await pool.get(added.id)


async def test_a_removed_project_is_forgotten_and_its_files_stay(tmp_path: Path, register: ProjectStore) -> None:
    current, other = repository(tmp_path / "here"), repository(tmp_path / "other")
    async with open_pool(register, current) as pool:
        added = await pool.add_project(path=str(other))
        await pool.get(added.id)
        await pool.remove_project(added.id)
        with pytest.raises(NotFoundError):
            await pool.get(added.id)
        with pytest.raises(NotFoundError):
            await pool.remove_project(added.id)
        with pytest.raises(StateError) as refused:
            await pool.remove_project(pool.list_projects()[0].id)
        assert refused.value.state == "default"
    assert (other / "a").exists()


async def test_an_idle_session_is_closed_and_opened_again(tmp_path: Path, register: ProjectStore) -> None:
    async with open_pool(register) as pool:
        added = await pool.add_project(path=str(repository(tmp_path / "other")))
        with pool.open_scope():
            session = await pool.get(added.id)
            await pool.close_idle(0.0)
            assert await pool.get(added.id) is session
        await pool.close_idle(1000.0)
        assert await pool.get(added.id) is session
        await pool.close_idle(0.0)
        assert await pool.get(added.id) is not session


async def test_streams_end_when_their_project_is_removed(tmp_path: Path, register: ProjectStore) -> None:
    async with open_pool(register) as pool:
        added = await pool.add_project(path=str(repository(tmp_path / "other")))
        other = await pool.add_project(path=str(repository(tmp_path / "third")))
        with pool.open_scope() as inside:
            session = await pool.get(added.id)
            await pool.remove_project(added.id)
            await asyncio.wait_for(inside.closing.wait(), 10)
            assert (
                await session.query(lambda client_session: client_session.location.top) == tmp_path / "other"
            )  # until they have left
        with pool.open_scope() as elsewhere:
            await pool.get(other.id)
            assert not elsewhere.closing.is_set()
            pool.begin_shutdown()
            assert elsewhere.closing.is_set()


async def test_an_unreadable_project_file_does_not_affect_the_default_project(
    tmp_path: Path, register: ProjectStore
) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    async with open_pool(register, repository(tmp_path / "here")) as pool:
        assert (await pool.get(None)).location.top == tmp_path / "here"
        with pytest.raises(WorldError):
            pool.list_projects()


def test_the_number_of_projects_is_limited(
    tmp_path: Path, register: ProjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plait.server.projects.MAX_PROJECTS", 1)
    catalogue = ProjectCatalog(register)
    catalogue.add_path(str(repository(tmp_path / "one")))
    with pytest.raises(StateError, match="already"):
        catalogue.add_path(str(repository(tmp_path / "two")))
    assert [each.name for each in catalogue.list_projects()] == ["one"]


def test_the_project_id_does_not_depend_on_the_path_used(tmp_path: Path) -> None:
    top = repository(tmp_path / "here")
    (tmp_path / "link").symlink_to(top)
    location = find_repo(top)
    assert compute_project_id(location) == compute_project_id(find_repo(tmp_path / "link"))
    assert compute_project_id(location) == compute_project_id(
        RepoLocation(tmp_path / "elsewhere", location.state, repository=True)
    )
    assert find_project_register().is_relative_to(tmp_path)
