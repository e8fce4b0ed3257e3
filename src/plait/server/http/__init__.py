"""The HTTP side of the server: the app, its routes, schema and middleware."""
