"""Pages over all applications: overview, effects, tools, workers, audit. Nothing here is imported by an application."""
