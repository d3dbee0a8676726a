"""Units inside networks that read images."""
