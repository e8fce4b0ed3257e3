"""The attic: what batches leave behind. What it is, what of it can go, and how it goes or comes back."""
