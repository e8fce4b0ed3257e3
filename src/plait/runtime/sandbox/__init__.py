"""Confines an attempt: decides which of the machine's files, processes and hosts its command can reach."""
