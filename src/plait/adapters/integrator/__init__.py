"""The merge line in memory: batch branches are made and remade without a checkout."""

from plait.adapters.integrator.integrator import GitBranchMerger
from plait.adapters.integrator.regenerate import Regenerate

__all__ = ["GitBranchMerger", "Regenerate"]
