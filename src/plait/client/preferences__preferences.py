"""Preferences: the settings as the page and the API show them, save them, and have them count at once."""

from plait.client.preferences import (
    InvalidSettingsError,
    SettingsChanges,
    check_changes,
    load_effective_config,
)
from plait.client.preferences__following import ChangePlan, plan_change
from plait.client.preferences__shape import preferences_json, preferences_schema

__all__ = [
    "SettingsChanges",
    "ChangePlan",
    "InvalidSettingsError",
    "check_changes",
    "plan_change",
    "load_effective_config",
    "preferences_json",
    "preferences_schema",
]
