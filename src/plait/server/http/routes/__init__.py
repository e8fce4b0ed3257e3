"""The routes: a file per noun. Each reads what was sent, and hands it to an act."""
