"""What one slice does: decide, act, look; everything through one append queue (Session)."""
