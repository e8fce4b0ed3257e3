"""The routes of the HTTP API, a module per noun. MCP tools call the same functions."""
