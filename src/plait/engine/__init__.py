"""The engine: the one process that writes the journal and performs decisions."""
