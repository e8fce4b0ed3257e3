"""Locks, atomic files, sensors, and what the engines of one user share."""
