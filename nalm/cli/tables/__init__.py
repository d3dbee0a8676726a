"""What the commands print as tables."""
