"""Live pages: who may listen, what is read for them, how it is sent. Messages are hints; Postgres is read."""
