"""What batches left behind, and removing it without losing work."""
