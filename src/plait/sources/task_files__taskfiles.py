"""Files that hold one task each: their keys, their header, their status line. What several formats share."""
