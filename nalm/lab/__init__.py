"""The laboratory: running experiments, checking what is stored, and what they cost."""
