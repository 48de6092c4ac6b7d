"""Credentials: kept sealed, named in contracts, granted to one call at a time."""
