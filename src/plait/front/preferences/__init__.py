"""Preferences: the settings as the page and the API show them, save them, and have them count at once."""

from plait.front.preferences.changing import Changes, UnfitSettingsError, changes, in_force
from plait.front.preferences.following import Course, course
from plait.front.preferences.shape import preferences_json, preferences_schema

__all__ = [
    "Changes",
    "Course",
    "UnfitSettingsError",
    "changes",
    "course",
    "in_force",
    "preferences_json",
    "preferences_schema",
]
