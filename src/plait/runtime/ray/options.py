"""What an engine is told of the cluster that it uses."""

from __future__ import annotations

from plait.core.fast_dataclass import dataclass

DEFAULT_LEASE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class RayOptions:
    """`address` as `ray.init` takes it: "auto" is RAY_ADDRESS, or the cluster that this machine is part of.

    `env` are the variables (names, or patterns such as `AWS_*`) of the environment that a batch was submitted in that go to
    nodes, beside those that its agents log in with. A node that no engine has heard of for `lease_seconds` has lost its
    attempts. Each node keeps its mirrors and worktrees in `folder`; a relative one is in the home folder there.
    """

    address: str = "auto"
    env: tuple[str, ...] = ()
    lease_seconds: float = DEFAULT_LEASE_SECONDS
    folder: str = ".local/state/plait/ray"
