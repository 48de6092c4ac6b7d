"""A task's record as a person reads it: words for every event, a window of it, and one event whole."""
