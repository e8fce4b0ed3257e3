"""What happened, as stretches of time that tracers show."""
