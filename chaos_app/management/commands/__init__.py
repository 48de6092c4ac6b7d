"""Commands of drills and demo."""
