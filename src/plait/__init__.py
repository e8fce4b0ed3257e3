"""Many agents, one pull request."""

__version__ = "0.1.0"
