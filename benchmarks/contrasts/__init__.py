"""Paired contrasts: sets of passages that suffice beside sets that do not (RINSE, section 3)."""

from .model import Added, Contrast, Made, Side

__all__ = ["Added", "Contrast", "Made", "Side"]
