"""The coding tools that plait drives: a module for each."""
