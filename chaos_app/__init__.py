"""Drills: the outside world, faults, the demonstration."""
