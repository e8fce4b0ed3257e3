"""Merging in memory, without a checkout."""
