"""Security middleware. Its order is decided in server/serve.py: `wrap_with_middleware`, and `create_config` around the app."""
