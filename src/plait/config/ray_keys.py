"""The settings of the Ray cluster for attempts. Only the user's own count, because code and secrets are sent there."""

from __future__ import annotations

from plait.config import value_types
from plait.config.key import ConfigTable, Key


class RayConfig(
    ConfigTable, name="ray", about='The cluster of `run.executor = "ray"`. Only read from your own config.'
):
    address = Key(
        value_types.required_text("a cluster's address"),
        "auto",
        "the cluster: host:port of its head, or auto for RAY_ADDRESS or the cluster that this machine is part of",
        json_name="rayAddress",
        user_only=True,
    )
    env = Key(
        value_types.text_list("a variable's name or a list of names", split=True),
        (),
        "environment variables that attempts get on nodes, besides those that their agents log in with: NPM_TOKEN, AWS_*",
        json_name="rayEnv",
        user_only=True,
    )
    lease = Key(
        value_types.duration(),
        60.0,
        "how long a node may be unreachable before its attempts are lost and run elsewhere",
        json_name="rayLease",
        user_only=True,
    )
    folder = Key(
        value_types.required_text("a folder"),
        ".local/state/plait/ray",
        "where each node keeps its mirrors and worktrees; a relative path is in the home folder there",
        json_name="rayFolder",
        user_only=True,
    )
