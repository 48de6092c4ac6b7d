"""Everything that pages and the API read: filtered by workspace, paged by key."""
