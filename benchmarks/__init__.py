"""Trials and contests behind the numbers in docs/ and results/beyond/; run from a checkout, not installed."""
