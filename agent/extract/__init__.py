"""Answers that are spans of the evidence: what is asked, what was read, which span fits best."""
