"""Finished runs: how they are stored, read, merged, summarised and compared; nothing here needs torch."""
