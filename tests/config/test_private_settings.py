"""Settings that are a person's own: no repository may say them, and what is secret in them is not shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plait.cli.commands.config import config_command, describe_settings, format_value, make_settings_page
from plait.config.config import Config, Layer
from plait.config.key import AnyKey
from plait.config.keys import KEYS, KEYS_BY_NAME, list_table_keys
from plait.config.loading import SettingsError, load_config

PRIVATE = [key for key in KEYS if key.user_only]
SECRET = "hunter2-hunter2"
SAID = f"""
[notify]
urls = ["slack://{SECRET}/{SECRET}", "mailto://me:{SECRET}@mail.example"]
webhook = "https://me:{SECRET}@hooks.example:8443/{SECRET}?key={SECRET}"
secret = "{SECRET}"
"""


@pytest.fixture
def top(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def of_user(top: Path, text: str) -> Config:
    user = top.parent / "config.toml"
    user.write_text(text)
    return load_config(top, user=user, environment={})


@pytest.mark.parametrize("key", PRIVATE, ids=lambda key: key.name)
def test_a_repository_can_not_set_notifications(top: Path, key: AnyKey) -> None:
    said = f'[run]\nretries = 1\n\n[{key.table}]\n{key.field} = "https://evil.example"\n'
    (top / "plait.toml").write_text(said)
    with pytest.raises(SettingsError) as caught:
        load_config(top, user=top.parent / "none.toml", environment={})
    (problem,) = caught.value.problems
    assert str(problem.at) == "plait.toml:5"
    assert f"{key.name} is a personal setting" in problem.message
    assert key.env_variable in problem.hint


def test_every_notify_setting_is_personal() -> None:
    assert set(list_table_keys("notify")) <= set(PRIVATE)


def test_a_repository_can_not_set_notifications_in_pyproject(top: Path) -> None:
    (top / "pyproject.toml").write_text('[tool.plait.notify]\nwebhook = "https://evil.example"\n')
    with pytest.raises(SettingsError, match="a personal setting"):
        load_config(top, user=top.parent / "none.toml", environment={})


def test_personal_settings_work_in_every_other_layer(top: Path) -> None:
    user = top.parent / "config.toml"
    user.write_text('[notify]\nurls = "json://a"\nbell = false\n')
    config = load_config(
        top,
        user=user,
        saved={"notifyOn": '["finished"]'},
        environment={"PLAIT_NOTIFY_WEBHOOK": "https://hooks.example/a"},
        flags={"notify.bell": True},
    )
    given = {key.name: config.origins[key.name].layer for key in list_table_keys("notify")}
    assert given == {
        "notify.urls": Layer.USER,
        "notify.webhook": Layer.ENVIRONMENT,
        "notify.secret_file": Layer.DEFAULT,
        "notify.secret": Layer.DEFAULT,
        "notify.on": Layer.SAVED,
        "notify.bell": Layer.FLAG,
    }
    assert config.notify.urls == ("json://a",)


def test_no_listing_shows_a_secret(top: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = of_user(top, SAID)
    assert config.notify.secret == SECRET
    make_settings_page(config, 200).show()
    told = [capsys.readouterr().out, json.dumps(describe_settings(config), ensure_ascii=False)]
    told += [line for key in KEYS for line in format_value(config, key)]
    assert not [each for each in told if SECRET in each or SECRET[:7] in each]
    assert format_value(config, KEYS_BY_NAME["notify.urls"]) == ["slack://…", "mailto://…"]
    assert format_value(config, KEYS_BY_NAME["notify.webhook"]) == ["https://hooks.example:8443/…"]
    assert format_value(config, KEYS_BY_NAME["notify.secret"]) == ["…"]


def test_a_secret_that_is_not_set_is_shown_as_unset(top: Path) -> None:
    config = of_user(top, "")
    shown = {key.name: key.to_public(config.value(key)) for key in list_table_keys("notify") if key.is_secret}
    assert shown == {"notify.urls": [], "notify.webhook": None, "notify.secret": None}


@pytest.mark.parametrize(
    "said",
    [f'urls = "{SECRET}"', f'webhook = "{SECRET}"', f'secret = [["{SECRET}"]]'],
)
def test_an_error_about_a_secret_does_not_show_it(top: Path, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        of_user(top, f"[notify]\n{said}\n")
    assert "not its value" in str(caught.value)
    assert SECRET not in str(caught.value)


def test_plait_config_shows_no_secret(
    top: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PLAIT_NOTIFY_URLS", f"slack://{SECRET}/x")
    for as_json in (True, False):
        config_command(top, as_json=as_json)
    told = capsys.readouterr()
    assert "slack://…" in told.out
    assert SECRET not in told.out + told.err
