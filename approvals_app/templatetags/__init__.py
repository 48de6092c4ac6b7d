"""Filters of the approval pages."""
