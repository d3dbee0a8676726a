"""Mistry 2023: Bhumika Mistry, An Investigation into Neural Arithmetic Logic Modules, PhD thesis, Southampton.

One file per chapter. Experiments that read images are in ``nalm.experiments.mnist``.
"""
