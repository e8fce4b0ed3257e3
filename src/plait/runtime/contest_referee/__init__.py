"""The referee of a contest: puts the best entrant's change into the workspace of their task."""
