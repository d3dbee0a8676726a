"""Experiments that read images of digits: two digits, digits in colour channels, and sequences.

The sections of Mistry 2023, Mistry 2022c and Madsen 2020 about images, one layout of images per file.
"""
