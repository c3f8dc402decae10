"""Estimates and tests that respect pairing and clusters: arrays in, numbers with intervals out.

Reports start from ``conditions``: ``ScoreTable``, ``accuracy_by_condition``, ``contrasts_against`` give the stored
records. The array functions beneath take ``values`` (scores in 0–1) and ``present`` (a mask) of shape
(n_questions, …) with ``clusters`` from ``find_clusters``; trailing axes are views and models, computed at once.

========================  ============================================================================================
One accuracy              ``proportion`` (default), ``intervals`` and ``small_samples`` (others), ``breakdown``
Accuracy without guessing ``ratio`` (chance-corrected accuracy, retention)
A difference              ``paired`` (interval), ``sign_flip`` (p), ``mcnemar`` (classical), ``equivalence``
Several tests             ``corrections``, ``omnibus``, ``rank``
Named effects             ``estimands`` (context, canvas, distraction …), ``composite`` (decomposition, interaction)
Change between views      ``agreement`` (flips, churn, robust accuracy), ``repeats``
Curves over resolution    ``isotonic``, ``threshold``, ``psychometric``, ``curve`` (ACE, RCE, Spearman)
Grids                     ``region``, ``manhattan``
Letters                   ``letters`` (bias, rotated choices)
Planning                  ``power``, ``pilot``
Validity                  ``codes``, ``findings``, ``design_rules``, ``score_rules``, ``sensitivity``,
                          ``uneven_rates``, ``below_chance``, ``one_sided`` (the tests of rules)
Resampling                ``bootstrap``: one matrix of weights serves a whole report
========================  ============================================================================================
"""
