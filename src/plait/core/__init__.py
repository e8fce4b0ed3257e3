"""The pure core: it holds no clock, makes no I/O and imports nothing but the standard library."""
