"""Runs: plan what to ask, ask it, keep every answer, and estimate from what was kept."""
