"""Tools in sandboxes. A worker carries them where ``HANDRAIL_MODULES`` names this package."""

from boxed_tool import agent, tool

__all__ = ["agent", "tool"]
