"""The pages of drills."""
