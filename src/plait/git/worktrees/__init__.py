"""Worktrees for attempts: made, reused, captured as commits, saved and released."""
