"""Readers: each looks for one way in which evidence falls short."""
