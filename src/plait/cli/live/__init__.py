"""The live display of plait run and plait status --watch."""
