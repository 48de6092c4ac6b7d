"""Approvals: requests, decisions, the gate and their pages."""
