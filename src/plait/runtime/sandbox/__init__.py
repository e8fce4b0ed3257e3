"""What confines an attempt: which of the machine's files, processes and hosts its command can reach."""
