"""Template tags of the drills."""
