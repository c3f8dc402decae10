"""Scorers: pure judges of stored responses."""
