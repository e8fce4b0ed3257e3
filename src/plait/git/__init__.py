"""Git through the git program: worktrees, merging, mirrors and garbage collection."""
