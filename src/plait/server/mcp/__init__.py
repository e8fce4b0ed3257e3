"""Batches for agents: the service as tools of the Model Context Protocol (extra `plait[mcp]`)."""
