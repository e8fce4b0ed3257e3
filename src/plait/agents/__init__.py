"""Agents: how to talk to coding tools. Pure: a command out, lines in."""
