"""Preparing a workspace before its attempt: files that git ignores, and the setup command. `python -m
plait.runtime.setup` runs where the attempt runs.
"""
