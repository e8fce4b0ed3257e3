"""Runs attempts: the executor, its supervisor, the process tree, the transcript, workspace setup."""
