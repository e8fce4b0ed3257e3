"""Runs attempts on the nodes of a Ray cluster. Ray is imported here only, and only when a cluster is used."""
