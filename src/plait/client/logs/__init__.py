"""Transcripts as people read them."""
