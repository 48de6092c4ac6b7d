"""Template tags of the task pages."""
