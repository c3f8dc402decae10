"""Estimates and tests that respect pairing and clusters: arrays in, numbers with intervals out.

Reports start from ``conditions``: ``ScoreTable``, ``accuracy_by_condition``, ``contrasts_against``. The array
functions beneath take ``values`` and ``present`` of shape (n_questions, …) and ``clusters`` from ``find_clusters``.
"""
