"""Which law, where data are noisy, few or rounded: all rows, one criterion, a front of laws, and doubts in words.

This room may import the law, the fits, the certificate and the problem, not the stages or the search.
"""
