"""Tasks that a model does without a coding tool: prompts and how its answers are read."""
