"""Everything that people and programs may do to tasks: one service a verb, each in one transaction."""
