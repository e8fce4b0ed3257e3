"""What `plait doctor` and `plait agents` look at. Nothing here changes anything."""
