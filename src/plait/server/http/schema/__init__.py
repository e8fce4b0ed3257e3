"""The shape of requests and responses, for the OpenAPI document."""
