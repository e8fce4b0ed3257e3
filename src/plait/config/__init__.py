"""What a person has set, and where: one table of keys, layers from the defaults to the flags, one typed result."""
