"""What is due: each rule reads the state and yields decisions; no clock, no I/O."""
