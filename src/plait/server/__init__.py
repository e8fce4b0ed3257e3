"""plait serve: HTTP, server-sent events, MCP and metrics."""
