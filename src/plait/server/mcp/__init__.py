"""Batches for agents: the same acts as over HTTP, as tools of the Model Context Protocol (extra `plait[mcp]`)."""
