"""What routes and MCP tools both do: async functions on a project's session that return JSON-ready data and
raise PlaitError.
"""
