"""Loaders of questions and corpora."""
