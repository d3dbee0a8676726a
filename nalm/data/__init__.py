"""Data of the package: published numbers (claims/, one CSV file per paper), costs of steps, a summary of results."""
