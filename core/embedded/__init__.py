"""PostgreSQL and Valkey from wheels, run as direct children under ``var/``."""
