"""From sources to a checked plan, and from a plan to a batch."""
