"""Many agents, one pull request."""
