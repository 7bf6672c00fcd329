"""Programs that measure one thing each, apart from the groups."""
