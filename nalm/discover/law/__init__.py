"""A law: an expression with named inputs, and its forms as text, SymPy, LaTeX, Python, JSON and network.

It may import the certificate and ``nalm.operating_system``; only ``network.py`` imports ``units`` and with them torch.
"""

from nalm.discover.law.law import Law as Law
