"""Writes: each service is one transaction, or asks to be inside the caller's."""
