"""A repository can't make plait read files outside of its checkout: what is read is shown on the page and sent to models."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from plait.client.agent_specs import load_prompt_template
from plait.client.json_encoding import encode_json
from plait.client.project_sources import LoadedSources, load_sources
from plait.client.project_state import load_project_config
from plait.client.task_listing import describe_source_tasks
from plait.client.trust import list_outside_paths, save_trust
from plait.config.keys import KEYS_BY_NAME
from plait.core.errors import ConfigError, PlaitError, UserError
from plait.git.location import find_repo
from plait.store.file_access import FileAccess, OutsideFileError

SECRET = "aws_secret_access_key = hunter2hunter2"
KEYS = f"# [default] {SECRET}\n\n- [ ] {SECRET}\n"


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """A file of the user's, and one with front matter whose values are invalid."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "credentials").write_text(KEYS)
    (home / "01-config.md").write_text(f"---\npriority: {SECRET}\nrun: {SECRET}\n---\n{KEYS}")
    return home


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    made = tmp_path / "repository"
    subprocess.run(["git", "init", "--quiet", str(made)], check=True)
    (made / "tasks").mkdir()
    (made / "tasks/01-a.md").write_text("# A task\n\nDo it.\n")
    return made


def link_a_file(top: Path, keys: Path) -> None:
    (top / "TODO.md").symlink_to(keys / "credentials")


def link_a_task_file(top: Path, keys: Path) -> None:
    (top / "tasks/02-b.md").symlink_to(keys / "01-config.md")


def link_a_folder(top: Path, keys: Path) -> None:
    (top / "specs").mkdir()
    (top / "docs").mkdir()
    (top / "docs/tasks").symlink_to(keys)


def chain_links(top: Path, keys: Path) -> None:
    (top / "way").symlink_to(keys)
    (top / "TODO.md").symlink_to("way/credentials")


def name_a_path(top: Path, keys: Path) -> None:
    (top / "plait.toml").write_text(f"[sources]\npaths = ['tasks', '{os.path.relpath(keys / 'credentials', top)}']\n")


def name_an_absolute_path(top: Path, keys: Path) -> None:
    (top / "plait.toml").write_text(f"[sources]\npaths = ['tasks', '{keys}']\n")


def name_a_pattern(top: Path, keys: Path) -> None:
    (top / "plait.toml").write_text(f"[sources]\npaths = ['tasks', '{keys}/*.md']\n")


def name_a_file_of_git(top: Path, keys: Path) -> None:  # noqa: ARG001 - as the others
    (top / ".git/secret.md").write_text(KEYS)
    (top / "plait.toml").write_text("[sources]\npaths = ['tasks', '.git/secret.md']\n")


def link_a_companion(top: Path, keys: Path) -> None:
    (keys / "phases").write_text(f"| Phase | Tasks |\n|---|---|\n| {SECRET} | 01 |\n")
    (top / "tasks/PHASES.md").symlink_to(keys / "phases")


WAYS = [
    link_a_file,
    link_a_task_file,
    link_a_folder,
    chain_links,
    name_a_path,
    name_an_absolute_path,
    name_a_pattern,
    name_a_file_of_git,
    link_a_companion,
]


def show(loaded: LoadedSources) -> str:
    """Everything that a program with the read-only token could see of the sources, and all that an agent is told."""
    return f"{encode_json(describe_source_tasks(loaded, None))!r} {loaded.source_set!r} {loaded.problems!r}"


@pytest.mark.parametrize("lead_out", WAYS)
def test_the_repository_can_not_lead_out_of_the_checkout(
    top: Path, keys: Path, lead_out: Callable[[Path, Path], None]
) -> None:
    lead_out(top, keys)
    loaded = load_sources(top)
    assert "hunter2" not in show(loaded)
    assert "01-config" not in show(loaded), "nor the names of what is there"
    assert "01-a" in loaded.source_set.by_id, "the rest is read"
    assert any("leads out of the repository" in problem.message for problem in loaded.problems)


@pytest.mark.parametrize("lead_out", WAYS)
def test_what_the_user_allows_on_this_machine_is_read(
    top: Path, keys: Path, lead_out: Callable[[Path, Path], None]
) -> None:
    lead_out(top, keys)
    location, config = find_repo(top), load_project_config(top)
    outside = list_outside_paths(config, location)
    assert outside
    save_trust(location, outside)
    assert list_outside_paths(config, location) == []
    loaded = load_sources(top)
    assert not any("leads out" in problem.message for problem in loaded.problems)
    if lead_out is not link_a_companion:
        assert "hunter2" in show(loaded)


def test_what_the_user_names_is_read(top: Path, keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "hunter2" in show(load_sources(top, [str(keys)]))
    assert "hunter2" in show(load_sources(top, ["../home/*.md"]))
    monkeypatch.setenv(KEYS_BY_NAME["sources.paths"].env_variable, str(keys / "credentials"))
    assert "hunter2" in show(load_sources(top))


def test_a_link_in_the_checkout_is_not_what_the_user_names(top: Path, keys: Path) -> None:
    link_a_file(top, keys)
    with pytest.raises(UserError, match=r"TODO\.md: this leads out of the repository") as caught:
        load_sources(top, ["TODO.md"])
    assert "plait trust" in caught.value.hint


def test_a_link_out_of_what_the_user_named_is_not_followed(top: Path, keys: Path, tmp_path: Path) -> None:
    named = tmp_path / "named"
    named.mkdir()
    (named / "01-x.md").write_text("# X\n")
    (named / "02-y.md").symlink_to(keys / "credentials")
    loaded = load_sources(top, [str(named)])
    assert list(loaded.source_set.by_id) == ["01-x"]


def test_links_inside_the_checkout_are_followed(top: Path) -> None:
    (top / "docs").mkdir()
    (top / "docs/list.md").write_text("- [ ] Paint the wall\n- [ ] Paint the roof\n")
    (top / "TODO.md").symlink_to("docs/list.md")
    assert "Paint the wall" in show(load_sources(top))


def test_a_link_that_is_changed_between_check_and_read_is_not_followed(
    top: Path, keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Checked again on the open file."""
    path = top / "tasks/01-a.md"
    access = FileAccess(find_repo(top))
    allows = access.allows

    def swap(checked: Path | str) -> bool:
        allowed = allows(checked)
        path.unlink()
        path.symlink_to(keys / "credentials")
        return allowed

    monkeypatch.setattr(access, "allows", swap)
    with pytest.raises(OutsideFileError):
        access.open(path)


def test_a_folder_that_is_changed_between_check_and_read_is_not_followed(top: Path, keys: Path) -> None:
    access = FileAccess(find_repo(top))
    assert access.allows(top / "tasks/01-a.md")
    (top / "tasks").rename(top / "away")
    (keys / "01-a.md").write_text(KEYS)
    (top / "tasks").symlink_to(keys)
    with pytest.raises(OutsideFileError):
        access.open(top / "tasks/01-a.md")


@pytest.mark.parametrize("name", ["plait.toml", "pyproject.toml"])
def test_settings_that_link_out_of_the_repository_are_not_read(top: Path, keys: Path, name: str) -> None:
    """Their values would be in the message."""
    (keys / "credentials").write_text("[tool.plait.run]\nretries = 'hunter2'\n[run]\nretries = 'hunter2'\n")
    (top / name).symlink_to(keys / "credentials")
    try:
        message = f"{load_project_config(top).warnings}"
    except PlaitError as error:
        message = f"{error.message} {error.hint}"
    assert "hunter2" not in message


def test_settings_may_be_a_link_inside_the_repository(top: Path) -> None:
    (top / "settings.toml").write_text("[run]\nretries = 7\n")
    (top / "plait.toml").symlink_to("settings.toml")
    assert load_project_config(top).run.retries == 7


@pytest.mark.parametrize("way", ["path", "link", "git"])
def test_a_prompt_template_outside_the_repository_is_not_sent_to_a_model(top: Path, keys: Path, way: str) -> None:
    target = keys / "credentials"
    if way == "link":
        (top / "prompt.md").symlink_to(target)
        target = top / "prompt.md"
    if way == "git":
        target = top / ".git/config"
    (top / "plait.toml").write_text(f"[run]\nprompt = '{target}'\n")
    with pytest.raises(ConfigError, match="is outside the repository"):
        load_prompt_template(find_repo(top), load_project_config(top))
