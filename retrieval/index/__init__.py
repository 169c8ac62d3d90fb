"""The local index."""
