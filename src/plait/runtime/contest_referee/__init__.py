"""The referee: puts the best of what a contest's entrants made into the workspace of their task."""
