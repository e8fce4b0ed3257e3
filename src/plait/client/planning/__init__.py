"""From sources and wishes to a checked plan, and from a plan to a batch: the same for every front."""
