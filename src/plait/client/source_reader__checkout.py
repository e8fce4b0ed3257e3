"""The checkout: where the repository is, which files it has, and which of them are sources."""
