"""Commands of tasks_app."""
