"""Batches for agents: the functions of the HTTP API as tools of the Model Context Protocol (extra `plait[mcp]`)."""
