"""The engine: the only writer of the journal, and the only one that performs decisions."""
