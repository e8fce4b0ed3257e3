"""What goes in and out over HTTP, for its OpenAPI description. Answers are made in `front`; these say what they look like."""
