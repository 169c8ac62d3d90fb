"""The live web: polite, guarded fetching, extraction, and search providers."""
