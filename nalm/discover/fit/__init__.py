"""Fitting the numbers of an expression: least squares, snapping to simple numbers, description length.

This room may import expressions and the problem, not the stages, the certificate or the search.
"""
