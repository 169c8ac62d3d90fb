"""Corpus readers."""
