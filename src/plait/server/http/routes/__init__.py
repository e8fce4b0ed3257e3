"""The routes, a module per noun. Each reads what was sent and hands it to the service."""
