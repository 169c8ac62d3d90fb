"""A cache that decides by coverage against caches that decide otherwise: one stream, one real server."""
