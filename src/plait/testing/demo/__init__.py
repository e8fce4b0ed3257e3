"""A simulated batch, from start to merged branch: `make demo`. The core, the journal and the crash are real."""
