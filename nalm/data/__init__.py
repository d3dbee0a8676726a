"""Data that travels with the package: published claims, and a summary of the shipped results."""
