"""Trials and contests behind the figures in docs/ and results/beyond/, and measurements of this machine.

Run them from a checkout with ``python -m benchmarks.NAME``; they are not installed and may import everything.
"""
