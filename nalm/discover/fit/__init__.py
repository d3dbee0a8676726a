"""Fitting the numbers of a draft, and choosing between drafts under noise."""
