"""Which law, where data are noisy, few or rounded: all rows, one criterion, a front of laws, and doubts in words.

``answer.py`` is the entry. ``choose.py`` fits and ranks the candidates: ``evidence.py`` is the criterion,
``simplify.py`` and ``rounding.py`` shorten a law, ``outliers.py`` leaves rows out. ``front.py`` and ``structure.py``
choose the laws that are listed, ``intervals.py`` says how well their numbers are known, ``doubts.py`` why a verdict is
withheld. ``given.py`` tests a law that was found elsewhere.

This room may import the law, the fits, the certificate and the problem, not the stages or the search.
"""
