"""Pixels: one decode policy, compositions, lossless encoding, and names by content."""
