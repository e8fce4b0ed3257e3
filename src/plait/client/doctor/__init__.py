"""plait doctor: checks of the machine, the repository and plait's own state."""
