"""Units of measurement: which laws have the right dimension."""
