"""Sandboxes: each call of a tool in a short-lived, narrow process that holds nothing that matters."""
