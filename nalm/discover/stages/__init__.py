"""The stages of the search: each proposes drafts of one form."""
