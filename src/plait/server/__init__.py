"""plait serve: HTTP, server-sent events, MCP and metrics."""

DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 3001
DEFAULT_URL = f"http://{DEFAULT_HOST}:{DEFAULT_PORT}"
