"""Prompts: wordings, each with a version."""
