"""Benchmarks of training speed: ``numbers`` for units, ``images`` for networks that read images."""
