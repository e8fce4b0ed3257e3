"""Notifications and traces of an engine's work."""
