"""What a model wrote, put into a workspace: contained, and all or nothing.

with Staging(workspace) as staging:       # what a dead process left is taken back first; see `staging.left`
    text = staging.read("src/a.py")       # None: there is none; StagingError: a link, a folder, no text
    staging.apply({"src/a.py": "…"})      # all of them or none; may be called again. ChangedError: not as it was read
    staging.undo()                        # everything as before the first `apply`; or
    staging.keep()                        # it stays: so it does on leaving, unless with an exception
"""

from plait.runtime.atomic_apply import StagedWrites
from plait.runtime.workspace_files import FileChangedError, StagingError

__all__ = ["FileChangedError", "StagedWrites", "StagingError"]
