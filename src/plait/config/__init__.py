"""Settings: keys declared once, layers, and loading."""
