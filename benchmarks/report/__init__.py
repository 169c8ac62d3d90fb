"""Figures for people who look: one self-contained HTML file, plots inside, no script, nothing from elsewhere."""
