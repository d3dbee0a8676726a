"""Experiments that read images of digits."""
