"""An agent of your own. A worker carries it where ``HANDRAIL_MODULES`` names this package."""

from own_agent import agent, criteria, tool

__all__ = ["agent", "criteria", "tool"]
