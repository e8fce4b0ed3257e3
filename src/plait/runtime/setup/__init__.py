"""Fitting out: what a workspace is given beyond its commit, by the attempt's own process, before the agent.

The engine asks whether anything is `wanted`, writes a spec and `wrap`s the attempt's command. The process copies, links and
sets up what is still missing, and then becomes the agent: `python -m plait.runtime.setup SPEC -- COMMAND…`.
"""

from plait.git.worktrees.metadata import SetupMetadata, read_setup_metadata, reset_setup_metadata
from plait.runtime.setup.preparation import is_setup_needed
from plait.runtime.setup.spec import SETUP_FAILED_EXIT, SetupSpec, read_failure, wrap_with_setup, write_spec
from plait.system.disk import tree_size
from plait.system.tree_cache import prune_tree_cache

__all__ = [
    "SETUP_FAILED_EXIT",
    "SetupSpec",
    "SetupMetadata",
    "read_failure",
    "prune_tree_cache",
    "read_setup_metadata",
    "reset_setup_metadata",
    "tree_size",
    "is_setup_needed",
    "wrap_with_setup",
    "write_spec",
]
