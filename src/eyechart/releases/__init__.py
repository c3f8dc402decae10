"""Releases: published collections in SUM's layout, built, verified and split."""
