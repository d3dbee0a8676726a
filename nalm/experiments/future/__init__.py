"""The future work that Mistry 2023 names, done: one study per file."""
