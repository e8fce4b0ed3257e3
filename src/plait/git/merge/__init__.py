"""The merge line in memory: batch branches are made and remade without a checkout."""

from plait.git.merge.branch_merger import GitBranchMerger
from plait.git.merge.change_merger__regenerate import Regenerate

__all__ = ["GitBranchMerger", "Regenerate"]
