"""Units of measurement: read them, compute dimensions, and keep laws to the dimension of y.

This room may import expressions, fits and the problem, not the stages or the certificate.
"""
