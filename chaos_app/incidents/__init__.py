"""The example that ships: an agent that works on incidents, its tools, and the criteria that say when it is done.

Read ``agent.py`` first. A worker carries this package where ``HANDRAIL_MODULES`` names ``chaos_app.incidents``;
``manage.py demo`` sees to that for the workers that it starts.
"""

from chaos_app.incidents import agent, config, mail, payments, tickets

__all__ = ["agent", "config", "mail", "payments", "tickets"]
