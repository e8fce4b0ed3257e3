"""What routes and MCP tools both do: async functions on an office that give JSON-ready dicts, and raise PlaitError."""
