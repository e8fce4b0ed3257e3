"""Security middleware, from the outermost inwards."""
