"""What changes drills."""
