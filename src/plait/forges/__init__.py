"""Pushing and pull requests: GitHub, GitLab, Gitea."""
