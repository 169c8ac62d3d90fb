"""Measures it: scorers, policies, whole searches."""
