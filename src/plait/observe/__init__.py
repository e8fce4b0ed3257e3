"""What tells others about an engine's work: notifications and traces."""
