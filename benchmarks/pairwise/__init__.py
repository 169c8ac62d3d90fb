"""Pairwise accuracy of sufficiency scorers, beside the cues that may explain it (RINSE, sections 3 and 5)."""
