"""What reads drills."""
