"""One fold: each module applies some kinds of records to the state."""
