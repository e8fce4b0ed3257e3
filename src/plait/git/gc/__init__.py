"""Lists what batches left behind, and removes it without losing work."""
