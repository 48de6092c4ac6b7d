"""Reads: nothing here changes a row."""
