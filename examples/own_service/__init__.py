"""An agent whose tool speaks to an HTTP service, and a drill of it. A worker carries it by ``HANDRAIL_MODULES``."""

from own_service import agent

__all__ = ["agent"]
