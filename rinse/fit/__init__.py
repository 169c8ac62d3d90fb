"""Fits a profile to training pairs: statistics that need no model, and the job that runs the paper's readers."""
