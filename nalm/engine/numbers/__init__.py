"""Training on fresh batches of numbers."""
