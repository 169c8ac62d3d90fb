"""Stop policies, compared on the same recorded searches."""
