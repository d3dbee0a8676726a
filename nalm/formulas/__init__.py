"""Weights, SymPy expressions and text, each from the others."""
