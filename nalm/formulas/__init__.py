"""Formulas and weights: units to SymPy and LaTeX, text to units, truth tables, what each unit can represent.

This room imports units, tasks and config.
"""
